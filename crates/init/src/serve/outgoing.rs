//! Messages on their way to the supervisor. Bounded: while they pile up, nothing more is read from
//! the program, and a program that writes faster than anyone reads simply waits.

use alloc::vec::Vec;

use fumehood_core::protocol::{FromInit, frame};
use rustix::io::Errno;

use super::Channel;

const ENOUGH: usize = 256 << 10;

#[derive(Default)]
pub(super) struct Outgoing {
    buffer: Vec<u8>,
    sent: usize,
}

impl Outgoing {
    pub(super) fn push(&mut self, message: &FromInit) {
        frame::append(&mut self.buffer, &message.encode());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sent == self.buffer.len()
    }

    pub(super) fn has_room(&self) -> bool {
        self.buffer.len() - self.sent < ENOUGH
    }

    /// Sends what can be sent without waiting.
    pub(super) fn flush(&mut self, channel: &Channel) -> Result<(), Errno> {
        while !self.is_empty() {
            match channel.write(&self.buffer[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    self.forget_sent();
                    return Ok(());
                }
                Err(errno) => return Err(errno),
            }
        }
        self.forget_sent();
        Ok(())
    }

    fn forget_sent(&mut self) {
        self.buffer.drain(..self.sent);
        self.sent = 0;
    }
}
