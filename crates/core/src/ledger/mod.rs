//! The ledger as data: what is recorded of a run or of a tool, how records are chained, and how the chain is
//! checked. Nothing here touches a file.
//!
//! A ledger is a sequence of lines. Each is one JSON object that begins with its number and ends
//! with the SHA-256 of everything before that hash; the bytes that are hashed hold the hash of the
//! line before. So a line cannot be changed, removed, added or moved without breaking the chain.
//! What the chain alone cannot show is that its end is missing: for that there is a [`Head`], kept
//! beside the lines.

mod broken;
mod caller;
mod clip;
mod entry;
mod filter;
mod hash;
mod head;
mod line;
mod moment;
mod record;
mod salt;
mod summary;
mod tool;
mod verify;

#[cfg(test)]
mod tests;

pub use self::{
    broken::{Broken, Fault},
    caller::Caller,
    entry::{Cut, Entry, FileLink, Torn},
    filter::{Filter, ViolationFilter},
    hash::{ChainHash, NotAHash},
    head::{Head, NotAHead},
    line::{MOST_LINE_BYTES, NotALine, Stored, first_number, link_of, seal_line},
    moment::{Moment, NotAMoment},
    record::{Extras, NetworkDecision, Record, record},
    salt::Salt,
    summary::{
        MountSummary, ProgramKind, Recording, RequestSummary, Sealed, StdinSummary,
        WorkspaceSummary,
    },
    tool::ToolRecord,
    verify::{Verified, Verifier},
};
