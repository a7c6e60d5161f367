//! What supervisor and launcher say to each other, one message per packet.

use alloc::{boxed::Box, string::String, vec::Vec};

use super::{
    BoxUsage, Content, DecodeError, Setup,
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
        setup: Box<Setup>,
    },
    /// Prepare every box from now on with this content, ahead of need.
    Base(Content),
    /// End a box at once.
    Kill {
        /// Which one.
        number: u32,
    },
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
            ToLauncher::Base(content) => {
                let mut w = Writer::with_tag(3);
                content.write(&mut w);
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
            1 => ToLauncher::Open { number: r.u32()?, setup: Box::new(Setup::read(&mut r)?) },
            2 => ToLauncher::Kill { number: r.u32()? },
            3 => ToLauncher::Base(Content::read(&mut r)?),
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
                usage.write(&mut w);
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
            2 => FromLauncher::Closed { number: r.u32()?, usage: BoxUsage::read(&mut r)? },
            _ => return Err(DecodeError::Unknown("message from launcher")),
        };
        r.finish(decoded)
    }
}
