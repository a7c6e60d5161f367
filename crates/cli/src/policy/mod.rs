//! `fumehood policy`: what is allowed here, why, and whether the file that says so is sound.

mod check;
mod explain;
mod schema;
mod show;

use std::{
    env,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use fumehood::{
    Configuration, PolicyChoice,
    policy::{self, Overrides, Policy, ProfileName},
};

use crate::{failure::Failure, render::Format};

/// Arguments of `fumehood policy`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct PolicyArgs {
    #[command(subcommand)]
    command: PolicyCommand,
}

const EXAMPLES: &str = "\
Examples:
  fumehood policy check                      is the file of this project sound?
  fumehood policy show                       all values, and the line each comes from
  fumehood policy explain --path src/.env    can it be read, and which line says so?
  fumehood policy schema > policy.schema.json";

/// What is to be done.
#[derive(Debug, Subcommand)]
enum PolicyCommand {
    /// Say whether a policy is sound.
    Check(check::CheckArgs),
    /// Print the merged policy with the origin of every value.
    Show(show::ShowArgs),
    /// Say whether a path, a host or a variable is allowed, and which line says so.
    Explain(explain::ExplainArgs),
    /// Print the JSON Schema of policies, for editors.
    Schema(schema::SchemaArgs),
}

/// Does it and gives the exit code.
pub fn main(arguments: &PolicyArgs) -> u8 {
    let (format, done) = match &arguments.command {
        PolicyCommand::Check(arguments) => (Format::Text, check::run(arguments)),
        PolicyCommand::Show(arguments) => (format(arguments.json), show::run(arguments)),
        PolicyCommand::Explain(arguments) => (format(arguments.json), explain::run(arguments)),
        PolicyCommand::Schema(_) => (Format::Text, schema::run()),
    };
    done.unwrap_or_else(|failure| failure.report(format))
}

fn format(json: bool) -> Format {
    if json { Format::Json } else { Format::Text }
}

/// Which policy is meant.
#[derive(Args, Debug)]
pub(crate) struct Chosen {
    /// Use this file in place of the project's.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Use a built-in profile in place of the project's file: default, strict, build or agent.
    #[arg(long, value_name = "NAME", conflicts_with = "policy", value_parser = ProfileName::find)]
    profile: Option<ProfileName>,
}

impl Chosen {
    /// The choice. The profile is for a project without a file.
    pub(crate) fn choice(&self, otherwise: ProfileName) -> PolicyChoice {
        match (&self.policy, self.profile) {
            (Some(file), _) => PolicyChoice::File(file.clone()),
            (None, Some(profile)) => PolicyChoice::Profile(profile),
            (None, None) => PolicyChoice::Discover { from: PathBuf::from("."), otherwise },
        }
    }

    /// The merged policy, as a run without further flags would have it.
    pub(crate) fn load(&self) -> Result<Policy, Failure> {
        let settings = Configuration::load(Path::new("."), env::vars_os())?.settings;
        let choice = self.choice(settings.policy.profile.value);
        Ok(policy::load(&choice, &settings.limits.overrides(), Overrides::default())?)
    }
}

/// Prints an answer.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    Ok(io::stdout().write_all(text.as_bytes())?)
}
