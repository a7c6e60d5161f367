//! What supervisor and launcher say to each other, one message per packet.

use alloc::{string::String, vec::Vec};

use super::{
    DecodeError, Setup,
    wire::{Reader, Writer},
};

/// Supervisor to launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToLauncher {
    /// Build a box. The packet carries one descriptor: the box's end of its control channel.
    Open {
        /// The supervisor's number for the box.
        number: u32,
        /// How to build it.
        setup: Setup,
    },
    /// End a box at once.
    Kill {
        /// Which one.
        number: u32,
    },
}

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
    /// Processor time in nanoseconds.
    pub cpu_nanos: Option<u64>,
}

/// Launcher to supervisor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromLauncher {
    /// The box could not be made.
    OpenFailed {
        /// Which box.
        number: u32,
        /// The step that failed.
        step: String,
        /// The system's error number.
        errno: i32,
    },
    /// The box is gone, with all its processes and its cgroups.
    Closed {
        /// Which box.
        number: u32,
        /// What it used.
        usage: BoxUsage,
    },
}

impl ToLauncher {
    /// The message as bytes.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            ToLauncher::Open { number, setup } => {
                let mut w = Writer::with_tag(1);
                w.u32(*number);
                setup.write(&mut w);
                w.0
            }
            ToLauncher::Kill { number } => {
                let mut w = Writer::with_tag(2);
                w.u32(*number);
                w.0
            }
        }
    }

    /// Reads a message; every byte must belong to it.
    pub fn decode(message: &[u8]) -> Result<ToLauncher, DecodeError> {
        let mut r = Reader::new(message)?;
        let decoded = match r.u8()? {
            1 => ToLauncher::Open { number: r.u32()?, setup: Setup::read(&mut r)? },
            2 => ToLauncher::Kill { number: r.u32()? },
            _ => return Err(DecodeError::Unknown("message to launcher")),
        };
        r.finish(decoded)
    }
}

impl FromLauncher {
    /// The message as bytes.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            FromLauncher::OpenFailed { number, step, errno } => {
                let mut w = Writer::with_tag(1);
                w.u32(*number);
                w.text(step);
                w.u32(*errno as u32);
                w.0
            }
            FromLauncher::Closed { number, usage } => {
                let mut w = Writer::with_tag(2);
                w.u32(*number);
                for value in [
                    usage.memory_peak,
                    usage.oom_kills,
                    usage.pids_peak,
                    usage.pids_refused,
                    usage.cpu_nanos,
                ] {
                    w.bool(value.is_some());
                    w.u64(value.unwrap_or(0));
                }
                w.0
            }
        }
    }

    /// Reads a message; every byte must belong to it.
    pub fn decode(message: &[u8]) -> Result<FromLauncher, DecodeError> {
        let mut r = Reader::new(message)?;
        let decoded = match r.u8()? {
            1 => FromLauncher::OpenFailed {
                number: r.u32()?,
                step: r.text()?,
                errno: r.u32()? as i32,
            },
            2 => FromLauncher::Closed {
                number: r.u32()?,
                usage: BoxUsage {
                    memory_peak: optional(&mut r)?,
                    oom_kills: optional(&mut r)?,
                    pids_peak: optional(&mut r)?,
                    pids_refused: optional(&mut r)?,
                    cpu_nanos: optional(&mut r)?,
                },
            },
            _ => return Err(DecodeError::Unknown("message from launcher")),
        };
        r.finish(decoded)
    }
}

fn optional(r: &mut Reader<'_>) -> Result<Option<u64>, DecodeError> {
    let present = r.bool()?;
    let value = r.u64()?;
    Ok(present.then_some(value))
}
