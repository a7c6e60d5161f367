//! A packet filter of two rules: every TCP connection to an address that is not loopback goes to one
//! listener, which sees the dialled address as its own.
//!
//! ```text
//! table inet fumehood { chain lent { type filter hook prerouting priority mangle
//!     ip daddr != 127.0.0.0/8 meta l4proto tcp tproxy ip to ADDRESS:PORT
//!     ip6 daddr != ::1 meta l4proto tcp tproxy ip6 to [ADDRESS]:PORT
//! } }
//! ```

use core::net::SocketAddr;

use rustix::{io::Errno, net::netlink};

use super::netlink::{ACK, APPEND, Attributes, CREATE, Packet};

const TABLE: &str = "fumehood";
const CHAIN: &str = "lent";

const SUBSYSTEM: u16 = 10;
const BATCH_BEGIN: u16 = 0x10;
const BATCH_END: u16 = 0x11;
const NEW_TABLE: u16 = SUBSYSTEM << 8;
const NEW_CHAIN: u16 = SUBSYSTEM << 8 | 3;
const NEW_RULE: u16 = SUBSYSTEM << 8 | 6;
const FAMILY_BOTH: u8 = 1;
const FAMILY_IPV4: u32 = 2;
const FAMILY_IPV6: u32 = 10;

const PREROUTING: u32 = 0;
const MANGLE: i32 = -150;

const META_FAMILY: u32 = 15;
const META_TRANSPORT: u32 = 16;
const TCP: u8 = 6;
const EQUAL: u32 = 0;
const NOT_EQUAL: u32 = 1;
const NETWORK_HEADER: u32 = 1;

const FIRST: u32 = 1;
const SECOND: u32 = 2;

/// Sends all connections to these listeners, each those of its family.
pub(super) fn redirect(listeners: &[SocketAddr]) -> Result<(), Errno> {
    let mut packet = Packet::default();
    let [high, low] = SUBSYSTEM.to_be_bytes();
    packet.message(BATCH_BEGIN, 0, &[0, 0, high, low], |_| {});
    let head = [FAMILY_BOTH, 0, 0, 0];
    packet.message(NEW_TABLE, ACK | CREATE, &head, |all| all.name(1, TABLE));
    packet.message(NEW_CHAIN, ACK | CREATE, &head, |all| {
        all.name(1, TABLE);
        all.name(3, CHAIN);
        all.nest(4, |hook| {
            hook.number(1, PREROUTING);
            hook.number(2, MANGLE.cast_unsigned());
        });
        all.name(7, "filter");
    });
    for listener in listeners {
        packet.message(NEW_RULE, ACK | CREATE | APPEND, &head, |all| {
            all.name(1, TABLE);
            all.name(2, CHAIN);
            all.nest(4, |list| rule(list, *listener));
        });
    }
    packet.message(BATCH_END, 0, &[0, 0, high, low], |_| {});
    packet.send(Some(netlink::NETFILTER))
}

fn rule(list: &mut Attributes<'_>, listener: SocketAddr) {
    let port = listener.port().to_be_bytes();
    match listener {
        SocketAddr::V4(listener) => {
            compare_meta(list, META_FAMILY, FAMILY_IPV4 as u8);
            compare_meta(list, META_TRANSPORT, TCP);
            // The first byte of the destination.
            load(list, 16, 1);
            compare(list, NOT_EQUAL, &[127]);
            proxy(list, FAMILY_IPV4, &listener.ip().octets(), port);
        }
        SocketAddr::V6(listener) => {
            compare_meta(list, META_FAMILY, FAMILY_IPV6 as u8);
            compare_meta(list, META_TRANSPORT, TCP);
            load(list, 24, 16);
            compare(list, NOT_EQUAL, &core::net::Ipv6Addr::LOCALHOST.octets());
            proxy(list, FAMILY_IPV6, &listener.ip().octets(), port);
        }
    }
}

fn expression(list: &mut Attributes<'_>, name: &str, fill: impl FnOnce(&mut Attributes<'_>)) {
    list.nest(1, |element| {
        element.name(1, name);
        element.nest(2, fill);
    });
}

fn compare_meta(list: &mut Attributes<'_>, key: u32, value: u8) {
    expression(list, "meta", |meta| {
        meta.number(1, FIRST);
        meta.number(2, key);
    });
    compare(list, EQUAL, &[value]);
}

/// Loads bytes of the network header.
fn load(list: &mut Attributes<'_>, offset: u32, length: u32) {
    expression(list, "payload", |payload| {
        payload.number(1, FIRST);
        payload.number(2, NETWORK_HEADER);
        payload.number(3, offset);
        payload.number(4, length);
    });
}

fn compare(list: &mut Attributes<'_>, how: u32, value: &[u8]) {
    expression(list, "cmp", |cmp| {
        cmp.number(1, FIRST);
        cmp.number(2, how);
        cmp.nest(3, |data| data.put(1, value));
    });
}

fn immediate(list: &mut Attributes<'_>, register: u32, value: &[u8]) {
    expression(list, "immediate", |immediate| {
        immediate.number(1, register);
        immediate.nest(2, |data| data.put(1, value));
    });
}

fn proxy(list: &mut Attributes<'_>, family: u32, address: &[u8], port: [u8; 2]) {
    immediate(list, FIRST, address);
    immediate(list, SECOND, &port);
    expression(list, "tproxy", |tproxy| {
        tproxy.number(1, family);
        tproxy.number(2, FIRST);
        tproxy.number(3, SECOND);
    });
}
