//! The language between the supervisor and the programs that build and inhabit boxes.
//!
//! Two conversations share one encoding. The *control channel* is a byte stream between the
//! supervisor and the init of one box, on every backend; its messages travel in [`frame`]s. The
//! *launcher channel* carries one message per packet between the supervisor and the launcher of
//! native boxes. Both ends decode strictly: every length is bounded before anything is allocated,
//! every byte must be used, and any surprise ends the conversation.

mod carry;
pub mod frame;
mod launcher;
mod lend;
mod message;
mod order;
mod setup;
mod usage;
mod wire;

pub use carry::{CARRY_WINDOW, MAX_DNS, MOST_CARRIED, Passage};
pub use launcher::{FromLauncher, ToLauncher};
pub use lend::{Lend, LentSocket, MOST_LENT, MOST_LENT_PORTS, RESOLVER};
pub use message::{Ending, Exec, FromInit, ProcessUsage, Report, Stream, ToInit};
pub use order::BoxOrder;
pub use setup::{
    BindMount, CgroupLimits, Content, Cover, CoverKind, OverlayMount, Resource, Rlimit, Setup,
    SetupFile, SetupLink,
};
pub use usage::BoxUsage;
pub use wire::DecodeError;

/// Version of both conversations. Supervisor and init travel together, so there is no
/// negotiation: another version is an error.
pub const VERSION: u16 = 1;

/// The longest message, without its length prefix.
pub const MAX_MESSAGE: usize = 1 << 20;

/// The longest piece of stream or file data in one message.
pub const MAX_DATA: usize = 64 << 10;

/// How much standard input may be under way without the box having asked for more.
pub const STDIN_WINDOW: u32 = 256 << 10;

/// The user and group that a program has inside a native box.
pub const BOX_UID: u32 = 1000;

/// How the name of a step begins that failed because an overlay cannot be made.
pub const OVERLAY_STEP: &str = "overlay:";

#[cfg(test)]
mod tests;
