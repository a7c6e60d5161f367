//! The sockets on which a gate hears what a box wants of the world.
//!
//! 1. Loopback gets an address besides its own, and every other address becomes local.
//! 2. One listener takes all connections, of every port and address but those of loopback.
//! 3. Where the kernel has no packet filter for that: one listener per port of the plan.
//! 4. Names are asked for at an address of loopback.
//!
//! Nothing else listens, so whatever is not TCP is refused by the kernel itself.

use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use fumehood_core::protocol::{Lend, LentSocket, RESOLVER};
use rustix::{
    fd::OwnedFd,
    fs::{Mode, OFlags, open},
    io::Errno,
    net::{
        AddressFamily, SocketFlags, SocketType, bind, getsockname, listen, socket_with, sockopt,
    },
};

use super::{nftables, routes};
use crate::{
    failure::{Failure, Step},
    sys,
};

/// Connections that may wait to be taken. One more would be tried again after a second.
const WAITING: i32 = 1024;

/// Where the listener for IPv6 is. Packets to this network are thrown away everywhere.
const DISCARD: Ipv6Addr = Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, 0, 1);

const DNS: u16 = 53;

/// What was made, and how connections come to it.
pub(in crate::inside) struct Lending {
    pub(in crate::inside) sockets: Vec<(LentSocket, OwnedFd)>,
    pub(in crate::inside) detail: &'static str,
}

/// Makes everything. Loopback is up.
pub(in crate::inside) fn lend(lend: &Lend) -> Result<Lending, Failure> {
    ignore_echo();
    routes::add_address(lend.address).step("address of the lent network")?;
    // A kernel before Linux 6.3 has no such packets; bytes flow all the same.
    let _ = routes::allow_large_packets();
    routes::own_every_address().step("route of the lent network")?;
    let (listeners, detail) = match take_everything(lend.address) {
        Ok(listeners) => (listeners, "no interface but lo; connections are lent by the gate"),
        Err(_) if !lend.ports.is_empty() => (
            take_ports(&lend.ports)?,
            "no interface but lo; connections to the ports of the policy are lent by the gate",
        ),
        Err(errno) => return Err(errno).step("redirecting connections to the gate with nftables"),
    };
    let mut sockets: Vec<_> =
        listeners.into_iter().map(|listener| (LentSocket::Connections, listener)).collect();
    if lend.dns {
        let place = (RESOLVER, DNS).into();
        let datagrams = bound(SocketType::DGRAM, place, false).step("socket for names")?;
        sockets.push((LentSocket::DnsDatagrams, datagrams));
        let listener = listener(place, false).step("listener for names")?;
        sockets.push((LentSocket::DnsConnections, listener));
    }
    Ok(Lending { sockets, detail })
}

/// Listeners for every connection of each family.
fn take_everything(address: Ipv4Addr) -> Result<Vec<OwnedFd>, Errno> {
    let first = listener((address, 0).into(), true)?;
    let at = address_of(&first)?;
    // Without IPv6 there is no route for it, and connections fail at once.
    let second = routes::own_every_ipv6_address()
        .and_then(|()| listener((DISCARD, 0).into(), true))
        .and_then(|listener| Ok((address_of(&listener)?, listener)));
    if let Ok((at_6, second)) = second
        && nftables::redirect(&[at, at_6]).is_ok()
    {
        return Ok([first, second].into());
    }
    nftables::redirect(&[at])?;
    Ok([first].into())
}

fn take_ports(ports: &[u16]) -> Result<Vec<OwnedFd>, Failure> {
    let every_address = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    crate::collect_results(
        ports
            .iter()
            .map(|port| listener((every_address, *port).into(), false).step("listener of a port")),
    )
}

fn listener(address: SocketAddr, transparent: bool) -> Result<OwnedFd, Errno> {
    let socket = bound(SocketType::STREAM, address, transparent)?;
    listen(&socket, WAITING)?;
    Ok(socket)
}

fn bound(kind: SocketType, address: SocketAddr, transparent: bool) -> Result<OwnedFd, Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
    if address.is_ipv6() {
        sockopt::set_ipv6_v6only(&socket, true)?;
    }
    if transparent {
        sys::be_transparent(&socket, address.is_ipv6())?;
    }
    bind(&socket, &address)?;
    Ok(socket)
}

fn address_of(socket: &OwnedFd) -> Result<SocketAddr, Errno> {
    getsockname(socket)?.try_into().map_err(|_: Errno| Errno::AFNOSUPPORT)
}

/// Every address is ours, but none answers to an echo request. No program in the box can send one
/// either, so nothing depends on it.
fn ignore_echo() {
    let path = c"/proc/sys/net/ipv4/icmp_echo_ignore_all";
    if let Ok(file) = open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()) {
        let _ = rustix::io::write(file, b"1");
    }
}
