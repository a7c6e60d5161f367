//! The gate of a box while its program runs: it gets the sockets that init made, and what it decides
//! is kept.

mod carried;

use std::{
    env, fmt,
    io::{self, IoSliceMut},
    mem::MaybeUninit,
    net::{SocketAddr, TcpListener, UdpSocket},
    os::fd::OwnedFd,
    sync::Arc,
    time::Duration,
};

use fumehood_core::protocol::{LentSocket, MAX_DNS, MOST_LENT, Passage, ToInit};
use fumehood_gate::{Check, Gate, Proxies, Resolve, Secrets, SystemResolver};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, recvmsg};
use tokio::{io::Interest, net::UnixStream, sync::mpsc, time::timeout};

use self::carried::Carried;
use crate::{
    Error,
    egress::{Egress, Record, SecretSource},
};

/// How long what a program sent before it ended may take to arrive.
const SETTLE: Duration = Duration::from_millis(200);
/// How long the last records may take. They come as soon as a processor is free.
const LAST_RECORDS: Duration = Duration::from_secs(2);

/// The world as the gates of a sandbox see it.
#[derive(Clone)]
pub(crate) struct Outside {
    resolver: Arc<dyn Resolve>,
    /// A proxy looks up names itself, so it cannot stand behind a resolver of the caller.
    has_proxies: bool,
    /// What the gates do not look at; only tests leave anything out.
    left_out: Vec<Check>,
}

impl Outside {
    /// Names are looked up as this machine does it, or with a resolver of the caller.
    pub(crate) fn new(resolver: Option<Arc<dyn Resolve>>, left_out: Vec<Check>) -> Outside {
        let has_proxies = resolver.is_none();
        let resolver = resolver.unwrap_or_else(|| Arc::new(SystemResolver::new()));
        Outside { resolver, has_proxies, left_out }
    }

    fn proxies(&self) -> Result<Proxies, Error> {
        Ok(if self.has_proxies { Proxies::from_variables(variables())? } else { Proxies::none() })
    }
}

impl fmt::Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outside").field("has_proxies", &self.has_proxies).finish_non_exhaustive()
    }
}

/// The variables of this process that are text.
fn variables() -> impl Iterator<Item = (String, String)> {
    env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// The values that the rules put into requests.
fn secrets(egress: &Egress) -> Secrets {
    egress
        .allow
        .iter()
        .filter_map(|rule| rule.inject.as_ref())
        .filter_map(|inject| {
            let SecretSource::Env(name) = &inject.from;
            Some((name.clone(), env::var(name).ok()?))
        })
        .collect()
}

/// What a box is lent.
pub(super) struct Lending {
    gate: Arc<Gate>,
    records: mpsc::UnboundedReceiver<Record>,
    /// Descriptors that have come and were not announced yet.
    passed: Vec<OwnedFd>,
    serves: bool,
    /// Connections that come as messages and not on sockets.
    carried: Option<Carried>,
}

/// What comes from a gate.
pub(super) enum FromGate {
    /// It has decided something.
    Decision(Record),
    /// Something for the box.
    Say(ToInit),
}

/// How connections come out of a box.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    /// On sockets that init hands out.
    Sockets,
    /// As messages on the control channel.
    Messages,
}

impl Lending {
    pub(super) fn new(egress: &Egress, outside: &Outside, means: Means) -> Result<Lending, Error> {
        // A gate hands out a bounded number of records, so the channel needs no bound.
        let (sender, records) = mpsc::unbounded_channel();
        let sink = Arc::new(move |record| drop(sender.send(record)));
        let (resolver, secrets) = (Arc::clone(&outside.resolver), secrets(egress));
        let (left_out, proxies) = (&outside.left_out, outside.proxies()?);
        let gate = Gate::new_without(left_out, egress.clone(), resolver, proxies, secrets, sink);
        let carried = (means == Means::Messages).then(Carried::default);
        let (gate, serves) = (Arc::new(gate), carried.is_some());
        Ok(Lending { gate, records, passed: Vec::new(), serves, carried })
    }

