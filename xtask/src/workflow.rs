//! The workflow file, checked by actionlint before a machine elsewhere stumbles over it.
//!
//! actionlint is built from its source by Go, which the tests need anyway, in a pinned version and
//! below the target directory. Go checks the source against the public list of digests.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    project::{in_ci, root, target},
    shell,
    test::report::Report,
};

/// Checked with this version; another may find other things.
const ACTIONLINT: &str = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.7";

/// Checks the workflow file, as far as that can be done here.
pub fn check(report: &mut Report) {
    match actionlint() {
        Ok(program) => report.check("workflow", &mut lint(&program)),
        // Whether the source can be had is the network's matter.
        Err(reason) => report.missing("workflow", &reason, in_ci()),
    }
}

/// The check alone, for `cargo xtask lint`.
pub fn main() -> Result<(), String> {
    shell::run(&mut lint(&actionlint()?))
}

/// The program, built where it is not there yet.
fn actionlint() -> Result<PathBuf, String> {
    let place = target().join("actionlint");
    let program = place.join("actionlint");
    if !shell::works(Command::new(&program).arg("--version")) {
        let mut install = Command::new("go");
        // Nothing goes to the home directory, and what Go keeps can be removed like the rest.
        install.args(["install", "-modcacherw", ACTIONLINT]).current_dir(root());
        install.env("GOBIN", &place).env("GOPATH", place.join("go"));
        install.env("GOCACHE", place.join("cache"));
        shell::run(&mut install)?;
    }
    Ok(program)
}

/// Finds the files by itself. Other checkers that a machine may have are left out, so that the
/// answer is the same everywhere.
fn lint(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(["-shellcheck=", "-pyflakes="]).current_dir(root());
    command
}
