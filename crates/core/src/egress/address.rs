//! Which addresses belong to the world, and which to somebody's own network. An address can hide
//! another one inside; both count.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

/// What an address is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AddressKind {
    /// A host of the world.
    Public,
    /// The machine itself.
    Loopback,
    /// Networks of one's own: RFC 1918, unique local, site local, shared by a carrier.
    Private,
    /// The same cable. Cloud metadata is here too.
    LinkLocal,
    /// Many hosts at once: multicast and broadcast.
    Many,
    /// `0.0.0.0` and its network, `::`. Many systems take it for the machine itself.
    Unspecified,
    /// Documentation, benchmarks, protocols, the future: nobody's.
    Reserved,
}

/// Whether a host of the world is meant, however the address is written.
pub fn address_is_public(address: IpAddr) -> bool {
    address_kind(address) == AddressKind::Public
}

/// What an address is for. One that hides another is public only if both are.
pub fn address_kind(address: IpAddr) -> AddressKind {
    let address = same_host(address);
    std::iter::once(address)
        .chain(embedded(address))
        .map(kind_alone)
        .find(|kind| *kind != AddressKind::Public)
        .unwrap_or(AddressKind::Public)
}

/// The address that the same host is meant by everywhere: IPv4 mapped into IPv6, and IPv4 behind
/// the well-known prefix of NAT64, are IPv4.
pub fn same_host(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => match v6.segments() {
            [0x64, 0xff9b, 0, 0, 0, 0, high, low] => IpAddr::V4(v4(high, low)),
            _ => IpAddr::V6(v6),
        },
        v4 => v4,
    }
}

/// Addresses of IPv4 that packets to this address may reach in the end, without those that
/// [`same_host`] knows.
pub(super) fn embedded(address: IpAddr) -> Vec<IpAddr> {
    let IpAddr::V6(v6) = address else { return Vec::new() };
    let s = v6.segments();
    let found = match s {
        // IPv4-compatible, without `::` and `::1`.
        [0, 0, 0, 0, 0, 0, high, low] if v6.to_bits() > 1 => vec![v4(high, low)],
        // IPv4-translated: ::ffff:0:a.b.c.d.
        [0, 0, 0, 0, 0xffff, 0, high, low] => vec![v4(high, low)],
        // Local NAT64, 64:ff9b:1::/48: RFC 6052 puts the address at 48, 56, 64 or 96 bits, and
        // the octet at 64 to 71 is left out.
        [0x64, 0xff9b, 1, ..] => {
            let o = v6.octets();
            vec![
                Ipv4Addr::new(o[6], o[7], o[9], o[10]),
                Ipv4Addr::new(o[7], o[9], o[10], o[11]),
                Ipv4Addr::new(o[9], o[10], o[11], o[12]),
                v4(s[6], s[7]),
            ]
        }
        // 6to4.
        [0x2002, high, low, ..] => vec![v4(high, low)],
        // Teredo: the server, and the client with every bit turned round.
        [0x2001, 0, high, low, ..] => vec![v4(high, low), v4(!s[6], !s[7])],
        // ISATAP: any prefix, and an interface named ::0:5efe:a.b.c.d or ::200:5efe:a.b.c.d.
        [.., 0 | 0x200, 0x5efe, high, low] => vec![v4(high, low)],
        _ => Vec::new(),
    };
    found.into_iter().map(IpAddr::V4).collect()
}

fn v4(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))
}

fn kind_alone(address: IpAddr) -> AddressKind {
    match address {
        IpAddr::V4(address) => kind_v4(address),
        IpAddr::V6(address) => kind_v6(address),
    }
}

fn kind_v4(address: Ipv4Addr) -> AddressKind {
    match address.octets() {
        [0, ..] => AddressKind::Unspecified,
        [127, ..] => AddressKind::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [100, 64..=127, ..] => {
            AddressKind::Private
        }
        [169, 254, ..] => AddressKind::LinkLocal,
        [224..=239, ..] | [255, 255, 255, 255] => AddressKind::Many,
        // Protocols, documentation, the old relay of 6to4, benchmarks, the future.
        [192, 0, 0 | 2, _]
        | [198, 51, 100, _]
        | [203, 0, 113, _]
        | [192, 88, 99, _]
        | [198, 18 | 19, ..]
        | [240..=255, ..] => AddressKind::Reserved,
        _ => AddressKind::Public,
    }
}

fn kind_v6(address: Ipv6Addr) -> AddressKind {
    if address.is_unspecified() {
        return AddressKind::Unspecified;
    }
    if address.is_loopback() {
        return AddressKind::Loopback;
    }
    match address.segments() {
        [0xff00..=0xffff, ..] => AddressKind::Many,
        [0xfe80..=0xfebf, ..] => AddressKind::LinkLocal,
        // Unique local, and site local from before.
        [0xfc00..=0xfdff, ..] | [0xfec0..=0xfeff, ..] => AddressKind::Private,
        // Teredo counts by what is inside of it.
        [0x2001, 0, ..] => AddressKind::Public,
        // Protocols and benchmarks, documentation.
        [0x2001, 1..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => {
            AddressKind::Reserved
        }
        // Only 2000::/3 has been given to anybody.
        [0x2000..=0x3fff, ..] => AddressKind::Public,
        _ => AddressKind::Reserved,
    }
}
