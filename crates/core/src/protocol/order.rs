//! The first message to the init of a container: what the engine was asked for, and what init is
//! to do besides.

use alloc::vec::Vec;

use super::{
    DecodeError, Report, Setup,
    message::{read_report, write_report},
    wire::{Reader, Writer},
};

/// Not a number of any other message to init, so that neither can be taken for the other.
const TAG: u8 = 64;

/// What the init of a container does before it serves. The engine has built the root: of the
/// set-up only limits, writable places and layers count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoxOrder {
    /// What init applies.
    pub setup: Setup,
    /// What the engine was asked for. Init corrects what it sees to be otherwise.
    pub given: Vec<Report>,
}

impl BoxOrder {
    /// The message as bytes, without a frame.
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer::with_tag(TAG);
        self.setup.write(&mut w);
        w.list(&self.given, write_report);
        w.0
    }

    /// Reads a message; every byte must belong to it.
    pub fn decode(message: &[u8]) -> Result<BoxOrder, DecodeError> {
        let mut r = Reader::new(message)?;
        if r.u8()? != TAG {
            return Err(DecodeError::Unknown("order for a box"));
        }
        let order = BoxOrder { setup: Setup::read(&mut r)?, given: r.list(read_report)? };
        r.finish(order)
    }
}
