//! The way to the supervisor: one socket, or the two pipes that an engine gives its containers.

use alloc::vec::Vec;
use core::mem::MaybeUninit;

use fumehood_core::protocol::MOST_LENT;
use rustix::{
    event::{PollFd, PollFlags},
    fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd},
    io::{Errno, IoSlice},
    net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg},
};

/// A control channel.
pub(crate) enum Channel {
    /// Both ways.
    Socket(OwnedFd),
    /// One way each.
    Pipes {
        /// What the supervisor says.
        input: OwnedFd,
        /// What it hears.
        output: OwnedFd,
    },
}

impl Channel {
    /// Reads what the supervisor says. Nothing means that it is gone.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> Result<usize, Errno> {
        rustix::io::read(self.input(), buffer)
    }

    /// Sends as much as fits.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<usize, Errno> {
        match self {
            Channel::Socket(socket) => rustix::net::send(socket, bytes, SendFlags::NOSIGNAL),
            // Process 1 is not ended by the signal for a pipe without a reader.
            Channel::Pipes { output, .. } => rustix::io::write(output, bytes),
        }
    }

    /// Sends a short message together with descriptors. Pipes cannot carry any.
    pub(crate) fn hand_out(&self, message: &[u8], passed: &[OwnedFd]) -> Result<(), Errno> {
        let Channel::Socket(socket) = self else { return Err(Errno::OPNOTSUPP) };
        let passed: Vec<BorrowedFd<'_>> = passed.iter().map(OwnedFd::as_fd).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_LENT))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !ancillary.push(SendAncillaryMessage::ScmRights(&passed)) {
            return Err(Errno::TOOBIG);
        }
        let sent = sendmsg(socket, &[IoSlice::new(message)], &mut ancillary, SendFlags::NOSIGNAL)?;
        if sent == message.len() { Ok(()) } else { Err(Errno::MSGSIZE) }
    }

    /// From now on nothing waits.
    pub(super) fn never_wait(&self) -> Result<(), Errno> {
        rustix::io::ioctl_fionbio(self.input(), true)?;
        match self {
            Channel::Socket(_) => Ok(()),
            Channel::Pipes { output, .. } => rustix::io::ioctl_fionbio(output, true),
        }
    }

    /// What to wait for. The first is about what can be read.
    pub(super) fn polled(&self, something_to_say: bool) -> (PollFd<'_>, Option<PollFd<'_>>) {
        let saying = if something_to_say { PollFlags::OUT } else { PollFlags::empty() };
        match self {
            Channel::Socket(socket) => (PollFd::new(socket, PollFlags::IN | saying), None),
            Channel::Pipes { input, output } => {
                (PollFd::new(input, PollFlags::IN), Some(PollFd::new(output, saying)))
            }
        }
    }

    /// The descriptors that must stay open.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = i32> {
        let (input, output) = match self {
            Channel::Socket(socket) => (socket, None),
            Channel::Pipes { input, output } => (input, Some(output)),
        };
        [Some(input), output].into_iter().flatten().map(|descriptor| descriptor.as_raw_fd())
    }

    fn input(&self) -> &OwnedFd {
        match self {
            Channel::Socket(socket) => socket,
            Channel::Pipes { input, .. } => input,
        }
    }
}
