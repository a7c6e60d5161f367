//! The parts that a gate is measured with, each a process of its own: a server, a small proxy, and
//! the client that holds the stopwatch, in a box or out of it.

use std::{
    io::{Read as _, Write as _},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};

/// Where the server listens.
pub const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 77));
/// What it is called.
pub const NAME: &str = "bench.test";

const PIECE: usize = 256 << 10;
const PATIENCE: Duration = Duration::from_secs(60);

/// Listens, prints its port, and serves until its input ends: eight bytes that say how many bytes
/// are wanted, or zero for an echo of what follows.
pub fn server() -> anyhow::Result<()> {
    listen(SERVER, |mut stream| {
        let mut wanted = [0; 8];
        stream.read_exact(&mut wanted)?;
        let mut left = u64::from_be_bytes(wanted) as usize;
        let piece = vec![0x80; PIECE];
        if left == 0 {
            let mut word = [0; 64];
            while let count @ 1.. = stream.read(&mut word)? {
                stream.write_all(&word[..count])?;
            }
        }
        while left > 0 {
            let size = left.min(PIECE);
            stream.write_all(&piece[..size])?;
            left -= size;
        }
        Ok(())
    })
}

/// The same for a proxy that is asked with `CONNECT ADDRESS:PORT`.
pub fn proxy() -> anyhow::Result<()> {
    listen(IpAddr::V4(Ipv4Addr::LOCALHOST), |mut client| {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            client.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let target = head.split(' ').nth(1).unwrap_or_default();
        let mut server = TcpStream::connect(target)?;
        server.set_nodelay(true)?;
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        let (mut up, mut to) = (client.try_clone()?, server.try_clone()?);
        let upwards = thread::spawn(move || copy(&mut up, &mut to));
        copy(&mut server, &mut client)?;
        let _ = upwards.join();
        Ok(())
    })
}

/// As most proxies do it.
fn copy(from: &mut TcpStream, to: &mut TcpStream) -> std::io::Result<()> {
    let mut piece = vec![0; 64 << 10];
    while let count @ 1.. = from.read(&mut piece)? {
        to.write_all(&piece[..count])?;
    }
    to.shutdown(std::net::Shutdown::Write)
}

fn listen(
    address: IpAddr,
    serve: impl Fn(TcpStream) -> std::io::Result<()> + Send + Copy + 'static,
) -> anyhow::Result<()> {
    let listener = TcpListener::bind((address, 0))?;
    // A crowd comes faster than threads start.
    rustix::net::listen(&listener, 4096)?;
    println!("{}", listener.local_addr()?.port());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = stream.set_nodelay(true);
            // Whoever breaks off has had enough.
            thread::spawn(move || serve(stream));
        }
    });
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}

/// How the client gets to the server.
struct Way {
    first: SocketAddr,
    /// Whom a proxy is asked for.
    ask: Option<SocketAddr>,
}

impl Way {
    /// `direct PORT`, `proxy PORT OF_PROXY` or `gate PORT`.
    fn read(words: &[String]) -> anyhow::Result<(Way, &[String])> {
        let port = |text: &String| text.parse::<u16>();
        Ok(match words {
            [kind, at, rest @ ..] if kind == "direct" => {
                (Way { first: (SERVER, port(at)?).into(), ask: None }, rest)
            }
            [kind, at, own, rest @ ..] if kind == "proxy" => {
                let first = (Ipv4Addr::LOCALHOST, port(own)?).into();
                (Way { first, ask: Some((SERVER, port(at)?).into()) }, rest)
            }
            [kind, at, rest @ ..] if kind == "gate" => {
                (Way { first: (look_up()?, port(at)?).into(), ask: None }, rest)
            }
            _ => bail!("no way: {words:?}"),
        })
    }

    fn connect(&self, wanted: u64) -> anyhow::Result<TcpStream> {
        let mut stream = TcpStream::connect(self.first)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        if let Some(target) = self.ask {
            write!(stream, "CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n")?;
            stream.read_exact(&mut [0; "HTTP/1.1 200 OK\r\n\r\n".len()])?;
        }
        stream.write_all(&wanted.to_be_bytes())?;
        Ok(stream)
    }
}

/// `client WAY bulk BYTES`, `client WAY connect COUNT` or `client WAY crowd COUNT`. Prints
/// nanoseconds.
pub fn client(words: &[String]) -> anyhow::Result<()> {
    let (way, rest) = Way::read(words)?;
    let [what, number] = rest else { bail!("no order: {words:?}") };
    let number: usize = number.parse()?;
    match what.as_str() {
        "bulk" => println!("{}", bulk(&way, number)?.as_nanos()),
        "connect" => println!("{}", connect(&way, number)?.as_nanos()),
        "crowd" => crowd(&way, number)?,
        _ => bail!("no order: {words:?}"),
    }
    Ok(())
}

fn bulk(way: &Way, bytes: usize) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    let mut stream = way.connect(bytes as u64)?;
    let mut piece = vec![0; PIECE];
    let mut got = 0;
    while let count @ 1.. = stream.read(&mut piece)? {
        got += count;
    }
    if got != bytes {
        bail!("{got} of {bytes} bytes");
    }
    Ok(begun.elapsed())
}

/// The median of connections with one word there and back.
fn connect(way: &Way, count: usize) -> anyhow::Result<Duration> {
    let mut taken = Vec::with_capacity(count);
    for _ in 0..count {
        let begun = Instant::now();
        let mut stream = way.connect(0)?;
        say(&mut stream)?;
        taken.push(begun.elapsed());
    }
    taken.sort_unstable();
    taken.get(count / 2).copied().context("no connection was asked for")
}

fn say(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(b"word")?;
    stream.read_exact(&mut [0; 4])
}

/// Opens so many, uses each, says so, and holds them until its input ends.
fn crowd(way: &Way, count: usize) -> anyhow::Result<()> {
    let begun = Instant::now();
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        all.push(way.connect(0)?);
    }
    for stream in &mut all {
        say(stream)?;
    }
    println!("{}", begun.elapsed().as_nanos());
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}

/// Asks the box's resolver, without a C library that would want its own files.
fn look_up() -> anyhow::Result<Ipv4Addr> {
    let mut question = vec![0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in NAME.split('.') {
        question.push(label.len() as u8);
        question.extend(label.as_bytes());
    }
    question.extend([0, 0, 1, 0, 1]);
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.send_to(&question, "127.0.0.53:53")?;
    let mut answer = [0; 512];
    let count = socket.recv(&mut answer)?;
    let address = answer[..count].last_chunk::<4>().context("an answer without an address")?;
    Ok(Ipv4Addr::from(*address))
}
