//! What happens while a request runs.

use serde::{Deserialize, Serialize};

use crate::{Captured, Outcome, RunId, Selection, egress};

/// A part of a run that has a box of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Getting a toolchain ready for the first time.
    Prepare,
    /// Turning source into a program.
    Compile,
    /// Running the program.
    Run,
}

impl Phase {
    /// The name used in outcomes.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Prepare => "prepare",
            Phase::Compile => "compile",
            Phase::Run => "run",
        }
    }
}

/// One of the two output streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamName {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// One thing that happened, as it happens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run has a name and begins.
    Started {
        /// Its name.
        id: RunId,
    },
    /// A backend has opened a box for it.
    Selected {
        /// Which, and why.
        selection: Selection,
    },
    /// A phase begins.
    Phase {
        /// Which one.
        phase: Phase,
        /// True when its result was already there and nothing runs.
        cached: bool,
    },
    /// The program wrote something.
    Output {
        /// In which phase.
        phase: Phase,
        /// To which stream.
        stream: StreamName,
        /// What it wrote.
        data: Captured,
    },
    /// The gate decided about a connection that has ended, or about a name.
    Network {
        /// What, and why.
        record: egress::Record,
    },
    /// It is over. The last event of every run.
    Finished {
        /// The result.
        outcome: Box<Outcome>,
    },
}
