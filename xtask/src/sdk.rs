//! `cargo xtask sdk`: the packages for Python and Node, built, installed and tested against the
//! program as their users would have them, and against the real agents. Nothing is written into the
//! source tree, and the tests see no network.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    loopback::alone,
    project::{cargo, root, target},
    shell,
    test::{report::Report, tally::Tally},
};

/// Runs the tests with this version.
const PYTEST: &str = "pytest==9.2.0";

/// The agent whose loops are run. The one for Node is in the package's lock file.
const PYTHON_AGENT: &str = "claude-agent-sdk==0.2.182";

/// Names the page whose examples the tests run.
const PAGE: &str = "FUMEHOOD_AGENTS_PAGE";

fn page() -> PathBuf {
    root().join("docs/AGENTS.md")
}

/// Tests both packages. An error only says that something failed; what, was said before.
pub fn main() -> Result<(), String> {
    let mut report = Report::new();
    check(&mut report);
    report.finish()
}

/// Tests both packages. What cannot be set up is a failure.
pub fn check(report: &mut Report) {
    let Some(program) = report.stage("program for the packages", build) else { return };
    if let Some((package, python)) = report.stage("package for Python", prepare_python) {
        let mut tests = alone(python);
        tests.args(["-m", "pytest", "-q"]).current_dir(package);
        tests.env("FUMEHOOD_BINARY", &program).env("PYTHONDONTWRITEBYTECODE", "1");
        tests.env(PAGE, page());
        report.tests_counted("tests of the package for Python", &mut tests, count_pytest);
    }
    if let Some(package) = report.stage("package for Node", prepare_node) {
        let mut tests = alone("node");
        tests.args(["--test", "--test-reporter=tap"]);
        tests.args(["tests/sandbox.test.js", "tests/claude.test.js"]);
        tests.current_dir(package).env("FUMEHOOD_BINARY", &program).env(PAGE, page());
        report.tests_counted("tests of the package for Node", &mut tests, count_node);
    }
}

/// Builds the program and says where it is.
pub fn build() -> Result<PathBuf, String> {
    let arguments =
        ["build", "--package", "fumehood-cli", "--bin", "fumehood", "--message-format=json"];
    let messages = shell::output(&mut cargo(&arguments))?;
    let executable = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        Some(PathBuf::from(message["executable"].as_str()?))
    };
    messages.lines().filter_map(executable).next_back().ok_or("cargo names no program".to_owned())
}

/// Installs the package into an environment of its own. Gives the copy with the tests, and Python.
fn prepare_python() -> Result<(PathBuf, PathBuf), String> {
    let package = copy("python")?;
    let environment = target().join("sdk/venv");
    shell::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
    let python = environment.join("bin/python");
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    let wanted = [PYTEST, PYTHON_AGENT];
    shell::run(Command::new(&python).args(install).args(wanted).arg(&package))?;
    // What is tested is what was installed.
    remove(&package.join("src"))?;
    Ok((package, python))
}

/// Compiles the package.
fn prepare_node() -> Result<PathBuf, String> {
    let package = copy("typescript")?;
    let npm =
        |arguments: &[&str]| shell::run(Command::new("npm").args(arguments).current_dir(&package));
    npm(&["ci", "--no-audit", "--no-fund"])?;
    npm(&["run", "build"])?;
    Ok(package)
}

/// A fresh copy of a package, without what somebody may have built in the source tree.
fn copy(name: &str) -> Result<PathBuf, String> {
    let place = target().join("sdk").join(name);
    remove(&place)?;
    copy_directory(&root().join("sdk").join(name), &place)
        .map_err(|error| format!("the package {name} could not be copied ({error})"))?;
    Ok(place)
}

/// What is built, and so is not copied.
const BUILT: &[&str] = &["node_modules", "dist", "build", "__pycache__"];

fn copy_directory(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let text = name.to_string_lossy();
        if BUILT.contains(&&*text) || text.ends_with(".egg-info") {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy_directory(&entry.path(), &to.join(&name))?;
        } else {
            fs::copy(entry.path(), to.join(&name))?;
        }
    }
    Ok(())
}

/// Removes a directory, if it is there.
pub fn remove(directory: &Path) -> Result<(), String> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{} could not be removed ({error})", directory.display()))
        }
        _ => Ok(()),
    }
}

/// The closing line of pytest: `1 failed, 25 passed in 3.21s`. What was skipped was not tested.
fn count_pytest(tally: &mut Tally, line: &str) {
    let Some((counts, _)) = line.trim_matches(['=', ' ']).rsplit_once(" in ") else { return };
    let parts: Option<Vec<(u64, &str)>> = counts
        .split(", ")
        .map(|part| {
            let (number, word) = part.split_once(' ')?;
            Some((number.parse().ok()?, word))
        })
        .collect();
    let Some(parts) = parts else { return };
    tally.programs += 1;
    for (number, word) in parts {
        match word {
            "passed" => tally.passed += number,
            "failed" | "error" | "errors" | "skipped" => tally.failed += number,
            _ => {}
        }
    }
}

/// The closing lines of Node: `# pass 16`, `# fail 0` and others that mean a failure.
fn count_node(tally: &mut Tally, line: &str) {
    let Some((word, number)) = line.strip_prefix("# ").and_then(|line| line.split_once(' ')) else {
        return;
    };
    let Ok(number) = number.parse::<u64>() else { return };
    match word {
        "pass" => {
            tally.programs += 1;
            tally.passed += number;
        }
        "fail" | "cancelled" | "skipped" | "todo" => tally.failed += number,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(count: fn(&mut Tally, &str), lines: &[&str]) -> Tally {
        let mut tally = Tally::default();
        lines.iter().for_each(|line| count(&mut tally, line));
        tally
    }

    #[test]
    fn the_closing_lines_of_pytest_are_counted() {
        let lines = ["..F [100%]", "E  assert 1 in 2", "== 1 failed, 25 passed in 3.21s =="];
        assert_eq!(counted(count_pytest, &lines), Tally { passed: 25, failed: 1, programs: 1 });
        assert_eq!(counted(count_pytest, &["no tests ran in 0.01s"]), Tally::default());
        assert_eq!(
            counted(count_pytest, &["2 passed, 1 skipped in 1.00s"]),
            Tally { passed: 2, failed: 1, programs: 1 }
        );
    }

    #[test]
    fn the_closing_lines_of_node_are_counted() {
        let lines = ["# Subtest: pass 7", "ok 1 - x", "# tests 4", "# pass 3", "# fail 1"];
        assert_eq!(counted(count_node, &lines), Tally { passed: 3, failed: 1, programs: 1 });
    }
}
