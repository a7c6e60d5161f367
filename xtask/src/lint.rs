//! Formatting, clippy and the workflow file.

use std::process::Command;

use crate::{project::cargo, shell, workflow};

/// `cargo fmt`, as a question.
pub fn format_check() -> Command {
    cargo(&["fmt", "--all", "--check"])
}

/// Clippy over everything, with warnings denied.
pub fn clippy() -> Command {
    cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

/// All of them.
pub fn main() -> Result<(), String> {
    shell::run(&mut format_check())?;
    shell::run(&mut clippy())?;
    workflow::main()
}

/// Formats everything.
pub fn format() -> Result<(), String> {
    shell::run(&mut cargo(&["fmt", "--all"]))
}
