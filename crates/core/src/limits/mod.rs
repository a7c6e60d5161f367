//! What a box may use, as types: a value that exists is a valid limit.

mod bytes;
mod cores;
mod timespan;

use serde::{Deserialize, Serialize};

pub use bytes::Bytes;
pub use cores::Cores;
pub use timespan::TimeSpan;

/// Why a limit could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// Nothing, or only spaces, was given.
    #[error("{what} is empty: write for example {example}")]
    Empty {
        /// The kind of value.
        what: &'static str,
        /// A value that works.
        example: &'static str,
    },
    /// The text does not start with a number.
    #[error(
        "`{given}` is not {what}: it does not start with a number; write for example {example}"
    )]
    NotANumber {
        /// The text as given.
        given: String,
        /// The kind of value.
        what: &'static str,
        /// A value that works.
        example: &'static str,
    },
    /// A part of something that comes in whole pieces.
    #[error("`{given}` is not a whole number, and {what} must be: write for example {example}")]
    NotWhole {
        /// The text as given.
        given: String,
        /// The kind of value.
        what: &'static str,
        /// A value that works.
        example: &'static str,
    },
    /// Negative values make no sense for a limit.
    #[error("`{given}` is negative, and {what} cannot be: write for example {example}")]
    Negative {
        /// The text as given.
        given: String,
        /// The kind of value.
        what: &'static str,
        /// A value that works.
        example: &'static str,
    },
    /// The number is followed by something that is not a known unit.
    #[error("`{given}`: unknown unit `{unit}`; the units are {units}")]
    UnknownUnit {
        /// The text as given.
        given: String,
        /// The unit that was not understood.
        unit: String,
        /// The units that are.
        units: &'static str,
    },
    /// A value below the least that works.
    #[error("`{given}` is too small: the least {what} is {least}")]
    TooSmall {
        /// The text as given.
        given: String,
        /// The kind of value.
        what: &'static str,
        /// The least value.
        least: &'static str,
    },
    /// A value above the most that makes sense.
    #[error("`{given}` is too large: the most {what} is {most}")]
    TooLarge {
        /// The text as given.
        given: String,
        /// The kind of value.
        what: &'static str,
        /// The most value.
        most: &'static str,
    },
}

/// A number and the unit behind it, split from text such as `512m`.
fn split_number<'a>(
    given: &'a str,
    what: &'static str,
    example: &'static str,
) -> Result<(f64, &'a str), LimitError> {
    let text = given.trim();
    if text.is_empty() {
        return Err(LimitError::Empty { what, example });
    }
    if text.starts_with('-') {
        return Err(LimitError::Negative { given: given.to_owned(), what, example });
    }
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    // `f64` alone would also take `.`, `1.` and `.5`: keep to what people write.
    let well_formed = number.starts_with(|c: char| c.is_ascii_digit())
        && number.ends_with(|c: char| c.is_ascii_digit());
    match number.parse::<f64>() {
        Ok(value) if well_formed => Ok((value, unit.trim_start())),
        _ => Err(LimitError::NotANumber { given: given.to_owned(), what, example }),
    }
}

/// Every limit of a box, resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Memory of all processes together; swap is off.
    pub memory: Bytes,
    /// Processor time per second of wall time.
    pub cpus: Cores,
    /// Processes and threads alive at once.
    pub pids: u32,
    /// Wall time of the run.
    pub timeout: TimeSpan,
    /// Time between the polite signal and the final one.
    pub grace: TimeSpan,
    /// Bytes of stdout and stderr together.
    pub output: Bytes,
    /// Writable space that is not a mounted directory of the caller.
    pub disk: Bytes,
    /// Open files per process.
    pub open_files: u32,
    /// Size of one file.
    pub file_size: Bytes,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            memory: Bytes::mib(512),
            cpus: Cores::ONE,
            pids: 100,
            timeout: TimeSpan::from_secs(300),
            grace: TimeSpan::from_millis(500),
            output: Bytes::mib(16),
            disk: Bytes::mib(1024),
            open_files: 1024,
            file_size: Bytes::mib(1024),
        }
    }
}

/// Limits that a caller or a language sets; what is absent stays as it was.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitOverrides {
    /// See [`Limits::memory`].
    pub memory: Option<Bytes>,
    /// See [`Limits::cpus`].
    pub cpus: Option<Cores>,
    /// See [`Limits::pids`].
    pub pids: Option<u32>,
    /// See [`Limits::timeout`].
    pub timeout: Option<TimeSpan>,
    /// See [`Limits::grace`].
    pub grace: Option<TimeSpan>,
    /// See [`Limits::output`].
    pub output: Option<Bytes>,
    /// See [`Limits::disk`].
    pub disk: Option<Bytes>,
    /// See [`Limits::open_files`].
    pub open_files: Option<u32>,
    /// See [`Limits::file_size`].
    pub file_size: Option<Bytes>,
}

impl Limits {
    /// These limits with every override applied.
    #[must_use]
    pub fn with(self, over: &LimitOverrides) -> Limits {
        Limits {
            memory: over.memory.unwrap_or(self.memory),
            cpus: over.cpus.unwrap_or(self.cpus),
            pids: over.pids.unwrap_or(self.pids),
            timeout: over.timeout.unwrap_or(self.timeout),
            grace: over.grace.unwrap_or(self.grace),
            output: over.output.unwrap_or(self.output),
            disk: over.disk.unwrap_or(self.disk),
            open_files: over.open_files.unwrap_or(self.open_files),
            file_size: over.file_size.unwrap_or(self.file_size),
        }
    }
}
