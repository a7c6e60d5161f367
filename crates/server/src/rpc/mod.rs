//! JSON-RPC 2.0 over a pair of byte streams, one object per line. The protocol is described in
//! `docs/RPC.md`.
//!
//! Lines are read and written by threads of their own, so that neither a silent client nor one that
//! does not read holds up a box.

mod content;
mod explain;
mod fault;
mod fields;
mod lines;
mod message;
mod output;
mod request;
mod run;
mod runs;
mod server;

pub use self::server::{Configure, Ended, Server};

/// The version of the protocol.
pub const PROTOCOL: u64 = 1;

/// The longest line that is taken. Longer ones are answered with an error and skipped.
pub const LONGEST_LINE: usize = 64 << 20;
