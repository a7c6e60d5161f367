//! The name of a run.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Names one run: sorts by time, unique among runs of all processes of a machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    /// Builds the id from its parts: when, which process, which run of that process.
    pub fn new(unix_millis: u64, process: u32, counter: u32) -> RunId {
        RunId(format!("{unix_millis:012x}-{process:x}-{counter:x}"))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
