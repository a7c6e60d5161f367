//! `fumehood hook`: what becomes of a tool that an agent wants to use, and how the agent is made to
//! ask.

mod agent;
mod decide;
mod install;
mod settings;
mod tree;

use std::io::{self, Read as _};

use clap::{Args, Subcommand};

use self::agent::Agent;
use crate::output;

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
    /// Answer {tool, input, cwd} with {decision, reason, input}.
    Generic,
    /// Have Claude Code ask before every tool, or no longer.
    Install(install::InstallArgs),
}

/// Does what was asked for and gives the exit code.
pub fn main(arguments: &HookArgs) -> u8 {
    match &arguments.action {
        Some(Action::Install(arguments)) => install::main(arguments),
        Some(Action::ClaudeCode) => answer(Agent::ClaudeCode),
        Some(Action::Generic) | None => answer(Agent::Generic),
    }
}

fn answer(agent: Agent) -> u8 {
    let mut question = Vec::new();
    let read = io::stdin().lock().take(MOST).read_to_end(&mut question);
    let answered = match read {
        Ok(_) => agent.question(&question).and_then(|question| {
            let decided = decide::decide(agent, &question)?;
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
