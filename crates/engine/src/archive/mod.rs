//! Archives from strangers, unpacked with limits: nothing is ever written outside, and nothing is
//! left of an archive that is refused.
//!
//! What was unpacked is kept in the cache under the digest of the archive and used again.

mod entry;
mod error;
mod gauge;
mod ground;
mod kind;
mod limits;
mod store;
mod tar;
mod zip;

pub use self::error::{ArchiveError, Refusal};
pub(crate) use self::{limits::UnpackLimits, store::unpacked};

#[cfg(test)]
mod tests;
