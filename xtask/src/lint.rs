//! Formatting and clippy.

use std::process::Command;

use crate::{project::cargo, shell};

/// `cargo fmt`, as a question.
pub fn format_check() -> Command {
    cargo(&["fmt", "--all", "--check"])
}

/// Clippy over everything, with warnings denied.
pub fn clippy() -> Command {
    cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

/// Both.
pub fn main() -> Result<(), String> {
    shell::run(&mut format_check())?;
    shell::run(&mut clippy())
}

/// Formats everything.
pub fn format() -> Result<(), String> {
    shell::run(&mut cargo(&["fmt", "--all"]))
}