    /// Whether the sockets have come, where any are to come. Nothing runs before.
    pub(super) fn serves(&self) -> bool {
        self.serves
    }

    /// Reads from the control channel, together with descriptors.
    pub(super) fn receive(&mut self, channel: &UnixStream, buffer: &mut [u8]) -> io::Result<usize> {
        let passed = &mut self.passed;
        channel.try_io(Interest::READABLE, || {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_LENT))];
            let mut ancillary = RecvAncillaryBuffer::new(&mut space);
            let mut pieces = [IoSliceMut::new(buffer)];
            let received = recvmsg(channel, &mut pieces, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
            for message in ancillary.drain() {
                if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                    passed.extend(descriptors);
                }
            }
            if received.flags.contains(ReturnFlags::CTRUNC) || passed.len() > MOST_LENT {
                return Err(io::ErrorKind::InvalidData.into());
            }
            Ok(received.bytes)
        })
    }

    /// Serves the sockets that were announced: exactly those that have come, and once.
    pub(super) fn serve(&mut self, sockets: &[LentSocket]) -> io::Result<()> {
        let passed = std::mem::take(&mut self.passed);
        if self.serves || sockets.len() != passed.len() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        for (kind, socket) in sockets.iter().zip(passed) {
            match kind {
                LentSocket::Connections => {
                    self.gate.serve_tcp_listener(TcpListener::from(socket))?;
                }
                LentSocket::DnsDatagrams => self.gate.serve_dns_udp(UdpSocket::from(socket))?,
                LentSocket::DnsConnections => {
                    self.gate.serve_dns_tcp(TcpListener::from(socket))?;
                }
            }
        }
        self.serves = true;
        Ok(())
    }

    /// The program has dialled. False if that makes no sense here.
    pub(super) fn dialled(&mut self, connection: u32, address: SocketAddr) -> bool {
        let Lending { gate, carried, .. } = self;
        carried.as_mut().is_some_and(|carried| {
            // What a box dials of itself never leads out of it, whatever the rules say.
            let is_own =
                address.ip().to_canonical().is_loopback() && !carried::is_resolver(address);
            if is_own {
                carried.refuse(connection)
            } else {
                carried.dialled(gate, connection, address)
            }
        })
    }

    /// The box says something of a connection. False if that makes no sense here.
    pub(super) fn pass(&mut self, connection: u32, passage: Passage) -> bool {
        self.carried.as_mut().is_some_and(|carried| carried.pass(connection, passage))
    }

    /// The answer to a question of DNS. Nothing for what is not even a question.
    pub(super) fn answer(&self, query: &[u8]) -> Option<Vec<u8>> {
        self.gate.dns_query(query).filter(|message| message.len() <= MAX_DNS)
    }

    /// What comes next from the gate: decisions and messages, as far as there is room for them.
    pub(super) async fn next(&mut self, decisions: bool, messages: bool) -> FromGate {
        let Lending { records, carried, .. } = self;
        tokio::select! {
            Some(record) = records.recv(), if decisions => FromGate::Decision(record),
            message = next_message(carried), if messages => FromGate::Say(message),
            else => std::future::pending().await,
        }
    }

    /// Ends the gate. Gives the decisions that nobody has heard of yet, and how many were left out.
    pub(super) async fn end(mut self) -> (Vec<Record>, u64) {
        if self.serves {
            self.gate.settle(SETTLE).await;
        }
        let left_out = self.gate.left_out();
        drop(self.carried);
        drop(self.gate);
        let mut last = Vec::new();
        // It ends with the last connection. Those that are cut off now say so, too.
        while let Ok(Some(record)) = timeout(LAST_RECORDS, self.records.recv()).await {
            last.push(record);
        }
        (last, left_out)
    }
}

async fn next_message(carried: &mut Option<Carried>) -> ToInit {
    match carried {
        Some(carried) => carried.next().await,
        None => std::future::pending().await,
    }
}
