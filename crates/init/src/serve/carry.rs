//! Connections of the program, carried on the control channel: for boxes whose sockets cannot be
//! handed out. Nothing is decided here; what was dialled is told, and bytes go both ways.

use alloc::{vec, vec::Vec};
use core::net::SocketAddr;

use fumehood_core::protocol::{
    CARRY_WINDOW, FromInit, LentSocket, MAX_DATA, MAX_DNS, MOST_CARRIED, Passage,
};
use rustix::{
    event::{PollFd, PollFlags},
    fd::{AsRawFd as _, OwnedFd},
    io::Errno,
    net::{
        RecvFlags, SendFlags, Shutdown, SocketFlags, accept_with, getsockname, recvfrom, sendto,
        shutdown, sockopt,
    },
};

use super::{Broken, outgoing::Outgoing};
use crate::sys;

/// Questions that may wait for their answer. The oldest is forgotten first.
const MOST_QUESTIONS: usize = 64;
/// Descriptors that init needs for other things.
const OTHER_DESCRIPTORS: u64 = 32;
/// How much is read at once.
const PIECE: usize = 32 << 10;

/// What is carried.
#[derive(Default)]
pub(crate) struct Carrier {
    listeners: Vec<OwnedFd>,
    questions: Option<OwnedFd>,
    connections: Vec<Connection>,
    /// How many connections there were.
    count: u32,
    /// Whether the last connection could not be taken, and none has ended since.
    full: bool,
    asked: Vec<(u32, SocketAddr)>,
    next_question: u32,
    most: usize,
}

struct Connection {
    number: u32,
    socket: OwnedFd,
    /// What the supervisor may be sent.
    credit: usize,
    /// The program has said its last.
    heard_end: bool,
    /// Bytes for the program.
    pending: Vec<u8>,
    /// The supervisor has said its last.
    told_end: bool,
    /// The program knows.
    is_shut: bool,
    /// The supervisor has broken it off: what has come is delivered, then it ends.
    is_reset: bool,
}

/// Something that can be done without waiting.
pub(super) enum Carriable {
    Accept(usize),
    Question,
    /// A connection by its place.
    Connection(usize),
}

impl Carrier {
    /// Carries what arrives on these sockets.
    pub(crate) fn new(sockets: Vec<(LentSocket, OwnedFd)>) -> Result<Carrier, Errno> {
        let mut carrier = Carrier::default();
        for (kind, socket) in sockets {
            rustix::io::ioctl_fionbio(&socket, true)?;
            match kind {
                // The supervisor knows by the dialled address what is meant.
                LentSocket::Connections | LentSocket::DnsConnections => {
                    carrier.listeners.push(socket);
                }
                LentSocket::DnsDatagrams => carrier.questions = Some(socket),
            }
        }
        Ok(carrier)
    }

