//! `fumehood hook`: what becomes of a tool that an agent wants to use, and how the agent is made to
//! ask.

mod agent;
mod decide;
mod install;
mod settings;
mod tree;

use std::{
    io::{self, Read as _},
    path::PathBuf,
};

use clap::{Args, Subcommand};
use fumehood::policy::{PolicyText, ProfileName};

use self::agent::Agent;
use crate::{output, values};

/// The exit code that makes an agent block the tool: whatever goes wrong here, nothing runs
/// unguarded.
const BLOCK: u8 = 2;

/// The longest question.
const MOST: u64 = 64 << 20;

/// Arguments of `fumehood hook`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub struct HookArgs {
    #[command(subcommand)]
    action: Option<Action>,
    /// The same as `hook generic`.
    #[arg(long)]
    generic: bool,
}

const EXAMPLES: &str = "\
Examples:
  fumehood hook install                      have Claude Code ask, in this project
  fumehood hook install --user --dry-run     show what would be changed for all projects
  fumehood hook install --remove             undo it
  echo '{\"tool\": \"Bash\", \"input\": {\"command\": \"ls\"}}' | fumehood hook generic

Rules are in the policy under `tools`: allow, deny, rewrite. See `fumehood policy show`.";

#[derive(Debug, Subcommand)]
enum Action {
    /// Answer a PreToolUse question of Claude Code on standard input.
    ClaudeCode,
    /// Answer {tool, input, cwd, agent, session} with {decision, reason, input}.
    Generic(GenericArgs),
    /// Have Claude Code ask before every tool, or no longer.
    Install(install::InstallArgs),
}

/// Arguments of `fumehood hook generic`.
#[derive(Args, Debug, Default)]
struct GenericArgs {
    /// The policy file. [default: the nearest sandbox.policy.yaml upward from `cwd`]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// A built-in policy instead of files: default, strict, build or agent.
    #[arg(long, value_name = "NAME", conflicts_with = "policy", value_parser = ProfileName::find)]
    profile: Option<ProfileName>,
    /// A policy on top of that one, as text: it tightens freely, and loosens up to the ceiling.
    #[arg(long = "override", value_name = "POLICY", value_parser = values::override_text)]
    overrides: Option<PolicyText>,
    /// Deny what would be carried out in a box. For agents that have the fumehood tools.
    #[arg(long)]
    no_rewrite: bool,
}

/// Does what was asked for and gives the exit code.
pub fn main(arguments: &HookArgs) -> u8 {
    match &arguments.action {
        Some(Action::Install(arguments)) => install::main(arguments),
        Some(Action::ClaudeCode) => answer(Agent::ClaudeCode, &GenericArgs::default()),
        Some(Action::Generic(given)) => answer(Agent::Generic, given),
        None => answer(Agent::Generic, &GenericArgs::default()),
    }
}

fn answer(agent: Agent, given: &GenericArgs) -> u8 {
    let mut question = Vec::new();
    let read = io::stdin().lock().take(MOST).read_to_end(&mut question);
    let answered = match read {
        Ok(_) => agent.question(&question).and_then(|question| {
            let decided = decide::decide(agent, &question, given)?;
            Ok(agent.answer(&decided))
        }),
        Err(error) => Err(decide::HookFailure::Input { reason: error.to_string() }),
    };
    match answered {
        Ok(answer) => {
            output::line_for_programs(&answer.to_string());
            0
        }
        Err(failure) => {
            output::line_for_people(&failure.to_string());
            BLOCK
        }
    }
}
