//! Connections to wherever an attacker would like to be.

use std::{
    io::{self, Read as _, Write as _},
    net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket},
    time::Duration,
};

use super::names::address_of;
use crate::{
    Words,
    answer::{io_word, tell, word},
    sys::{Arg, fork, in_child, numbers, opens, wait},
};

/// A gate refuses at once, and a server of the check answers at once.
pub(super) const PATIENCE: Duration = Duration::from_secs(4);

/// Pairs of words: a host and a port.
fn places<'a>(words: Words<'a>) -> impl Iterator<Item = (&'a str, u16)> {
    words.chunks_exact(2).filter_map(|two| Some((two[0], two[1].parse().ok()?)))
}

/// Says something to a place: `heard` where somebody answers, `closed` where nobody wants to.
pub(super) fn say(host: &str, port: u16, words: &[u8]) -> String {
    let Some(address) = address_of(host) else { return "no_name".to_owned() };
    answer(dial(address, port).and_then(|stream| converse(stream, words)))
}

pub(super) fn answer(said: io::Result<String>) -> String {
    said.unwrap_or_else(|error| io_word::<()>(Err(error)))
}

pub(super) fn dial(address: IpAddr, port: u16) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&SocketAddr::new(address, port), PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

pub(super) fn converse(mut stream: TcpStream, words: &[u8]) -> io::Result<String> {
    stream.write_all(words)?;
    let mut reply = [0; 64];
    match stream.read(&mut reply)? {
        0 => Ok("closed".to_owned()),
        _ => Ok("heard".to_owned()),
    }
}

/// `HOST PORT ...`: a plain connection to each.
pub(crate) fn each(words: Words<'_>) {
    for (host, port) in places(words) {
        tell("connect", say(host, port, b"hello"));
    }
}

/// `HOST PORT ...`: the same, where no box has a network; and by other means.
pub(crate) fn without_network(words: Words<'_>) {
    for (host, port) in places(words) {
        let Ok(address) = host.parse::<IpAddr>() else { continue };
        tell("connect", io_word(dial(address, port)));
        tell("datagram", io_word(send(address, port)));
    }
    tell("name", if address_of("example.invalid").is_some() { "found" } else { "absent" });
}

fn send(address: IpAddr, port: u16) -> io::Result<()> {
    let here = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(here)?;
    socket.set_read_timeout(Some(Duration::from_secs(1)))?;
    socket.connect((address, port))?;
    socket.send(b"hello")?;
    socket.recv(&mut [0; 64]).map(drop)
}

/// `HOST PORT ...`: datagrams to each, and the sockets by which one pings.
pub(crate) fn datagrams(words: Words<'_>) {
    for (host, port) in places(words) {
        tell(
            "datagram",
            match address_of(host) {
                Some(address) => io_word(send(address, port)),
                None => "no_name".to_owned(),
            },
        );
    }
    let icmp = libc::IPPROTO_ICMP as u64;
    let ping = |kind: i32| {
        let words = vec![Arg::N(libc::AF_INET as u64), Arg::N(kind as u64), Arg::N(icmp)];
        opens(libc::SYS_socket, words)
    };
    tell("raw", word(ping(libc::SOCK_RAW)));
    // The socket may exist; what it sends must reach nobody.
    let echoed = ping(libc::SOCK_DGRAM).and_then(|socket| {
        let socket = UdpSocket::from(socket);
        let sent = socket
            .set_read_timeout(Some(Duration::from_millis(500)))
            .and_then(|()| socket.send_to(&[8, 0, 0, 0, 0, 1, 0, 1], "203.0.113.1:0"))
            .and_then(|_| socket.recv(&mut [0; 64]));
        sent.map_err(|error| crate::answer::errno_of(&error))
    });
    tell("echo", word(echoed));
}

/// `HOST PORT ...`: the same through a helper of our own, in a session of its own.
pub(crate) fn relayed(words: Words<'_>) {
    for (host, port) in places(words) {
        tell("relay", through_helper(host, port));
    }
}

fn through_helper(host: &str, port: u16) -> String {
    let Ok(listener) = TcpListener::bind("127.0.0.1:0") else { return "no_listener".to_owned() };
    let own = listener.local_addr().map_or(0, |address| address.port());
    let helper = fork(|| {
        let _ = numbers(libc::SYS_setsid, &[]);
        let relayed = || -> io::Result<()> {
            let (mut peer, _) = listener.accept()?;
            let address = address_of(host).ok_or(io::ErrorKind::NotFound)?;
            let mut outside = dial(address, port)?;
            let mut piece = [0; 64];
            let count = peer.read(&mut piece)?;
            outside.write_all(&piece[..count])?;
            let count = outside.read(&mut piece)?;
            peer.write_all(&piece[..count])?;
            peer.shutdown(Shutdown::Both)
        };
        let _ = relayed();
    });
    let answer = in_child(|| say("127.0.0.1", own, b"hello"));
    if let Ok(pid) = helper {
        wait(pid);
    }
    answer
}