    /// The descriptors that must stay open.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = i32> {
        self.listeners.iter().chain(&self.questions).map(|socket| socket.as_raw_fd())
    }

    /// Learns how many connections there can be under the limits of this process.
    pub(super) fn begin(&mut self) {
        let (soft, _) =
            sys::rlimit(linux_raw_sys::general::RLIMIT_NOFILE).unwrap_or((u64::MAX, u64::MAX));
        self.most = (soft.saturating_sub(OTHER_DESCRIPTORS) as usize).clamp(1, MOST_CARRIED);
    }

    /// True once everything that the program sent is on its way.
    pub(super) fn is_quiet(&self) -> bool {
        self.connections.iter().all(|connection| connection.heard_end)
    }

    /// What to wait for. What comes from the program is left where it is while there is no room.
    pub(super) fn polled(&self, room: bool) -> Vec<(Carriable, PollFd<'_>)> {
        let mut all = Vec::new();
        if room {
            if !self.full && self.connections.len() < self.most {
                for (place, listener) in self.listeners.iter().enumerate() {
                    all.push((Carriable::Accept(place), PollFd::new(listener, PollFlags::IN)));
                }
            }
            if let Some(socket) = &self.questions {
                all.push((Carriable::Question, PollFd::new(socket, PollFlags::IN)));
            }
        }
        for (place, connection) in self.connections.iter().enumerate() {
            let flags = connection.wishes(room);
            if !flags.is_empty() {
                let polled = PollFd::new(&connection.socket, flags);
                all.push((Carriable::Connection(place), polled));
            }
        }
        all
    }

    /// Does what can be done.
    pub(super) fn carry(&mut self, ready: Vec<Carriable>, outgoing: &mut Outgoing) {
        for one in ready {
            match one {
                Carriable::Accept(place) => self.accept(place, outgoing),
                Carriable::Question => self.ask(outgoing),
                Carriable::Connection(place) => {
                    if let Some(connection) = self.connections.get_mut(place) {
                        connection.carry(outgoing);
                    }
                }
            }
        }
        self.forget_ended();
    }

    /// What the supervisor says of a connection.
    pub(super) fn pass(
        &mut self,
        number: u32,
        passage: Passage,
        outgoing: &mut Outgoing,
    ) -> Result<(), Broken> {
        if number >= self.count {
            return Err(Broken);
        }
        let place = self.connections.iter().position(|connection| connection.number == number);
        // It may have ended while this was on its way.
        let Some(place) = place else { return Ok(()) };
        let connection = &mut self.connections[place];
        match passage {
            Passage::Data(data) => {
                let room = (CARRY_WINDOW as usize).saturating_sub(connection.pending.len());
                if connection.told_end || data.len() > room {
                    return Err(Broken);
                }
                connection.pending.extend(data);
                connection.deliver(outgoing);
            }
            Passage::End => {
                connection.told_end = true;
                connection.deliver(outgoing);
            }
            Passage::Credit(bytes) => {
                connection.credit = connection.credit.saturating_add(bytes as usize);
                if connection.credit > CARRY_WINDOW as usize {
                    return Err(Broken);
                }
            }
            Passage::Reset => {
                connection.is_reset = true;
                connection.deliver(outgoing);
            }
        }
        self.forget_ended();
        Ok(())
    }

    /// The answer to a question, unless that was forgotten.
    pub(super) fn answer(&mut self, number: u32, message: &[u8]) {
        let place = self.asked.iter().position(|(asked, _)| *asked == number);
        if let (Some(place), Some(socket)) = (place, &self.questions) {
            let (_, peer) = self.asked.swap_remove(place);
            // Whoever asked asks again.
            let _ = sendto(socket, message, SendFlags::NOSIGNAL, &peer);
        }
    }

    fn accept(&mut self, place: usize, outgoing: &mut Outgoing) {
        let Some(listener) = self.listeners.get(place) else { return };
        let socket = match accept_with(listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
            Ok(socket) => socket,
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => return,
            Err(_) => {
                self.full = !self.connections.is_empty();
                return;
            }
        };
        let address = getsockname(&socket).and_then(SocketAddr::try_from);
        let Ok(address) = address else { return };
        let number = self.count;
        self.count += 1;
        outgoing.push(&FromInit::Dialled { connection: number, address });
        self.connections.push(Connection {
            number,
            socket,
            credit: CARRY_WINDOW as usize,
            heard_end: false,
            pending: Vec::new(),
            told_end: false,
            is_shut: false,
            is_reset: false,
        });
    }

    fn ask(&mut self, outgoing: &mut Outgoing) {
        let Some(socket) = &self.questions else { return };
        let mut query = vec![0u8; MAX_DNS];
        let received = recvfrom(socket, &mut query[..], RecvFlags::DONTWAIT);
        let Ok((length, _, Some(peer))) = received else { return };
        let Ok(peer) = SocketAddr::try_from(peer) else { return };
        query.truncate(length);
        let number = self.next_question;
        self.next_question = number.wrapping_add(1);
        if self.asked.len() == MOST_QUESTIONS {
            self.asked.remove(0);
        }
        self.asked.push((number, peer));
        outgoing.push(&FromInit::Question { number, query });
    }

    fn forget_ended(&mut self) {
        let before = self.connections.len();
        self.connections.retain(|connection| !(connection.heard_end && connection.is_shut));
        if self.connections.len() < before {
            self.full = false;
        }
    }
}

