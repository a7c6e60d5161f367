//! One line of the ledger as bytes: how it is written, and how it is taken apart again.
//!
//! `{"seq":7,"time":"…","entry":"run",…,"previous":"…","hash":"…"}`. The hash is the SHA-256 of
//! the bytes before `,"hash":`. Since those hold the hash of the line before, this chains them.

use serde::Deserialize;

use super::{ChainHash, Entry, Head, Moment};

/// No line is longer, and longer ones are not read.
pub const MOST_LINE_BYTES: usize = 8 << 20;

const FIRST: &str = "{\"seq\":";
const HASH: &str = ",\"hash\":\"";
const END: &str = "\"}";
/// The bytes of a line from `,"hash":` on.
const HASH_PART: usize = HASH.len() + ChainHash::TEXT_LENGTH + END.len();

/// Writes the line that follows `after`, with its newline. Gives the new head as well.
pub fn seal_line(
    entry: &Entry,
    time: Moment,
    after: Head,
) -> Result<(Vec<u8>, Head), serde_json::Error> {
    let seq = after.seq + 1;
    let fields = entry.to_json()?;
    // An object with at least one field: every kind of entry has one.
    let fields = fields.strip_prefix('{').and_then(|f| f.strip_suffix('}')).unwrap_or_default();
    let kind = entry.kind();
    let mut line = format!(
        "{FIRST}{seq},\"time\":\"{time}\",\"entry\":\"{kind}\",{fields},\"previous\":\"{}\"",
        after.hash
    );
    let hash = ChainHash::of(line.as_bytes());
    line.push_str(&format!("{HASH}{hash}{END}\n"));
    Ok((line.into_bytes(), Head { seq, hash }))
}

/// Bytes that are not a line of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not a line of a ledger")]
pub struct NotALine;

/// The hashed bytes of a line (without its newline), and the hash that it gives.
pub(super) fn split(line: &[u8]) -> Result<(&[u8], ChainHash), NotALine> {
    let (body, rest) = line.split_at_checked(line.len().wrapping_sub(HASH_PART)).ok_or(NotALine)?;
    let rest = std::str::from_utf8(rest).map_err(|_| NotALine)?;
    let hash = rest.strip_prefix(HASH).and_then(|rest| rest.strip_suffix(END)).ok_or(NotALine)?;
    Ok((body, hash.parse().map_err(|_| NotALine)?))
}

/// The number with which these bytes begin, if they are the beginning of a line.
pub fn first_number(line: &[u8]) -> Result<u64, NotALine> {
    let rest = line.strip_prefix(FIRST.as_bytes()).ok_or(NotALine)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if rest.get(digits) != Some(&b',') {
        return Err(NotALine);
    }
    let digits = std::str::from_utf8(&rest[..digits]).map_err(|_| NotALine)?;
    digits.parse().map_err(|_| NotALine)
}

/// What the next line has to follow, if this (without its newline) is the last one. Believes what
/// the line says; whether it is true is for verification to find out.
pub fn link_of(line: &[u8]) -> Result<Head, NotALine> {
    let (_, hash) = split(line)?;
    Ok(Head { seq: first_number(line)?, hash })
}

/// The fields that every line has.
#[derive(Debug, Deserialize)]
pub(super) struct Frame {
    pub(super) seq: u64,
    pub(super) time: Moment,
    pub(super) entry: String,
    pub(super) previous: ChainHash,
    pub(super) hash: ChainHash,
}

/// A line that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Its number.
    pub seq: u64,
    /// When it was written.
    pub time: Moment,
    /// What it says.
    pub entry: Entry,
    /// The hash of the line before.
    pub previous: ChainHash,
    /// Its own hash.
    pub hash: ChainHash,
}

impl Stored {
    /// Reads a line without its newline. Fields that are not known are left out, so that a newer
    /// ledger can be read; the chain is not looked at.
    pub fn read(line: &[u8]) -> Result<Stored, NotALine> {
        let frame: Frame = serde_json::from_slice(line).map_err(|_| NotALine)?;
        let entry = Entry::from_json(&frame.entry, line).ok_or(NotALine)?;
        let Frame { seq, time, previous, hash, .. } = frame;
        Ok(Stored { seq, time, entry, previous, hash })
    }
}
