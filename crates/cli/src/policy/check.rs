//! `fumehood policy check`: reads a policy, merges it with what lies under it, and says so.

use std::path::{Path, PathBuf};

use clap::Args;
use fumehood::{
    LimitOverrides, PolicyChoice,
    policy::{self, FILE_NAME, Overrides},
};

use super::print;
use crate::failure::Failure;

/// Arguments of `fumehood policy check`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct CheckArgs {
    /// The policy; absent, that of the project.
    file: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  fumehood policy check
  fumehood policy check ci/sandbox.policy.yaml";

pub(super) fn run(arguments: &CheckArgs) -> Result<u8, Failure> {
    let found = match &arguments.file {
        Some(file) => Some(file.clone()),
        None => policy::find(Path::new("."))?,
    };
    let Some(file) = found else {
        print(&format!("no {FILE_NAME} here or above: the default profile holds\n"))?;
        return Ok(0);
    };
    let choice = PolicyChoice::File(file.clone());
    let merged = policy::load(&choice, &LimitOverrides::default(), Overrides::default())?;
    print(&format!("{} is sound (policy {})\n", file.display(), merged.digest()))?;
    Ok(0)
}
