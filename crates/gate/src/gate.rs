//! The gate of one box: everything that its connections and questions share.

use std::{
    io,
    net::{SocketAddr, TcpListener, UdpSocket},
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use fumehood_core::egress::{Egress, Reason, Record, Verdict};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::Semaphore,
    task::JoinSet,
    time::timeout,
};

use crate::{
    checks::{Check, Checks},
    dns,
    names::Names,
    proxy::Proxies,
    records::Recorder,
    relay::{BoxEnd, Meter},
    resolve::Resolve,
    secrets::Secrets,
};

/// Takes records as they come. It must not wait.
pub type Sink = Arc<dyn Fn(Record) + Send + Sync>;

/// What lends one box its network, connection by connection. Everything runs on the tokio runtime
/// that is current when a method is called, and ends when the gate is dropped.
pub struct Gate {
    shared: Arc<Shared>,
    tasks: Arc<Tasks>,
}

/// What all tasks of a gate see.
pub(crate) struct Shared {
    pub(crate) egress: Arc<Egress>,
    pub(crate) checks: Checks,
    pub(crate) resolver: Arc<dyn Resolve>,
    pub(crate) proxies: Proxies,
    pub(crate) secrets: Secrets,
    pub(crate) names: Names,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) meter: Meter,
    pub(crate) room: Arc<Semaphore>,
    most_connections: u32,
}

impl Gate {
    /// A gate for a box with these rules. `proxies` are those of this machine.
    pub fn new(
        egress: Egress,
        resolver: Arc<dyn Resolve>,
        proxies: Proxies,
        secrets: Secrets,
        sink: Sink,
    ) -> Gate {
        Gate::new_without(&[], egress, resolver, proxies, secrets, sink)
    }

    /// A gate that does not look at some things, to show what that is good for.
    #[doc(hidden)]
    pub fn new_without(
        left_out: &[Check],
        egress: Egress,
        resolver: Arc<dyn Resolve>,
        proxies: Proxies,
        secrets: Secrets,
        sink: Sink,
    ) -> Gate {
        let checks = Checks::without(left_out);
        let most_connections = match checks.include(Check::Room) {
            true => egress.limits.connections,
            // On every machine this fits, far below the most that a semaphore can have.
            false => u32::MAX >> 3,
        };
        let shared = Shared {
            checks,
            resolver,
            proxies,
            secrets,
            names: Names::new(egress.synthetic),
            recorder: Arc::new(Recorder::new(sink)),
            meter: Meter::new(&egress.limits),
            room: Arc::new(Semaphore::new(most_connections as usize)),
            most_connections,
            egress: Arc::new(egress),
        };
        Gate { shared: Arc::new(shared), tasks: Arc::default() }
    }

    /// Accepts connections from a listener whose sockets have the dialled address as their own
    /// (a transparent one, made in the box's namespace).
    pub fn serve_tcp_listener(&self, listener: TcpListener) -> io::Result<()> {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (shared, tasks) = (self.shared.clone(), Arc::downgrade(&self.tasks));
        self.tasks.spawn(crate::serve::connections(listener, shared, tasks));
        Ok(())
    }

    /// Answers questions that come as datagrams.
    pub fn serve_dns_udp(&self, socket: UdpSocket) -> io::Result<()> {
        socket.set_nonblocking(true)?;
        let socket = tokio::net::UdpSocket::from_std(socket)?;
        self.tasks.spawn(crate::serve::datagrams(socket, self.shared.clone()));
        Ok(())
    }

    /// Answers questions that come over TCP, each behind its length.
    pub fn serve_dns_tcp(&self, listener: TcpListener) -> io::Result<()> {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (shared, tasks) = (self.shared.clone(), Arc::downgrade(&self.tasks));
        self.tasks.spawn(crate::serve::questions(listener, shared, tasks));
        Ok(())
    }

    /// Carries one connection that arrives as a stream. `dialled` is the address that the program
    /// asked for. Returns at once; the stream is dropped when the connection has ended.
    pub fn connection<S>(&self, dialled: SocketAddr, stream: S)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        self.shared.admit(&self.tasks, dialled, BoxEnd::Any(Box::new(stream)));
    }

    /// The answer to one question of DNS, without a length before it. Nothing for what is not even
    /// a question.
    pub fn dns_query(&self, query: &[u8]) -> Option<Vec<u8>> {
        self.shared.dns_query(query)
    }

    /// Waits until no connection is left, but not for longer than this. What comes meanwhile is
    /// turned away.
    pub async fn settle(&self, patience: Duration) {
        let all = self.shared.most_connections;
        let _ = timeout(patience, self.shared.room.acquire_many(all)).await;
    }

    /// How many records were only counted, beyond [`crate::MOST_RECORDS`].
    pub fn left_out(&self) -> u64 {
        self.shared.recorder.left_out()
    }
}

impl Shared {
    /// What the rules say, if they are looked at.
    pub(crate) fn judged(&self, rules: impl FnOnce() -> Verdict) -> Verdict {
        match self.checks.include(Check::Rules) {
            true => rules(),
            false => Verdict { allowed: true, reason: Reason::Allowed, rule: None },
        }
    }

    pub(crate) fn dns_query(&self, query: &[u8]) -> Option<Vec<u8>> {
        let answer = dns::answer(&self.egress, &self.names, query, |name| {
            self.judged(|| self.egress.decide_name(name))
        });
        if let Some((name, verdict)) = answer.refused {
            self.recorder.name_refused(name, verdict);
        }
        answer.message
    }

    /// Starts to carry a connection, if there is room for one more.
    pub(crate) fn admit(self: &Arc<Shared>, tasks: &Tasks, dialled: SocketAddr, client: BoxEnd) {
        let (target, port) = (self.target_of(dialled), dialled.port());
        match self.room.clone().try_acquire_owned() {
            Ok(place) => {
                let shared = self.clone();
                tasks.spawn(async move {
                    shared.carry(target, port, client).await;
                    drop(place);
                });
            }
            Err(_) => {
                self.recorder.crowded(&target, port);
                client.reset_on_close();
            }
        }
    }
}

/// The tasks of a gate. They end when it is dropped; they themselves hold only weak references.
#[derive(Default)]
pub(crate) struct Tasks {
    set: Mutex<JoinSet<()>>,
}

/// A reference that does not keep a gate alive.
pub(crate) type WeakTasks = Weak<Tasks>;

impl Tasks {
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        while set.try_join_next().is_some() {}
        set.spawn(task);
    }
}
