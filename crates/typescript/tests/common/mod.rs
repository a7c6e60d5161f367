//! What the tests share: a source that uses everything, translation, and running it with Node.

use std::process::{Command, Output};

use fumehood_typescript::{strip, write_output};

/// A program that uses every translated feature at least once.
#[allow(dead_code, reason = "not every test file uses it")]
pub const SAMPLE: &str = include_str!("sample.ts");

/// The JavaScript for `source`, without the source map; fails the test when there is an error.
#[allow(dead_code, reason = "not every test file uses it")]
pub fn javascript(source: &str) -> String {
    let output = strip("main.ts", source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let map = output.javascript.find("//# sourceMappingURL=").expect("a source map");
    output.javascript[..map].to_owned()
}

/// What the errors of `source` look like to a user; fails the test when there is none.
#[allow(dead_code, reason = "not every test file uses it")]
pub fn errors(name: &str, source: &str) -> Vec<String> {
    let errors = strip(name, source).expect_err("the source should be refused");
    errors.iter().map(ToString::to_string).collect()
}

/// Translates `source` and runs it. Node must be there: a test that cannot run fails.
#[allow(dead_code, reason = "not every test file uses it")]
pub fn run(name: &str, source: &str) -> Output {
    let output = strip(name, source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let directory = tempfile::tempdir().expect("a temporary directory");
    write_output(directory.path(), &output).expect("the output can be written");
    Command::new("node")
        .arg("--enable-source-maps")
        .arg(directory.path().join("main.js"))
        .output()
        .expect("these tests need `node` (20 or newer) on the PATH")
}

/// Runs `source` and returns what it prints; fails the test when it does not exit with 0.
#[allow(dead_code, reason = "not every test file uses it")]
pub fn printed(source: &str) -> String {
    let result = run("main.ts", source);
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
    String::from_utf8(result.stdout).expect("Node prints UTF-8")
}
