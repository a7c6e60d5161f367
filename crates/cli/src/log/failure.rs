//! Why `fumehood log` cannot answer.

use std::io;

use fumehood::ledger::LedgerError;

use crate::{
    failure::{EXIT_REFUSED, Failure, refuse},
    render::Format,
};

/// Why `fumehood log` cannot answer. One sentence each, with the next step.
#[derive(Debug, thiserror::Error)]
pub enum LogFailure {
    /// The ledger cannot be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// No run has this id.
    #[error(
        "no run in the ledger has an id that begins with `{given}`{hint}; `fumehood log` lists them"
    )]
    NoSuchRun {
        /// What was given.
        given: String,
        /// The id that may have been meant.
        hint: String,
    },
    /// Several runs have ids that begin like this.
    #[error(
        "several runs have ids that begin with `{given}`: give more of it, for example {example}"
    )]
    Ambiguous {
        /// What was given.
        given: String,
        /// One of them.
        example: String,
    },
    /// There is nothing whose end could be told.
    #[error(
        "the ledger has no head: nothing was recorded yet, or it was removed; see `fumehood log verify`"
    )]
    NoHead,
    /// The answer cannot be written.
    #[error(transparent)]
    Output(Failure),
}

impl From<io::Error> for LogFailure {
    fn from(error: io::Error) -> LogFailure {
        LogFailure::Output(error.into())
    }
}

impl LogFailure {
    /// Says it, and gives the exit code.
    pub fn report(&self, format: Format) -> u8 {
        match self {
            LogFailure::Output(failure) => failure.report(format),
            other => {
                refuse(&other.to_string(), format);
                EXIT_REFUSED
            }
        }
    }
}
