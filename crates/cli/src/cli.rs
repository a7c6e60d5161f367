//! The shape of the command line: which commands there are, under which of the two names.

use std::ffi::OsString;

use clap::{Args, CommandFactory as _, FromArgMatches, Parser, Subcommand};

use crate::{
    apply::ApplyArgs, bootstrap::BootstrapArgs, completions::CompletionsArgs, config::ConfigArgs,
    diff::DiffArgs, discard::DiscardArgs, doctor::DoctorArgs, egress::EgressArgs, exec::ExecArgs,
    hook::HookArgs, image::ImageArgs, languages::LanguagesArgs, log::LogArgs, mcp::McpArgs,
    policy::PolicyArgs, render::Format, rpc::RpcArgs, run::RunArgs, verify::VerifyArgs,
    volume::VolumeArgs,
};

/// The name under which the program was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persona {
    /// `fumehood`, with all its commands and raw output.
    Fumehood,
    /// `sandbox-run`, which is `fumehood run` with the report for people.
    SandboxRun,
}

impl Persona {
    /// True if these arguments are those of a command that opens a box. A guess from the first
    /// argument alone: a wrong one costs a little time and nothing else.
    pub(crate) fn will_open_a_box(self, arguments: &[OsString]) -> bool {
        let first = arguments.get(1).and_then(|argument| argument.to_str());
        match self {
            Persona::Fumehood => matches!(first, Some("run" | "exec")),
            Persona::SandboxRun => !matches!(first, Some("-h" | "--help" | "-V" | "--version")),
        }
    }

    pub(crate) fn default_format(self) -> Format {
        match self {
            Persona::Fumehood => Format::Raw,
            Persona::SandboxRun => Format::Text,
        }
    }
}

/// Runs code that nobody should trust.
#[derive(Debug, Parser)]
#[command(name = "fumehood", version, arg_required_else_help = false, after_help = EXAMPLES)]
struct Fumehood {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  fumehood run hello.py                     run a file
  fumehood run --lang python --code 'print(6 * 7)'
  fumehood exec -- make test                run a command on the current directory
  fumehood doctor                           see what this machine can give";

/// Runs code in a box and reports on it.
#[derive(Debug, Parser)]
#[command(name = "sandbox-run", version, after_help = SANDBOX_RUN_EXAMPLES)]
struct SandboxRun {
    #[command(flatten)]
    run: RunArgs,
}

const SANDBOX_RUN_EXAMPLES: &str = "\
Examples:
  sandbox-run hello.py
  sandbox-run --lang javascript --code 'console.log(6 * 7)' --json
  sandbox-run --timeout 10s --memory 256m solve.cpp --stdin @input.txt";

/// What is to be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run code: a file, a text or standard input.
    Run(RunArgs),
    /// Run a command on the current directory.
    Exec(ExecArgs),
    /// Show what a run changed in an overlay workspace.
    Diff(DiffArgs),
    /// Carry changes over into the workspace.
    Apply(ApplyArgs),
    /// Throw changes away.
    Discard(DiscardArgs),
    /// See what this machine can give, and what to do about the rest.
    Doctor(DoctorArgs),
    /// Attack a box in every known way, and see whether it holds.
    Verify(VerifyArgs),
    /// List the languages, and which of them are installed.
    Languages(LanguagesArgs),
    /// See which configuration applies, and where it comes from.
    Config(ConfigArgs),
    /// See and remove the volumes that are kept between runs.
    Volume(VolumeArgs),
    /// See, fetch, make and remove the images of containers.
    Image(ImageArgs),
    /// See which runs there were, and check that the record of them is whole.
    Log(LogArgs),
    /// See, check and explain what is allowed.
    Policy(PolicyArgs),
    /// Try which hosts a box reaches, and hold that against the policy.
    Egress(EgressArgs),
    /// Write a Dockerfile for a project that has none.
    Bootstrap(BootstrapArgs),
    /// Run code for another program, which asks in JSON-RPC on standard input.
    Rpc(RpcArgs),
    /// Serve agents: run code and commands for them over the Model Context Protocol.
    Mcp(McpArgs),
    /// Decide about the tools of an agent, or have it ask before every one.
    Hook(HookArgs),
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
}

/// The whole command line of `fumehood`, for completion scripts.
pub(crate) fn definition() -> clap::Command {
    Fumehood::command()
}

/// Reads the arguments; the first of them is the program's name.
pub(crate) fn parse(persona: Persona, arguments: &[OsString]) -> Result<Command, clap::Error> {
    match persona {
        Persona::Fumehood => {
            if let Some(command) = parse_frequent(arguments) {
                return Ok(command);
            }
            let matches = Fumehood::command().try_get_matches_from(arguments)?;
            Ok(Fumehood::from_arg_matches(&matches)?.command)
        }
        Persona::SandboxRun => {
            let matches = SandboxRun::command().try_get_matches_from(arguments)?;
            Ok(Command::Run(SandboxRun::from_arg_matches(&matches)?.run))
        }
    }
}

/// Reads the arguments of the two commands that run something, without building the definitions of
/// all others first. Whatever is not plainly right is left to the whole definition, which has the
/// better words for it.
fn parse_frequent(arguments: &[OsString]) -> Option<Command> {
    fn parse<A: Args + FromArgMatches>(arguments: &[OsString]) -> Option<A> {
        let command = A::augment_args(clap::Command::new("fumehood"));
        A::from_arg_matches(&command.try_get_matches_from(arguments).ok()?).ok()
    }
    match arguments.get(1)?.to_str()? {
        "run" => parse(&arguments[1..]).map(Command::Run),
        "exec" => parse(&arguments[1..]).map(Command::Exec),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_sound() {
        Fumehood::command().debug_assert();
        SandboxRun::command().debug_assert();
    }

    #[test]
    fn a_box_is_begun_early_only_where_one_is_used() {
        let begins = |persona: Persona, line: &str| {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            persona.will_open_a_box(&arguments)
        };
        assert!(begins(Persona::Fumehood, "fumehood exec -- true"));
        assert!(begins(Persona::Fumehood, "fumehood run a.py"));
        assert!(!begins(Persona::Fumehood, "fumehood languages"));
        assert!(!begins(Persona::Fumehood, "fumehood"));
        assert!(begins(Persona::SandboxRun, "sandbox-run a.py"));
        assert!(!begins(Persona::SandboxRun, "sandbox-run --version"));
    }
}
