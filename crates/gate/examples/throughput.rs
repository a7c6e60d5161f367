//! Bulk bytes through a gate, against the same bytes without one. Prints a ratio. There is no box
//! here; `cargo xtask bench` measures from one.
//!
//! `cargo run --release -p fumehood-gate --example throughput [MEGABYTES]`

use std::{
    io::{Read as _, Write as _},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use fumehood_core::{
    egress::{AllowRule, Egress},
    policy::NetMode,
};
use fumehood_gate::{Gate, Proxies, Secrets, TableResolver};

const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 77));
const NAME: &str = "bulk.test";
/// The first address that stands for a name, in a network that sockets can be bound to.
const INSIDE: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 64, 0, 1));
const ROUNDS: usize = 3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let megabytes: usize = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => 256,
    };
    let bytes = megabytes << 20;
    let port = server(bytes)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let gate = {
        let _inside = runtime.enter();
        gate(port)?
    };
    thread::spawn(move || {
        runtime.block_on(std::future::pending::<()>());
    });

    let mut best = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        for (best, address) in best.iter_mut().zip([SERVER, INSIDE]) {
            *best = (*best).min(receive(SocketAddr::new(address, port), bytes)?);
        }
    }
    let [direct, through] = best.map(|time| megabytes as f64 / time.as_secs_f64());
    println!("direct   {direct:8.0} MiB/s");
    println!("gate     {through:8.0} MiB/s");
    println!("ratio    {:8.2}", through / direct);
    drop(gate);
    Ok(())
}

/// A server that sends so many bytes to whoever connects.
fn server(bytes: usize) -> std::io::Result<u16> {
    let listener = TcpListener::bind((SERVER, 0))?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let piece = vec![0x80; 256 * 1024];
            let mut left = bytes;
            while left > 0 {
                let size = left.min(piece.len());
                if stream.write_all(&piece[..size]).is_err() {
                    break;
                }
                left -= size;
            }
        }
    });
    Ok(port)
}

/// A gate that listens where the name's address is.
fn gate(port: u16) -> Result<Gate, Box<dyn std::error::Error>> {
    let allow =
        [NAME, &SERVER.to_string()].map(|p| p.parse().map(|p| AllowRule::new(p, "example")));
    let egress = Egress {
        mode: NetMode::Allow,
        allow: allow.into_iter().collect::<Result<_, _>>()?,
        dns: true,
        synthetic: "127.64.0.0/16".parse()?,
        ..Egress::none()
    };
    let resolver = Arc::new(TableResolver::new().with(NAME, &[SERVER]));
    let sink = Arc::new(|_| {});
    let gate = Gate::new(egress, resolver, Proxies::none(), Secrets::none(), sink);
    let mut question = vec![0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in NAME.split('.') {
        question.push(label.len() as u8);
        question.extend(label.as_bytes());
    }
    question.extend([0, 0, 1, 0, 1]);
    gate.dns_query(&question).ok_or("no answer")?;
    gate.serve_tcp_listener(TcpListener::bind((INSIDE, port))?)?;
    Ok(gate)
}

fn receive(from: SocketAddr, bytes: usize) -> Result<Duration, Box<dyn std::error::Error>> {
    let begun = Instant::now();
    let mut stream = TcpStream::connect(from)?;
    let mut buffer = vec![0; 256 * 1024];
    let mut got = 0;
    loop {
        match stream.read(&mut buffer)? {
            0 => break,
            read => got += read,
        }
    }
    if got == bytes { Ok(begun.elapsed()) } else { Err(format!("{got} of {bytes} bytes").into()) }
}
