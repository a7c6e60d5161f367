//! `fumehood policy explain`: yes or no, and which line says so. The exit code is the answer.

use std::path::PathBuf;

use clap::Args;
use fumehood::{
    escape_controls,
    policy::{self, Decision, PathDecision},
};
use serde_json::json;

use super::{Chosen, print};
use crate::{failure::Failure, paint::Paint, values::HostArg};

/// Exit code for what is denied.
const DENIED: u8 = 1;

/// Arguments of `fumehood policy explain`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct ExplainArgs {
    #[command(flatten)]
    subject: Subject,
    /// Let the exit code say whether the path can be written, not whether it can be read.
    #[arg(long, conflicts_with_all = ["host", "env"])]
    write: bool,
    #[command(flatten)]
    chosen: Chosen,
    /// Print the answer as JSON.
    #[arg(long)]
    pub(super) json: bool,
}

/// What is asked about.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct Subject {
    /// A file or directory. The current directory is the workspace.
    #[arg(long)]
    path: Option<PathBuf>,
    /// A host, by name or address; the port is 443 unless said.
    #[arg(long, value_name = "HOST[:PORT]")]
    host: Option<HostArg>,
    /// A variable.
    #[arg(long, value_name = "NAME")]
    env: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  fumehood policy explain --path .git/hooks/pre-commit
  fumehood policy explain --host example.com:443
  fumehood policy explain --env AWS_SECRET_ACCESS_KEY --profile strict

The exit code is 0 for what is allowed and 1 for what is denied.";

pub(super) fn run(arguments: &ExplainArgs) -> Result<u8, Failure> {
    let policy = arguments.chosen.load()?;
    let Subject { path, host, env } = &arguments.subject;
    let (allowed, json, text) = match (path, host, env) {
        (Some(path), ..) => {
            let PathDecision { read, write } = policy::path_decision(&policy, path);
            let allowed = if arguments.write { write.allowed } else { read.allowed };
            let text = format!("read: {}write: {}", sentence(&read), sentence(&write));
            (allowed, json!({"path": path, "read": read, "write": write}), text)
        }
        (None, Some(HostArg { host, port }), _) => {
            let decision = policy.host_decision(host, *port);
            let text = format!("{}:{port}: {}", escape_controls(host), sentence(&decision));
            (decision.allowed, json!({"host": host, "port": port, "decision": decision}), text)
        }
        (None, None, name) => {
            // One of the three is there: the parser sees to it.
            let name = name.as_deref().unwrap_or_default();
            let decision = policy.env_decision(name);
            let text = format!("{}: {}", escape_controls(name), sentence(&decision));
            (decision.allowed, json!({"env": name, "decision": decision}), text)
        }
    };
    match arguments.json {
        true => print(&format!("{json:#}\n"))?,
        false => print(&text)?,
    }
    Ok(if allowed { 0 } else { DENIED })
}

fn sentence(decision: &Decision) -> String {
    let paint = Paint::for_stdout();
    let answer = if decision.allowed { paint.good("yes") } else { paint.bad("no") };
    let why = format!("{} ({})", decision.reason, decision.origin);
    format!("{answer}, {}\n", escape_controls(&why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_a_port() {
        for (text, host, port) in [
            ("example.com", "example.com", 443),
            ("example.com:80", "example.com", 80),
            ("::1", "::1", 443),
            ("[::1]", "[::1]", 443),
            ("[::1]:80", "[::1]", 80),
            ("10.0.0.1:22", "10.0.0.1", 22),
        ] {
            assert_eq!(text.parse(), Ok(HostArg { host: host.to_owned(), port }), "{text}");
        }
        assert!("example.com:http".parse::<HostArg>().is_err());
    }
}
