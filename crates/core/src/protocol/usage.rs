//! What cgroups count for a box as a whole.

use super::{
    DecodeError,
    wire::{Reader, Writer},
};

/// What a cgroup counted for a box; `None` where there is no cgroup to ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoxUsage {
    /// The most memory at one time, in bytes.
    pub memory_peak: Option<u64>,
    /// How often the kernel killed for want of memory.
    pub oom_kills: Option<u64>,
    /// The most processes at one time.
    pub pids_peak: Option<u64>,
    /// How often a fork was refused.
    pub pids_refused: Option<u64>,
}

impl BoxUsage {
    pub(super) fn write(&self, w: &mut Writer) {
        for value in [self.memory_peak, self.oom_kills, self.pids_peak, self.pids_refused] {
            w.bool(value.is_some());
            w.u64(value.unwrap_or(0));
        }
    }

    pub(super) fn read(r: &mut Reader<'_>) -> Result<BoxUsage, DecodeError> {
        Ok(BoxUsage {
            memory_peak: optional(r)?,
            oom_kills: optional(r)?,
            pids_peak: optional(r)?,
            pids_refused: optional(r)?,
        })
    }
}

/// An absent number has one encoding only.
fn optional(r: &mut Reader<'_>) -> Result<Option<u64>, DecodeError> {
    match (r.bool()?, r.u64()?) {
        (true, value) => Ok(Some(value)),
        (false, 0) => Ok(None),
        (false, _) => Err(DecodeError::Unknown("absent number")),
    }
}
