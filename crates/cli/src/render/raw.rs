//! As if the program had been started directly: its bytes as they arrive, and nothing else unless
//! fumehood ended it.

use std::io::{self, IsTerminal as _};

use fumehood::{Event, Outcome, Phase, StreamName};

use super::{changes, closing};
use crate::{failure::Failure, output};

/// Passes the program's output on. What a compiler says is shown when it fails, or on demand.
pub async fn event(event: &Event, verbose: bool) -> Result<(), Failure> {
    match event {
        Event::Output { phase: Phase::Run, stream, data } => {
            output::write(*stream, &data.0).await?
        }
        Event::Output { data, .. } if verbose => {
            output::write(StreamName::Stderr, &data.0).await?;
        }
        Event::Phase { phase, cached } if verbose => {
            let cached = if *cached { " (cached)" } else { "" };
            output::line_for_people(&format!("{}{cached}", phase.name()));
        }
        _ => {}
    }
    Ok(())
}

/// What is left to say at the end.
pub async fn finish(outcome: &Outcome, verbose: bool) -> Result<(), Failure> {
    if outcome.phase != Phase::Run && !verbose {
        // Some compilers complain on standard output; a caller who reads the program's output
        // must not take that for it.
        output::write(StreamName::Stderr, &outcome.stdout.0).await?;
        output::write(StreamName::Stderr, &outcome.stderr.0).await?;
    }
    for sentence in closing::sentences(outcome) {
        output::line_for_people(&sentence);
    }
    if let Some(hint) = changes::hint(outcome).filter(|_| verbose || io::stderr().is_terminal()) {
        output::line_for_people(&hint);
    }
    if verbose {
        output::line_for_people(&closing::summary(outcome));
        for weakness in closing::weaknesses(outcome) {
            output::line_for_people(&weakness);
        }
    }
    Ok(())
}
