//! Loopback as lent connections need it. Every address is the box's own: what a program dials
//! arrives in the box, whatever it is.

use core::net::Ipv4Addr;

use rustix::{io::Errno, net::Protocol};

use super::netlink::{ACK, CREATE, EXCL, Packet};

/// The protocol of routes is number 0.
const ROUTES: Option<Protocol> = None;

const NEW_LINK: u16 = 16;
const NEW_ADDRESS: u16 = 20;
const NEW_ROUTE: u16 = 24;

const LOCAL_ADDRESS: u16 = 2;
const ADDRESS: u16 = 1;
const OUTGOING_INTERFACE: u16 = 4;

/// The largest packet of a stream that is sent and received at once: of IPv6, and of IPv4.
const LARGEST: [u16; 4] = [41, 58, 63, 64];
/// The most that the kernel takes. It would be 64 KiB otherwise.
const LARGEST_PACKET: u32 = 8 * 65_535;

const INET: u8 = 2;
const INET6: u8 = 10;
const TABLE_LOCAL: u8 = 255;
const STATIC: u8 = 4;
const SCOPE_HOST: u8 = 254;
const SCOPE_EVERYWHERE: u8 = 0;
const LOCAL: u8 = 2;

/// The loopback interface is the first of every namespace.
const LOOPBACK: u32 = 1;

/// Gives loopback an address besides its own. Without one the C library takes the box for a
/// machine without IPv4 and asks for no addresses of that kind.
pub(super) fn add_address(address: Ipv4Addr) -> Result<(), Errno> {
    let mut head = [INET, 32, 0, SCOPE_HOST, 0, 0, 0, 0];
    head[4..].copy_from_slice(&LOOPBACK.to_ne_bytes());
    let mut packet = Packet::default();
    packet.message(NEW_ADDRESS, ACK | CREATE | EXCL, &head, |all| {
        all.put(LOCAL_ADDRESS, &address.octets());
        all.put(ADDRESS, &address.octets());
    });
    packet.send(ROUTES)
}

/// Lets streams on loopback go in packets as large as they can be: bulk costs half as much then.
pub(super) fn allow_large_packets() -> Result<(), Errno> {
    let mut head = [0; 16];
    head[4..8].copy_from_slice(&LOOPBACK.to_ne_bytes());
    let mut packet = Packet::default();
    packet.message(NEW_LINK, ACK, &head, |all| {
        for kind in LARGEST {
            all.put(kind, &LARGEST_PACKET.to_ne_bytes());
        }
    });
    packet.send(ROUTES)
}

/// Makes all IPv4 addresses local.
pub(super) fn own_every_address() -> Result<(), Errno> {
    own_all(INET, SCOPE_HOST)
}

/// Makes all IPv6 addresses local.
pub(super) fn own_every_ipv6_address() -> Result<(), Errno> {
    own_all(INET6, SCOPE_EVERYWHERE)
}

fn own_all(family: u8, scope: u8) -> Result<(), Errno> {
    let head = [family, 0, 0, 0, TABLE_LOCAL, STATIC, scope, LOCAL, 0, 0, 0, 0];
    let mut packet = Packet::default();
    packet.message(NEW_ROUTE, ACK | CREATE | EXCL, &head, |all| {
        all.put(OUTGOING_INTERFACE, &LOOPBACK.to_ne_bytes());
    });
    packet.send(ROUTES)
}
