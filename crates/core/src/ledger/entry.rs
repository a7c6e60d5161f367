//! What a line of the ledger can be: a run, a decision about a tool, or a note about the ledger
//! itself.

use serde::{Deserialize, Serialize};

use super::{ChainHash, Head, Record, ToolRecord, clip};

/// The beginning of a file of the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileLink {
    /// The file before this one; absent in the first.
    pub after: Option<String>,
}

/// A line that a writer did not finish. It was never part of the chain; the next writer replaced
/// it by this note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Torn {
    /// How many bytes there were.
    pub length: u64,
    /// Their SHA-256.
    pub sha256: ChainHash,
    /// How they began.
    pub text: String,
}

impl Torn {
    /// The note about these bytes.
    pub fn new(bytes: &[u8]) -> Torn {
        let beginning = &bytes[..bytes.len().min(2 * clip::MOST_TEXT)];
        Torn {
            length: bytes.len() as u64,
            sha256: ChainHash::of(bytes),
            text: clip::text(&String::from_utf8_lossy(beginning), clip::MOST_TEXT),
        }
    }
}

/// A writer found fewer lines than its predecessor had left, or no note of how many there were.
/// Verification fails at this line from then on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// Where the ledger had ended; absent if the note of that was gone or unreadable.
    pub head: Option<Head>,
}

/// One line of the ledger, without number, time and hashes.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A run.
    Run(Box<Record>),
    /// A decision about a tool.
    Tool(Box<ToolRecord>),
    /// A file begins.
    Link(FileLink),
    /// A line was not finished.
    Torn(Torn),
    /// Lines are missing at the end.
    Cut(Cut),
}

impl Entry {
    /// The name of the kind, as it stands in the line.
    pub fn kind(&self) -> &'static str {
        match self {
            Entry::Run(_) => "run",
            Entry::Tool(_) => "tool",
            Entry::Link(_) => "link",
            Entry::Torn(_) => "torn",
            Entry::Cut(_) => "cut",
        }
    }

    /// Everything of the entry as a JSON object.
    pub(super) fn to_json(&self) -> Result<String, serde_json::Error> {
        match self {
            Entry::Run(record) => serde_json::to_string(record),
            Entry::Tool(record) => serde_json::to_string(record),
            Entry::Link(link) => serde_json::to_string(link),
            Entry::Torn(torn) => serde_json::to_string(torn),
            Entry::Cut(cut) => serde_json::to_string(cut),
        }
    }

    /// The entry of this kind in a line.
    pub(super) fn from_json(kind: &str, line: &[u8]) -> Option<Entry> {
        match kind {
            "run" => serde_json::from_slice(line).ok().map(|record| Entry::Run(Box::new(record))),
            "tool" => serde_json::from_slice(line).ok().map(|record| Entry::Tool(Box::new(record))),
            "link" => serde_json::from_slice(line).ok().map(Entry::Link),
            "torn" => serde_json::from_slice(line).ok().map(Entry::Torn),
            "cut" => serde_json::from_slice(line).ok().map(Entry::Cut),
            _ => None,
        }
    }
}
