//! The launcher: makes native boxes for one supervisor, waits for their end, cleans up after them.
//!
//! It listens on descriptor 0. When the supervisor goes away, however that happens, the channel
//! ends, and the launcher ends every box, removes what it made, and exits.

mod blank;
mod cgroup;
mod identity;
mod sources;

use alloc::{string::String, vec, vec::Vec};
use core::mem::MaybeUninit;

use fumehood_core::protocol::{FromLauncher, MAX_MESSAGE, Setup, ToLauncher};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fd::OwnedFd,
    io::Errno,
    net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, recvmsg, send},
    process::{Pid, Signal, WaitOptions, kill_process, wait},
};

use self::blank::{Base, Blank, Maker};
use crate::{failure::Failure, sys};

/// How long nothing must happen before boxes are prepared: short against what people notice, long
/// against a small program, which would have to share the processors with us.
const IDLE: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };

/// A box that was handed its set-up.
struct Running {
    pid: Pid,
    number: u32,
    cgroup: String,
}

struct Launcher {
    maker: Result<Maker, Failure>,
    ready: Vec<Blank>,
    keep_ready: usize,
    base: Option<Base>,
    running: Vec<Running>,
    /// Blanks that were killed and not yet waited for.
    dying: Vec<Blank>,
}

/// Runs the launcher. One box is prepared at once, and `keep_ready` whenever there is time.
pub(crate) fn main(keep_ready: usize) -> u8 {
    share_processors();
    // A terminal's Ctrl-C is for the supervisor, which then tells us.
    let _ = rustix::process::setsid();
    let Ok(signals) = sys::open_signal_queue() else { return 1 };
    raise_descriptor_limit();
    let mut launcher = Launcher {
        maker: Maker::new(keep_ready > 0),
        ready: Vec::new(),
        keep_ready,
        base: None,
        running: Vec::new(),
        dying: Vec::new(),
    };
    launcher.prepare(1);
    launcher.serve(&signals);
    launcher.end_everything();
    0
}

/// Allows us, and the boxes to come, the processors of our parent. It may have sent us away from
/// its own, so that we would not wait behind it (see `early`).
fn share_processors() {
    let parent = rustix::process::getppid();
    if let Ok(processors) = rustix::thread::sched_getaffinity(parent) {
        let _ = rustix::thread::sched_setaffinity(None, &processors);
    }
}

impl Launcher {
    fn serve(&mut self, signals: &OwnedFd) {
        let mut packet = vec![0u8; MAX_MESSAGE];
        loop {
            let mut polled = [
                PollFd::from_borrowed_fd(sys::descriptor(0), PollFlags::IN),
                PollFd::new(signals, PollFlags::IN),
            ];
            let lacking = self.ready.len() < self.keep_ready && self.base.is_some();
            match poll(&mut polled, lacking.then_some(&IDLE)) {
                // Nobody wants anything: a good time to prepare what was used up.
                Ok(0) => self.prepare(self.keep_ready),
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return,
            }
            let (asked, ended) = (!polled[0].revents().is_empty(), !polled[1].revents().is_empty());
            if ended {
                let mut discarded = [0u8; 1024];
                let _ = rustix::io::read(signals, &mut discarded);
                self.reap();
            }
            if asked && !self.answer(&mut packet) {
                return;
            }
            if ended && !asked {
                // A box is gone, and nobody waits for another: make up for it.
                self.prepare(self.keep_ready);
            }
        }
    }

    /// Takes one packet. False when the supervisor is gone or speaks another language.
    fn answer(&mut self, packet: &mut [u8]) -> bool {
        let (length, passed) = match receive(packet) {
            Ok((0, _)) => return false,
            Ok(received) => received,
            Err(Errno::INTR | Errno::AGAIN) => return true,
            Err(_) => return false,
        };
        match (ToLauncher::decode(&packet[..length]), passed) {
            (Ok(ToLauncher::Open { number, setup }), Some(channel)) => {
                match self.open(number, &setup, &packet[..length], channel) {
                    Ok(()) => true,
                    Err(Failure { step, errno }) => {
                        reply_with(&FromLauncher::OpenFailed { number, step, errno })
                    }
                }
            }
            (Ok(ToLauncher::Base(content)), None) => {
                let base = Base { content, packet: packet[..length].to_vec() };
                // A blank with another base is of no use any more.
                for blank in core::mem::take(&mut self.ready) {
                    match blank.base {
                        Ok(false) => self.ready.push(blank),
                        _ => self.discard(blank),
                    }
                }
                for blank in &mut self.ready {
                    blank.give_base(&base);
                }
                self.base = Some(base);
                true
            }
            (Ok(ToLauncher::Kill { number }), None) => {
                for running in self.running.iter().filter(|running| running.number == number) {
                    if let Ok(maker) = &self.maker {
                        maker.cgroups.kill(&running.cgroup);
                    }
                    let _ = kill_process(running.pid, Signal::KILL);
                }
                true
            }
            _ => false,
        }
    }

