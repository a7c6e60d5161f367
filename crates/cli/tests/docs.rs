//! The guides tell the truth: every console example in them is run, and its output compared.
//!
//! In a `console` block a line that begins with `$ ` is a command; what follows is what it prints,
//! both streams together. `[..]` stands for any text in a line, `...` for any lines, and `? 3` at
//! the end for the exit code.

mod common;

use std::{fs, path::Path, process::Command};

use common::{Missing, examples, missing_languages};

/// Commands that are shown and cannot be run here, with the reason.
const NOT_RUN: &[(&str, &str)] = &[
    ("cargo xtask test", "it is what runs this test"),
    ("cargo install --path crates/cli", "it would change the machine"),
];

/// Kinds of blocks that hold no commands. Rust is compiled and run as a documentation test, Python and
/// JavaScript are run by the tests of the packages.
const NO_COMMANDS: &[&str] = &["rust", "text", "json", "python", "js"];

#[test]
fn the_readme_tells_the_truth() {
    check("README.md");
}

#[test]
fn the_guide_tells_the_truth() {
    check("docs/SANDBOX_RUN.md");
}

#[test]
fn the_policy_reference_tells_the_truth() {
    check("docs/POLICY.md");
}

#[test]
fn the_page_on_the_ledger_tells_the_truth() {
    check("docs/LEDGER.md");
}

#[test]
fn the_page_on_overlays_tells_the_truth() {
    check("docs/OVERLAY.md");
}

#[test]
fn the_page_on_bootstrapping_tells_the_truth() {
    check("docs/BOOTSTRAP.md");
}

#[test]
fn the_page_on_agents_tells_the_truth() {
    check("docs/AGENTS.md");
}

#[test]
fn the_page_on_images_tells_the_truth() {
    check("docs/IMAGES.md");
}

#[test]
fn the_page_on_mounts_tells_the_truth() {
    check("docs/MOUNTS.md");
}

#[test]
fn the_page_on_the_protocol_tells_the_truth() {
    check("docs/RPC.md");
}

#[test]
fn the_page_on_the_network_tells_the_truth() {
    check("docs/NETWORK.md");
}

fn check(document: &str) {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let text = fs::read_to_string(root.join(document)).unwrap();
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("work");
    copy(examples(), &directory.join("examples"));
    let missing = missing_languages();
    let mut examples = 0;
    for block in blocks(&text) {
        let found = match block.kind.as_str() {
            "console" => console_examples(&block),
            "sh" => shell_examples(&block),
            kind if NO_COMMANDS.contains(&kind) => continue,
            kind => panic!("{document}:{}: unknown kind of block `{kind}`", block.line),
        };
        for example in found {
            examples += 1;
            if let Err(difference) = example.check(&directory, &missing) {
                panic!("{document}:{}: {difference}", example.line);
            }
        }
    }
    assert!(examples > 5, "{document} has lost its examples");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

/// A fenced block.
struct Block {
    kind: String,
    line: usize,
    lines: Vec<String>,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(_), Some(block)) => blocks.push(block),
            (Some(kind), None) => {
                open = Some(Block { kind: kind.to_owned(), line: number + 1, lines: Vec::new() });
            }
            (None, Some(mut block)) => {
                block.lines.push(line.to_owned());
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

/// A command and what it prints.
#[derive(Debug)]
struct Example {
    command: String,
    line: usize,
    expected: Vec<String>,
    code: i32,
}

fn console_examples(block: &Block) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    for (offset, line) in block.lines.iter().enumerate() {
        let line_number = block.line + 1 + offset;
        if let Some(command) = line.strip_prefix("$ ") {
            examples.push(Example {
                command: command.to_owned(),
                line: line_number,
                expected: Vec::new(),
                code: 0,
            });
            continue;
        }
        let example = examples.last_mut().expect("a console block begins with a command");
        match line.strip_prefix("? ") {
            Some(code) => example.code = code.parse().expect("an exit code"),
            None => example.expected.push(line.clone()),
        }
    }
    examples
}

/// Commands without their output, as they are typed in the source tree.
fn shell_examples(block: &Block) -> Vec<Example> {
    let mut examples = Vec::new();
    for (offset, line) in block.lines.iter().enumerate() {
        if NOT_RUN.iter().any(|(command, _)| command == line) {
            continue;
        }
        let arguments = line.strip_prefix("cargo run --release -- ");
        let arguments = arguments.unwrap_or_else(|| panic!("who runs `{line}`?"));
        examples.push(Example {
            command: format!("fumehood {arguments}"),
            line: block.line + 1 + offset,
            expected: vec!["...".to_owned()],
            code: 0,
        });
    }
    examples
}

impl Example {
    fn check(&self, directory: &Path, missing: &[Missing]) -> Result<(), String> {
        let binaries = Path::new(env!("CARGO_BIN_EXE_fumehood")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let output = Command::new("bash")
            .args(["-c", &format!("exec 2>&1\n{}", self.command)])
            .current_dir(directory)
            .env("PATH", format!("{}:{path}", binaries.display()))
            // Beside the working directory, and the same for all examples of a page.
            .env("FUMEHOOD_STATE_DIR", directory.with_file_name("state"))
            .env("FUMEHOOD_CONFIG_DIR", directory.with_file_name("config"))
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let refused = output.status.code() == Some(125);
        if refused && missing.iter().any(|missing| printed.contains(&missing.remedy)) {
            return Ok(());
        }
        let lines: Vec<&str> = printed.lines().collect();
        let expected: Vec<&str> = self.expected.iter().map(String::as_str).collect();
        if output.status.code() == Some(self.code) && lines_match(&expected, &lines) {
            return Ok(());
        }
        Err(format!("{self:#?}\nprinted, with {}:\n{printed}", output.status))
    }
}

fn lines_match(expected: &[&str], lines: &[&str]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((&"...", rest)) => (0..=lines.len()).any(|skip| lines_match(rest, &lines[skip..])),
        Some((first, rest)) => lines
            .split_first()
            .is_some_and(|(line, others)| line_matches(first, line) && lines_match(rest, others)),
    }
}

fn line_matches(pattern: &str, line: &str) -> bool {
    match pattern.split_once("[..]") {
        None => pattern == line,
        Some((start, rest)) => line.strip_prefix(start).is_some_and(|tail| {
            let mut cuts = tail.char_indices().map(|(index, _)| index).chain([tail.len()]);
            cuts.any(|cut| line_matches(rest, &tail[cut..]))
        }),
    }
}

#[test]
fn the_comparison_can_fail() {
    assert!(line_matches("time [..] ms", "time 1.5 ms"));
    assert!(line_matches("[..]", ""));
    assert!(!line_matches("time [..] ms", "time 1.5 s"));
    assert!(!line_matches("a", "ab"));
    assert!(lines_match(&["a", "...", "d"], &["a", "b", "c", "d"]));
    assert!(!lines_match(&["a", "..."], &["b"]));
    assert!(!lines_match(&["a"], &["a", "b"]));
    assert!(!lines_match(&["a"], &[]));
}

#[test]
fn a_false_example_is_noticed() {
    let text = "```console\n$ echo one\ntwo\n$ exit 3\n? 3\n```\n";
    let examples = console_examples(&blocks(text)[0]);
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("work");
    fs::create_dir(&directory).unwrap();
    assert!(examples[0].check(&directory, &[]).is_err());
    assert!(examples[1].check(&directory, &[]).is_ok());
}
