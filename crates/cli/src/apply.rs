//! `fumehood apply`: carry changes over into the workspace.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::Args;
use fumehood::Overlays;

use crate::{failure::Failure, output, render::Format, render::changes::line};

/// Arguments of `fumehood apply`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ApplyArgs {
    /// The overlay, or the beginning of its name. [default: the newest]
    #[arg(value_name = "ID")]
    first: Option<PathBuf>,
    /// Paths in the workspace. [default: all that was changed]
    paths: Vec<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  fumehood apply                             all changes of the last run
  fumehood apply src/main.rs docs            some of them; the others stay
  fumehood apply 019a84 .git/hooks           what is guarded has to be named
  fumehood apply ./019a84                    a path that looks like a name

Nothing is applied if the workspace has changed since the run. The exit code is 1 if something
was left out.";

/// Exit code if something that was asked for was left out.
const EXIT_LEFT_OUT: u8 = 1;

/// Applies changes and gives the exit code.
pub fn main(arguments: &ApplyArgs) -> u8 {
    apply(arguments).unwrap_or_else(|failure| failure.report(Format::Text))
}

fn apply(arguments: &ApplyArgs) -> Result<u8, Failure> {
    let overlays = Overlays::new(None)?;
    let ApplyArgs { first, paths } = arguments;
    // Without a name the first word is a path like the others.
    let id = first.as_deref().and_then(Path::to_str).filter(|word| overlays.is_known(word));
    let path = first.iter().filter(|_| id.is_none());
    let paths: Vec<PathBuf> = path.chain(paths).cloned().collect();
    let mut overlay = overlays.find(id)?;
    let applied = overlay.apply(&paths)?;
    let mut text = String::new();
    for change in &applied.done {
        text.push_str(&format!("{}\n", line(change)));
    }
    io::stdout().write_all(text.as_bytes())?;
    for (path, reason) in &applied.left_out {
        output::line_for_people(&format!("{path} was left out: {reason}"));
    }
    Ok(if applied.left_out.is_empty() { 0 } else { EXIT_LEFT_OUT })
}
