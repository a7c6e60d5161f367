//! What can be wrong with a ledger, and how it is said.

use std::fmt;

use serde::Serialize;

use super::{ChainHash, MOST_LINE_BYTES};

/// What is wrong with a ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum Fault {
    /// The bytes are not a line of a ledger.
    NotARecord,
    /// The line is too long to be one that fumehood wrote.
    TooLong,
    /// The bytes do not have the hash that the line gives.
    Edited,
    /// Lines are missing before this one.
    Missing {
        /// The number that belongs here.
        expected: u64,
        /// The number that is here.
        found: u64,
    },
    /// The line was there before, or stood elsewhere.
    OutOfOrder {
        /// The number that belongs here.
        expected: u64,
        /// The number that is here.
        found: u64,
    },
    /// The line names another line as the one before it.
    Unlinked,
    /// The ledger does not begin with its first line.
    BeginsLate {
        /// The number with which it begins.
        found: u64,
    },
    /// The line is not finished, and is not the last.
    TornInside,
    /// A writer noticed here that lines before had been cut off.
    Cut {
        /// The last line that had been there, if that is known.
        last: Option<u64>,
    },
    /// The ledger ends before its head.
    Truncated {
        /// The last line that is there.
        last: u64,
        /// The last line that was there.
        expected: u64,
    },
    /// The line that the head means is not in the chain.
    HeadDiffers,
    /// The head is gone or unreadable.
    NoHead,
    /// A head that was noted elsewhere is not in the chain.
    NotedHeadMissing {
        /// The head that was noted.
        noted: ChainHash,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NotARecord => f.write_str("it is not a record: it was edited or overwritten"),
            Fault::TooLong => write!(f, "it is longer than {MOST_LINE_BYTES} bytes"),
            Fault::Edited => f.write_str("its bytes do not match its hash: it was edited"),
            Fault::Missing { expected, found } if *found == expected + 1 => {
                write!(f, "record {expected} is missing before it")
            }
            Fault::Missing { expected, found } => {
                write!(f, "records {expected} to {} are missing before it", found - 1)
            }
            Fault::OutOfOrder { expected, found } => {
                write!(f, "record {found} stands where record {expected} belongs")
            }
            Fault::Unlinked => {
                f.write_str("it does not follow the record before it: one of the two was replaced")
            }
            Fault::BeginsLate { found } => write!(
                f,
                "the ledger begins with record {found}, and records before it are missing; \
                 if you archived them, use --archived"
            ),
            Fault::TornInside => f.write_str("it is cut off in the middle"),
            Fault::Cut { last: Some(last) } => {
                write!(f, "records before it, up to record {last}, had been cut off or replaced")
            }
            Fault::Cut { last: None } => f.write_str(
                "the head was gone when it was written: records may be missing before it",
            ),
            Fault::Truncated { last, expected } => write!(
                f,
                "the ledger ends with record {last}, but record {expected} had been written: its end was cut off"
            ),
            Fault::HeadDiffers => f.write_str(
                "what is written there is not what the head file says: one was replaced",
            ),
            Fault::NoHead => {
                f.write_str("the head file is gone or unreadable: the end may be missing")
            }
            Fault::NotedHeadMissing { noted } => write!(
                f,
                "no record has the noted hash {noted}: the ledger was rewritten or its end cut off"
            ),
        }
    }
}

/// The first thing that is wrong with a ledger, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{}{fault}", self.place())]
pub struct Broken {
    /// The file.
    pub file: String,
    /// The line in it, counted from 1; absent if no line is wrong but something about all.
    pub line: Option<u64>,
    /// The number of the record that belongs there.
    pub record: Option<u64>,
    /// The id that the line gives, if it can be read.
    pub id: Option<String>,
    /// What is wrong.
    #[serde(flatten)]
    pub fault: Fault,
}

impl Broken {
    fn place(&self) -> String {
        let mut place = self.file.clone();
        if let Some(line) = self.line {
            place += &format!(" line {line}");
        }
        if let Some(record) = self.record {
            place += &format!(", record {record}");
        }
        if let Some(id) = &self.id {
            place += &format!(" (run {id})");
        }
        place + ": "
    }
}
