//! The MCP inspector: it lists the tools and calls every one of them, over both transports.

use std::process::Command;

use serde_json::Value;

use super::{Bench, served::Served};
use crate::shell;

/// A tool, its arguments, and what its answer must hold. In this order, since one reads what another
/// wrote.
const CALLS: &[(&str, &[&str], &str)] = &[
    ("sandboxed_code.run", &["language=bash", "code=echo $((6 * 7)) by code"], "42 by code"),
    ("sandboxed_shell.run", &["command=echo $((6 * 7)) by shell"], "42 by shell"),
    ("sandboxed_files.write", &["path=notes/a.txt", "content=a note"], "notes/a.txt"),
    ("sandboxed_files.read", &["path=notes/a.txt"], "a note"),
    ("sandboxed_files.list", &["path=notes"], "a.txt"),
    ("sandbox_policy.explain", &["host=example.com"], "example.com:443: no"),
];

/// Asks over standard input and output, then lists and calls again over HTTP.
pub fn run(bench: &Bench, case: &mut dyn FnMut(&str, Result<(), String>)) -> Result<(), String> {
    let workspace = bench.workspace();
    let stdio = || {
        let mut command = bench.client("mcp-inspector");
        command.arg("--cli").arg(&bench.program).args(["mcp", "--workspace"]).arg(&workspace);
        command
    };
    case("stdio: tools/list", listed(stdio()));
    for (tool, arguments, expected) in CALLS {
        case(&format!("stdio: {tool}"), called(stdio(), tool, arguments, expected));
    }
    let served = Served::start(bench)?;
    let http = || {
        let mut command = bench.client("mcp-inspector");
        command.args(["--cli", &served.url, "--transport", "http"]);
        command
    };
    case("http: tools/list", listed(http()));
    // Each call is a session of its own, with a workspace of its own: what one writes is not there
    // for the next.
    for (tool, arguments, expected) in CALLS.iter().filter(|(tool, ..)| !tool.contains("files")) {
        case(&format!("http: {tool}"), called(http(), tool, arguments, expected));
    }
    Ok(())
}

fn listed(mut inspector: Command) -> Result<(), String> {
    let answer = answer(inspector.args(["--method", "tools/list"]))?;
    let tools = answer["tools"].as_array().cloned().unwrap_or_default();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    let expected: Vec<&str> = CALLS.iter().map(|(tool, ..)| *tool).collect();
    let (mut found, mut wanted) = (names.clone(), expected);
    found.sort_unstable();
    wanted.sort_unstable();
    match found == wanted {
        true => Ok(()),
        false => Err(format!("it lists {}", names.join(", "))),
    }
}

fn called(
    mut inspector: Command,
    tool: &str,
    arguments: &[&str],
    expected: &str,
) -> Result<(), String> {
    inspector.args(["--method", "tools/call", "--tool-name", tool]);
    for argument in arguments {
        inspector.args(["--tool-arg", argument]);
    }
    let answer = answer(&mut inspector)?;
    let text = answer["content"][0]["text"].as_str().unwrap_or_default();
    match answer["isError"] != true && text.contains(expected) {
        true => Ok(()),
        false => Err(format!("it answers {answer}")),
    }
}

fn answer(inspector: &mut Command) -> Result<Value, String> {
    let text = shell::output(inspector)?;
    serde_json::from_str(&text).map_err(|error| format!("no JSON ({error}): {text}"))
}