    fn open(
        &mut self,
        number: u32,
        setup: &Setup,
        packet: &[u8],
        channel: OwnedFd,
    ) -> Result<(), Failure> {
        let maker = match &mut self.maker {
            Ok(maker) => maker,
            Err(failure) => {
                return Err(Failure { step: failure.step.clone(), errno: failure.errno });
            }
        };
        let fits = |blank: &Blank| match blank.base {
            Ok(based) => based == setup.on_base && setup.without.is_empty(),
            Err(_) => setup.on_base,
        };
        let mut blank = match self.ready.iter().position(fits) {
            Some(index) => self.ready.swap_remove(index),
            None => {
                let mut blank = maker.blank(&setup.without)?;
                if let Some(base) = self.base.as_ref().filter(|_| setup.on_base) {
                    blank.give_base(base);
                }
                blank
            }
        };
        if let Err(failure) = &blank.base {
            let failure = Failure { step: failure.step.clone(), errno: failure.errno };
            self.discard(blank);
            return Err(failure);
        }
        let held = blank.cgroup.limit(&setup.cgroup, &setup.without);
        let handed_over = blank.hand_over(setup, packet, channel, held);
        if handed_over.is_err() {
            self.discard(blank);
            return handed_over;
        }
        self.running.push(Running { pid: blank.pid, number, cgroup: blank.cgroup.name });
        Ok(())
    }

    /// Ends a blank that cannot be used.
    fn discard(&mut self, blank: Blank) {
        let _ = kill_process(blank.pid, Signal::KILL);
        self.dying.push(blank);
    }

    fn prepare(&mut self, count: usize) {
        let Ok(maker) = &mut self.maker else { return };
        while self.ready.len() < count {
            match maker.blank(&[]) {
                Ok(mut blank) => {
                    if let Some(base) = &self.base {
                        blank.give_base(base);
                    }
                    self.ready.push(blank);
                }
                // The same failure will be told to whoever asks for a box.
                Err(_) => return,
            }
        }
    }

    fn reap(&mut self) {
        while let Ok(Some((pid, _))) = wait(WaitOptions::NOHANG) {
            self.bury(pid);
        }
        self.sweep();
    }

    fn bury(&mut self, pid: Pid) {
        let Ok(maker) = &self.maker else { return };
        if let Some(index) = self.running.iter().position(|running| running.pid == pid) {
            let Running { number, cgroup, .. } = self.running.swap_remove(index);
            let usage = maker.cgroups.usage(&cgroup);
            maker.cgroups.remove(&cgroup);
            let _ = reply_with(&FromLauncher::Closed { number, usage });
            return;
        }
        for blanks in [&mut self.ready, &mut self.dying] {
            if let Some(index) = blanks.iter().position(|blank| blank.pid == pid) {
                maker.cgroups.remove(&blanks.swap_remove(index).cgroup.name);
                return;
            }
        }
    }

    /// Removes what launchers that died left behind, once, when a box is over: before that every
    /// moment is one that somebody waits for.
    fn sweep(&mut self) {
        if let Ok(maker) = &mut self.maker {
            maker.sweep_once();
        }
    }

    fn end_everything(&mut self) {
        self.sweep();
        for pid in self
            .running
            .iter()
            .map(|running| running.pid)
            .chain(self.ready.iter().map(|blank| blank.pid))
        {
            let _ = kill_process(pid, Signal::KILL);
        }
        while !(self.running.is_empty() && self.ready.is_empty() && self.dying.is_empty()) {
            match wait(WaitOptions::empty()) {
                Ok(Some((pid, _))) => self.bury(pid),
                Ok(None) | Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }
}

/// Boxes that are being prepared or handed over need descriptors; many at once need many.
fn raise_descriptor_limit() {
    let resource = linux_raw_sys::general::RLIMIT_NOFILE;
    if let Ok((_, hard)) = sys::rlimit(resource) {
        let _ = sys::set_rlimit(resource, hard);
    }
}

/// Receives one packet and the descriptor that may come with it.
fn receive(packet: &mut [u8]) -> Result<(usize, Option<OwnedFd>), Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(
        sys::descriptor(0),
        &mut [rustix::io::IoSliceMut::new(packet)],
        &mut ancillary,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    let mut passed = None;
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            passed = descriptors.last();
        }
    }
    Ok((received.bytes, passed))
}

fn reply_with(reply: &FromLauncher) -> bool {
    send(sys::descriptor(0), &reply.encode(), SendFlags::NOSIGNAL).is_ok()
}
