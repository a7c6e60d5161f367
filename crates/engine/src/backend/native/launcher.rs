//! The launcher process, seen from the supervisor: one packet socket, and a thread that listens.

use std::{
    collections::HashMap,
    io,
    mem::MaybeUninit,
    os::fd::{AsFd, AsRawFd, OwnedFd},
    process::{Command, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, Once, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use fumehood_core::protocol::{Content, FromLauncher, MAX_MESSAGE, Setup, ToLauncher};
use rustix::{
    io::{Errno, IoSlice, retry_on_intr},
    net::{
        AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, Shutdown,
        SocketFlags, SocketType, recv, sendmsg, shutdown, socketpair,
    },
    process::{Pid, WaitOptions, waitpid},
};
use tokio::sync::oneshot;

use super::{super::embedded, Closing};
use crate::Error;

/// Boxes that are open, by number, and who waits for their end.
type Waiting = Arc<Mutex<HashMap<u32, oneshot::Sender<Closing>>>>;

/// A launcher process.
pub(super) struct Launcher {
    socket: Arc<OwnedFd>,
    waiting: Waiting,
    next: AtomicU32,
    process: Mutex<Option<Pid>>,
    listening: Arc<Once>,
    /// Whether it was started for the one run of this process.
    of_one_run: bool,
}

impl Launcher {
    pub(super) fn start(keep_ready: u8) -> Result<Launcher, Error> {
        let failed = |step: &str, error: io::Error| Error::Setup {
            step: step.into(),
            reason: error.to_string(),
        };
        if keep_ready == 0
            && let Some(early) = fumehood_embedded::take_early_launcher()
        {
            return Ok(Launcher::new(early.socket, Pid::from_raw(early.process), true));
        }
        let init = embedded::sealed_init()?;
        let kind = SocketType::SEQPACKET;
        let (ours, theirs) = socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)
            .map_err(|error| failed("launcher channel", error.into()))?;
        let child = Command::new(format!("/proc/self/fd/{}", init.as_raw_fd()))
            .arg("launcher")
            // Each further argument is one box kept ready.
            .args(std::iter::repeat_n("ready", usize::from(keep_ready)))
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| failed("starting the launcher", error))?;
        let launcher = Launcher::new(ours, Pid::from_raw(child.id().cast_signed()), false);
        // A program of a single run hears of the launcher only if something goes wrong: it can
        // do without the thread until then.
        if keep_ready > 0 {
            listen_once(&launcher.listening, &launcher.socket, &launcher.waiting);
        }
        Ok(launcher)
    }

    fn new(socket: OwnedFd, process: Option<Pid>, of_one_run: bool) -> Launcher {
        Launcher {
            socket: Arc::new(socket),
            waiting: Waiting::default(),
            next: AtomicU32::new(0),
            process: Mutex::new(process),
            listening: Arc::new(Once::new()),
            of_one_run,
        }
    }

    /// Has all boxes from now on prepared with this content.
    pub(super) fn prepare(&self, content: Content) -> Result<(), Error> {
        send(&self.socket, &ToLauncher::Base(content).encode(), None).map_err(|error| {
            Error::Setup {
                step: "telling the launcher what boxes have in common".into(),
                reason: io::Error::from(error).to_string(),
            }
        })
    }

    /// Asks for a box whose init will speak on this end of a channel.
    pub(super) fn open(&self, setup: Setup, channel: OwnedFd) -> Result<Ticket, Error> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, closing) = oneshot::channel();
        lock(&self.waiting).insert(number, sender);
        let message = ToLauncher::Open { number, setup: Box::new(setup) }.encode();
        let ticket = Ticket {
            number,
            closing: Some(closing),
            seen: None,
            socket: Arc::clone(&self.socket),
            waiting: Arc::clone(&self.waiting),
            listening: Arc::clone(&self.listening),
            of_one_run: self.of_one_run,
        };
        match send(&self.socket, &message, Some(&channel)) {
            Ok(()) => Ok(ticket),
            Err(error) => {
                lock(&self.waiting).remove(&number);
                Err(Error::Setup {
                    step: "asking the launcher for a box".into(),
                    reason: io::Error::from(error).to_string(),
                })
            }
        }
    }

    /// Leaves the launcher alone. It ends all boxes, cleans up and exits when this process is gone
    /// and the socket with it: told any earlier, it would only be in the way of our own end.
    pub(super) fn detach(&self) {
        std::mem::forget(Arc::clone(&self.socket));
        lock(&self.process).take();
    }

    /// Ends the launcher: it ends all boxes, cleans up and exits.
    pub(super) fn stop(&self) {
        if let Some(process) = lock(&self.process).take() {
            let _ = shutdown(&*self.socket, Shutdown::Both);
            let _ = retry_on_intr(|| waitpid(Some(process), WaitOptions::empty()));
        }
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A box that was asked for.
pub(super) struct Ticket {
    number: u32,
    closing: Option<oneshot::Receiver<Closing>>,
    seen: Option<Closing>,
    socket: Arc<OwnedFd>,
    waiting: Waiting,
    listening: Arc<Once>,
    of_one_run: bool,
}

impl Ticket {
    /// True for a box of a process that ends when the box has.
    pub(super) fn is_of_one_run(&self) -> bool {
        self.of_one_run
    }

    pub(super) fn kill(&self) {
        let message = ToLauncher::Kill { number: self.number }.encode();
        let _ = send(&self.socket, &message, None);
    }

    /// Does not care any more; the launcher cleans up by itself.
    pub(super) fn let_go(mut self) {
        self.closing = None;
    }

    pub(super) async fn closed(&mut self) -> Closing {
        listen_once(&self.listening, &self.socket, &self.waiting);
        if let Some(receiver) = &mut self.closing {
            // An error means that the launcher is gone, and with it the box.
            let closing = receiver.await.unwrap_or_else(|_| Closing {
                failure: Some(("the launcher ended unexpectedly, which".into(), 0)),
                ..Closing::default()
            });
            self.closing = None;
            self.seen = Some(closing);
        }
        self.seen.clone().unwrap_or_default()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.closing.is_some() {
            self.kill();
        }
    }
}

fn send(socket: &OwnedFd, message: &[u8], passed: Option<&OwnedFd>) -> Result<(), Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let passed = passed.map(|descriptor| [descriptor.as_fd()]);
    if let Some(passed) = &passed {
        ancillary.push(SendAncillaryMessage::ScmRights(passed));
    }
    loop {
        match sendmsg(socket, &[IoSlice::new(message)], &mut ancillary, SendFlags::NOSIGNAL) {
            Err(Errno::INTR) => {}
            sent => return sent.map(drop),
        }
    }
}

