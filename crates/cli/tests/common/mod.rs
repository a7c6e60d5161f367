//! What the tests of the command line share: starting it, and reading what came back.

#![allow(dead_code, reason = "each test program uses its own part")]

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

/// The program under test, with nothing on its standard input.
pub fn fumehood(arguments: &[&str]) -> Command {
    program(env!("CARGO_BIN_EXE_fumehood"), arguments)
}

/// The same under its second name.
pub fn sandbox_run(arguments: &[&str]) -> Command {
    program(env!("CARGO_BIN_EXE_sandbox-run"), arguments)
}

fn program(path: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(path);
    command.args(arguments).stdin(Stdio::null());
    keep_to_itself(&mut command);
    command
}

/// Not the source tree, since `exec` makes the current directory writable, and nothing of the
/// user: neither their ledger nor their settings.
pub fn keep_to_itself(command: &mut Command) {
    let user = rustix::process::geteuid().as_raw();
    let own = std::env::temp_dir().join(format!("fumehood-cli-tests-{user}"));
    command
        .current_dir(std::env::temp_dir())
        .env("FUMEHOOD_STATE_DIR", own.join("state"))
        .env("FUMEHOOD_CONFIG_DIR", own.join("config"));
}

/// What a finished program left.
#[derive(Debug)]
pub struct Done {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    pub bytes: Vec<u8>,
    pub took: Duration,
}

impl Done {
    /// Standard output as one JSON value.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Fails unless these are the exit code and both outputs.
    #[track_caller]
    pub fn expect(&self, code: i32, stdout: &str, stderr: &str) {
        assert_eq!((self.code, self.stdout.as_str(), self.stderr.as_str()), (code, stdout, stderr));
    }
}

/// Runs a command to its end.
#[track_caller]
pub fn done(command: &mut Command) -> Done {
    let started = Instant::now();
    let output = command.output().expect("the program starts");
    read(output, started)
}

/// Runs a command with these bytes on its standard input.
#[track_caller]
pub fn done_with_input(command: &mut Command, input: &[u8]) -> Done {
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // A program that does not read its input is no failure.
    let _ = child.stdin.take().expect("it is piped").write_all(input);
    read(child.wait_with_output().expect("the program ends"), started)
}

/// Reads what a program left.
pub fn read(output: Output, started: Instant) -> Done {
    use std::os::unix::process::ExitStatusExt as _;

    let signal = output.status.signal();
    Done {
        code: output.status.code().unwrap_or_else(|| panic!("ended by signal {signal:?}")),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        bytes: output.stdout,
        took: started.elapsed(),
    }
}

/// A language that cannot be run on this machine.
#[derive(Debug)]
pub struct Missing {
    pub language: String,
    pub remedy: String,
}

/// Languages that cannot be run here. Where all of them have to be there, set
/// `FUMEHOOD_TEST_ALL_LANGUAGES`, and a missing one is a failure.
pub fn missing_languages() -> Vec<Missing> {
    let listed = done(&mut fumehood(&["languages", "--json"]));
    assert_eq!(listed.code, 0, "{listed:?}");
    let languages = listed.json();
    let languages = languages.as_array().expect("a list");
    let missing: Vec<Missing> = languages
        .iter()
        .filter(|language| language["works"] == false)
        .map(|language| Missing {
            language: language["name"].as_str().expect("a name").to_owned(),
            remedy: language["remedy"].as_str().expect("a remedy").to_owned(),
        })
        .collect();
    for missing in &missing {
        eprintln!("not installed here, so only its refusal is tested: {}", missing.language);
    }
    let all = std::env::var_os("FUMEHOOD_TEST_ALL_LANGUAGES").is_some();
    assert!(!all || missing.is_empty(), "every language must be there: {missing:?}");
    assert!(missing.len() < languages.len(), "no language works at all");
    missing
}

/// The examples that come with the sources.
pub fn examples() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples"))
}
