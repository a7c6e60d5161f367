//! `fumehood exec`: run a command, with the current directory as its workspace.

use std::path::PathBuf;

use clap::Args;
use fumehood::{Request, Workspace};

use crate::{
    drive,
    failure::Failure,
    input::Input,
    opening::Opened,
    options::Options,
    render::{Format, View},
};

/// Arguments of `fumehood exec`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ExecArgs {
    /// The program and its arguments.
    #[arg(trailing_var_arg = true, value_name = "CMD")]
    command: Vec<String>,
    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "\
Examples:
  fumehood exec -- make test
  fumehood exec --workspace .:ro -- grep -r TODO .
  fumehood exec --workspace .:overlay -- ./codemod.sh
  fumehood exec --memory 2g --timeout 10m -- cargo build --offline
  fumehood exec --mount ~/data:/data -- python3 count.py /data
  fumehood exec --volume cache:/home/box/.cache -- make
  fumehood exec --candidate answer.zip --dataset iris=iris.csv -- python3 /candidate/main.py
  fumehood exec --dry-run -- true            print the plan, run nothing";

/// Runs the command and gives the exit code.
pub fn main(
    opened: impl FnOnce() -> Result<Opened, Failure>,
    arguments: ExecArgs,
    default: Format,
) -> u8 {
    let format = arguments.options.view.format(default);
    carry_out(opened, arguments, format).unwrap_or_else(|failure| failure.report(format))
}

fn carry_out(
    opened: impl FnOnce() -> Result<Opened, Failure>,
    arguments: ExecArgs,
    format: Format,
) -> Result<u8, Failure> {
    let ExecArgs { options, command } = arguments;
    let input = Input::find(options.stdin.clone(), false, format)?;
    let view = View { format, dry_run: options.view.dry_run, verbose: options.view.verbose };
    let here = Workspace { directory: PathBuf::from("."), mode: None };
    let request = options.apply(Request::command(command), Some(here))?;
    drive::carry_out(opened, request, input, view)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        exec: ExecArgs,
    }

    #[test]
    fn the_command_begins_where_the_options_end() {
        for (line, command) in [
            ("exec -- ls -l", &["ls", "-l"][..]),
            ("exec ls -l --json", &["ls", "-l", "--json"]),
            ("exec --json ls -- -l", &["ls", "--", "-l"]),
            ("exec --timeout 1s -- --odd", &["--odd"]),
            ("exec --", &[]),
        ] {
            let parsed = Line::try_parse_from(line.split(' ')).unwrap().exec;
            assert_eq!(parsed.command, command, "{line}");
        }
        assert!(Line::try_parse_from(["exec", "--jsn", "ls"]).is_err());
    }
}
