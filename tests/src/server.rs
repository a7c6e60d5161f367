//! A server on this machine that a box may be lent a connection to.

use std::{
    io::{Read, Write as _},
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

/// How long a client may say nothing.
const PATIENCE: Duration = Duration::from_secs(20);

/// Answers `GET` as a web server would, and anything else with `heard` and what it was.
pub struct Server {
    address: SocketAddr,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    connections: AtomicUsize,
    bytes: AtomicUsize,
    over: AtomicBool,
}

impl Server {
    /// Starts one on a free port of this address.
    pub fn start(address: IpAddr) -> Server {
        let listener = TcpListener::bind((address, 0)).expect("a listener on this machine");
        let address = listener.local_addr().expect("its address");
        let counts: Arc<Counts> = Arc::default();
        let seen = counts.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if seen.over.load(Ordering::SeqCst) {
                    return;
                }
                seen.connections.fetch_add(1, Ordering::SeqCst);
                let seen = seen.clone();
                thread::spawn(move || answer(stream, &seen));
            }
        });
        Server { address, counts }
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// How many connections came.
    pub fn connections(&self) -> usize {
        self.counts.connections.load(Ordering::SeqCst)
    }

    /// How many bytes came.
    pub fn bytes(&self) -> usize {
        self.counts.bytes.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.counts.over.store(true, Ordering::SeqCst);
        // It waits for a connection, and sees that it is over.
        let _ = TcpStream::connect(self.address);
    }
}

fn answer(mut stream: TcpStream, counts: &Counts) {
    let _ = stream.set_read_timeout(Some(PATIENCE));
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        counts.bytes.fetch_add(count, Ordering::SeqCst);
        let said = &buffer[..count];
        let sent = if said.starts_with(b"GET ") {
            let head = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nhello\n";
            let _ = stream.write_all(head.as_bytes());
            return;
        } else {
            stream.write_all(&[b"heard ", said].concat())
        };
        if sent.is_err() {
            return;
        }
    }
}