impl Connection {
    fn wishes(&self, room: bool) -> PollFlags {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, room && !self.heard_end && self.credit > 0);
        flags.set(PollFlags::OUT, !self.pending.is_empty());
        flags
    }

    fn carry(&mut self, outgoing: &mut Outgoing) {
        self.deliver(outgoing);
        if !self.heard_end && self.credit > 0 && outgoing.has_room() {
            self.hear(outgoing);
        }
    }

    /// Reads from the program.
    fn hear(&mut self, outgoing: &mut Outgoing) {
        let mut data = vec![0u8; self.credit.min(PIECE).min(MAX_DATA)];
        match rustix::io::read(&self.socket, &mut data[..]) {
            Ok(0) => {
                self.heard_end = true;
                self.tell(Passage::End, outgoing);
            }
            Ok(count) => {
                data.truncate(count);
                self.credit -= count;
                self.tell(Passage::Data(data), outgoing);
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => self.break_off(outgoing),
        }
    }

    /// Writes to the program.
    fn deliver(&mut self, outgoing: &mut Outgoing) {
        while !self.pending.is_empty() {
            match rustix::net::send(&self.socket, &self.pending, SendFlags::NOSIGNAL) {
                Ok(count) => {
                    self.pending.drain(..count);
                    self.tell(Passage::Credit(count as u32), outgoing);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => return self.break_off(outgoing),
            }
        }
        if self.is_reset {
            // The program sees that this is no proper end; failing that it is closed.
            let now = Some(core::time::Duration::ZERO);
            let _ = sockopt::set_socket_linger(&self.socket, now);
            self.end();
        } else if self.told_end && !self.is_shut {
            self.is_shut = true;
            // A program that is gone already needs no telling.
            let _ = shutdown(&self.socket, Shutdown::Write);
        }
    }

    fn break_off(&mut self, outgoing: &mut Outgoing) {
        self.tell(Passage::Reset, outgoing);
        self.end();
    }

    fn end(&mut self) {
        self.pending.clear();
        (self.heard_end, self.told_end, self.is_shut) = (true, true, true);
    }

    fn tell(&self, passage: Passage, outgoing: &mut Outgoing) {
        outgoing.push(&FromInit::Passage { connection: self.number, passage });
    }
}

#[cfg(test)]
mod tests {
    use rustix::net::{AddressFamily, SocketType, bind, connect, listen, socket_with};

    use super::*;

    /// A carrier with a listener, and a program that has dialled it.
    fn dialled() -> (Carrier, OwnedFd) {
        let socket = |flags| socket_with(AddressFamily::INET, SocketType::STREAM, flags, None);
        let listener = socket(SocketFlags::CLOEXEC).unwrap();
        bind(&listener, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        listen(&listener, 8).unwrap();
        let address = SocketAddr::try_from(getsockname(&listener).unwrap()).unwrap();
        let program = socket(SocketFlags::CLOEXEC).unwrap();
        connect(&program, &address).unwrap();
        let mut carrier = Carrier::new(vec![(LentSocket::Connections, listener)]).unwrap();
        carrier.begin();
        carrier.carry(vec![Carriable::Accept(0)], &mut Outgoing::default());
        assert_eq!(carrier.connections.len(), 1);
        (carrier, program)
    }

    #[test]
    fn bytes_are_delivered_and_the_end_comes_last() {
        let (mut carrier, program) = dialled();
        let mut outgoing = Outgoing::default();
        assert!(carrier.pass(0, Passage::Data(vec![7; 100]), &mut outgoing).is_ok());
        assert!(carrier.pass(0, Passage::End, &mut outgoing).is_ok());
        let mut buffer = [0u8; 200];
        assert_eq!(rustix::io::read(&program, &mut buffer), Ok(100));
        assert_eq!(rustix::io::read(&program, &mut buffer), Ok(0));
        assert!(!carrier.is_quiet());
        drop(program);
        carrier.carry(vec![Carriable::Connection(0)], &mut outgoing);
        assert!(carrier.connections.is_empty());
    }

    #[test]
    fn a_broken_connection_is_no_proper_end() {
        let (mut carrier, program) = dialled();
        assert!(carrier.pass(0, Passage::Reset, &mut Outgoing::default()).is_ok());
        assert!(carrier.connections.is_empty());
        assert_eq!(rustix::io::read(&program, &mut [0u8; 9][..]), Err(Errno::CONNRESET));
    }

    #[test]
    fn a_supervisor_that_sends_more_than_was_granted_is_not_believed() {
        let outgoing = &mut Outgoing::default();
        let (mut carrier, _program) = dialled();
        assert!(carrier.pass(1, Passage::End, outgoing).is_err(), "nobody has dialled");
        assert!(carrier.pass(0, Passage::Credit(1), outgoing).is_err(), "nothing was sent");
        let too_much = vec![0; CARRY_WINDOW as usize + 1];
        assert!(carrier.pass(0, Passage::Data(too_much), outgoing).is_err());
    }
}
