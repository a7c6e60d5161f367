//! Kinds of sockets that lead out of a box, and sockets of the host.

use std::os::{
    fd::AsRawFd as _,
    linux::net::SocketAddrExt as _,
    unix::net::{SocketAddr, UnixStream},
};

use super::namespaces::privileged;
use crate::{
    Words,
    answer::{io_word, tell, word},
    sys::{Arg, call, opens, terminal},
};

const GARBAGE: u64 = 0xdead_beef_0000_0000;

fn socket(family: u64, kind: i32) -> String {
    word(opens(libc::SYS_socket, vec![Arg::N(family), Arg::N(kind as u64), Arg::N(0)]))
}

/// Families that are not namespaced, that see packets, or that nobody should meet.
pub(crate) fn families(_: Words<'_>) {
    let alone = libc::CLONE_NEWNET as u64;
    tell("alg", socket(libc::AF_ALG as u64, libc::SOCK_SEQPACKET));
    tell("vsock", socket(libc::AF_VSOCK as u64, libc::SOCK_STREAM));
    tell("packet", privileged(alone, || socket(libc::AF_PACKET as u64, libc::SOCK_RAW)));
    tell(
        "raw",
        privileged(alone, || {
            let icmp = libc::IPPROTO_ICMP as u64;
            let words =
                vec![Arg::N(libc::AF_INET as u64), Arg::N(libc::SOCK_RAW as u64), Arg::N(icmp)];
            word(opens(libc::SYS_socket, words))
        }),
    );
}

/// The same with garbage where the kernel does not look, and a careless filter does.
pub(crate) fn high_bits(_: Words<'_>) {
    tell("alg", socket(GARBAGE | libc::AF_ALG as u64, libc::SOCK_SEQPACKET));
    tell("vsock", socket(GARBAGE | libc::AF_VSOCK as u64, libc::SOCK_STREAM));
    let pushed = terminal().and_then(|(master, _)| {
        let words =
            vec![Arg::N(master.as_raw_fd() as u64), Arg::N(GARBAGE | 0x5412), Arg::In(b"x")];
        call(libc::SYS_ioctl, words)
    });
    tell("tiocsti", word(pushed));
}

/// An abstract socket of the host by its name, then sockets by their paths.
pub(crate) fn of_the_host(words: Words<'_>) {
    let Some((name, paths)) = words.split_first() else { return };
    let address = SocketAddr::from_abstract_name(name.as_bytes());
    tell("abstract", io_word(address.and_then(|address| UnixStream::connect_addr(&address))));
    for path in paths {
        tell("pathname", io_word(UnixStream::connect(path)));
    }
}
