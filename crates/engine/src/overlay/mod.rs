//! Workspaces that a program sees as a copy: where its changes are kept, what they are, and how
//! they get into the real directory, if the caller wants them there.
//!
//! Whatever is done on the host side is done relative to directory descriptors, without following
//! links: everything in an overlay was made by a program that nobody trusts.

mod apply;
mod changes;
mod check;
mod diff;
mod error;
mod guard;
mod hand;
mod place;
mod record;
mod remove;
mod select;
mod stamp;
mod storage;
mod store;
#[cfg(test)]
mod tests;
mod tree;
mod unified;

pub use self::{
    apply::Applied,
    diff::FileStatistics,
    error::{Conflict, OverlayError, Reason},
    select::LeftOut,
    store::{Overlay, Overlays},
};
pub(crate) use self::{
    guard::guarded,
    place::state_dir,
    storage::{Kept, Storage},
};