/// Starts the thread that hears the launcher, unless it is there already.
fn listen_once(listening: &Once, socket: &Arc<OwnedFd>, waiting: &Waiting) {
    listening.call_once(|| {
        let (socket, waiting) = (Arc::clone(socket), Arc::clone(waiting));
        let started = std::thread::Builder::new()
            .name("fumehood-launcher".into())
            .stack_size(128 << 10)
            .spawn({
                let waiting = Arc::clone(&waiting);
                move || listen(&socket, &waiting)
            });
        if started.is_err() {
            // Whoever waits learns that nothing will come.
            lock(&waiting).clear();
        }
    });
}

/// Hears what the launcher says until it is gone.
fn listen(socket: &OwnedFd, waiting: &Waiting) {
    let mut packet = vec![0u8; MAX_MESSAGE];
    loop {
        let length = match recv(socket, &mut packet[..], RecvFlags::empty()) {
            Ok((0, _)) => break,
            Ok((_, length)) => length.min(packet.len()),
            Err(Errno::INTR) => continue,
            Err(_) => break,
        };
        let (number, closing) = match FromLauncher::decode(&packet[..length]) {
            Ok(FromLauncher::OpenFailed { number, step, errno }) => {
                (number, Closing { failure: Some((step, errno)), ..Closing::default() })
            }
            Ok(FromLauncher::Closed { number, usage }) => {
                (number, Closing { usage, ..Closing::default() })
            }
            Err(_) => break,
        };
        if let Some(sender) = lock(waiting).remove(&number) {
            let _ = sender.send(closing);
        }
    }
    // Whoever still waits learns that nothing will come any more.
    lock(waiting).clear();
}

/// The map is whole after every statement, so a panic elsewhere leaves nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
