//! `fumehood policy schema`: what editors need to complete and check policies.

use clap::Args;

use super::print;
use crate::failure::Failure;

/// Arguments of `fumehood policy schema`: none.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct SchemaArgs {}

const EXAMPLES: &str = "\
Examples:
  fumehood policy schema > sandbox.policy.schema.json

Editors that understand YAML schemas use it with this first line in the policy:
  # yaml-language-server: $schema=sandbox.policy.schema.json";

pub(super) fn run() -> Result<u8, Failure> {
    print(&format!("{:#}\n", fumehood::policy::schema()))?;
    Ok(0)
}
