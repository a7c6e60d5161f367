//! `fumehood completions`: a completion script for a shell.

use std::io::{self, Write as _};

use clap::Args;
use clap_complete::Shell;

use crate::{cli, failure::Failure, render::Format};

/// Arguments of `fumehood completions`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  fumehood completions bash > ~/.local/share/bash-completion/completions/fumehood
  fumehood completions fish > ~/.config/fish/completions/fumehood.fish";

/// Prints the script.
pub fn main(arguments: &CompletionsArgs) -> u8 {
    // Into memory first: the generator panics where it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut cli::definition(), "fumehood", &mut script);
    match io::stdout().write_all(&script) {
        Ok(()) => 0,
        Err(error) => Failure::from(error).report(Format::Raw),
    }
}
