//! `fumehood discard`: throw changes away.

use clap::Args;
use fumehood::Overlays;

use crate::{failure::Failure, output, render::Format};

/// Arguments of `fumehood discard`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct DiscardArgs {
    /// The overlay, or the beginning of its name. [default: the newest]
    id: Option<String>,
    /// Every overlay that is not in use.
    #[arg(long, conflicts_with = "id")]
    all: bool,
}

const EXAMPLES: &str = "\
Examples:
  fumehood discard                           the changes of the last run
  fumehood discard 019a84
  fumehood discard --all";

/// Discards changes and gives the exit code.
pub fn main(arguments: &DiscardArgs) -> u8 {
    match discard(arguments) {
        Ok(()) => 0,
        Err(failure) => failure.report(Format::Text),
    }
}

fn discard(arguments: &DiscardArgs) -> Result<(), Failure> {
    let overlays = Overlays::new(None)?;
    if !arguments.all {
        return Ok(overlays.find(arguments.id.as_deref())?.discard()?);
    }
    for overlay in overlays.list()? {
        if overlay.is_busy() {
            output::line_for_people(&format!("{} is in use and stays", overlay.id()));
        } else {
            overlay.discard()?;
        }
    }
    Ok(())
}
