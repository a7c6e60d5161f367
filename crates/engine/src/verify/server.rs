//! Servers on this machine that attacks try to reach, and the names they have. Nothing ever leaves
//! the machine.

use std::{
    io::{Read as _, Write as _},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use super::stage::{Preparing as _, Trouble};
use crate::TableResolver;

/// The address of `near.test`.
pub(super) const NEAR: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
/// The address of `far.test`.
pub(super) const FAR: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 3));

/// How long a client may say nothing.
const PATIENCE: Duration = Duration::from_secs(10);

/// Every name that there is for the boxes of a verification. No name server is ever asked.
pub fn names() -> TableResolver {
    let mapped = Ipv4Addr::new(127, 0, 0, 2).to_ipv6_mapped();
    TableResolver::new()
        .with("near.test", &[NEAR])
        .with("far.test", &[FAR])
        .with("deep.near.test", &[NEAR])
        .with("private.test", &[Ipv4Addr::new(10, 1, 2, 3).into()])
        .with("metadata.test", &[Ipv4Addr::new(169, 254, 169, 254).into()])
        .with("mapped.test", &[mapped.into()])
}

/// Answers whatever is said.
pub(super) struct Server {
    address: SocketAddr,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    connections: AtomicUsize,
    over: AtomicBool,
}

impl Server {
    /// Starts one on a free port of this address.
    pub(super) fn start(address: IpAddr) -> Result<Server, Trouble> {
        let listener = TcpListener::bind((address, 0)).preparing("a listener on this machine")?;
        let address = listener.local_addr().preparing("a listener on this machine")?;
        let counts: Arc<Counts> = Arc::default();
        let seen = counts.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if seen.over.load(Ordering::SeqCst) {
                    return;
                }
                seen.connections.fetch_add(1, Ordering::SeqCst);
                thread::spawn(move || answer(stream));
            }
        });
        Ok(Server { address, counts })
    }

    /// Its port.
    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    /// How many connections came.
    pub(super) fn connections(&self) -> usize {
        self.counts.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.counts.over.store(true, Ordering::SeqCst);
        // It waits for a connection, and sees that it is over.
        let _ = TcpStream::connect(self.address);
    }
}

fn answer(mut stream: TcpStream) {
    let _ = stream.set_read_timeout(Some(PATIENCE));
    let mut buffer = [0; 4096];
    while let Ok(1..) = stream.read(&mut buffer) {
        if stream.write_all(b"heard").is_err() {
            return;
        }
    }
}
