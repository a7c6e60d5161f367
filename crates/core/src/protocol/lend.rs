//! How a box without a network comes to connections: sockets are made in its namespace and handed to
//! the supervisor, whose gate decides about everything that arrives on them.

use alloc::vec::Vec;
use core::net::Ipv4Addr;

use super::{
    DecodeError,
    wire::{Reader, Writer},
};

/// Where every box asks for names. An address of loopback, so that `resolv.conf` is the same in
/// every box, and nobody answers where nothing is lent.
pub const RESOLVER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 53);

/// The most ports that get a listener of their own.
pub const MOST_LENT_PORTS: usize = 32;

/// The most sockets that a box hands out.
pub const MOST_LENT: usize = MOST_LENT_PORTS + 4;

/// What init makes for connections to be lent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lend {
    /// The address of the box's interface, where the listener is that gets all connections. It
    /// stands for no name.
    pub address: Ipv4Addr,
    /// Whether names are answered.
    pub dns: bool,
    /// Ports that get a listener each where the kernel cannot redirect all of them.
    pub ports: Vec<u16>,
}

impl Lend {
    pub(super) fn write(&self, w: &mut Writer) {
        w.u32(self.address.to_bits());
        w.bool(self.dns);
        w.list(&self.ports, |w, port| w.u16(*port));
    }

    pub(super) fn read(r: &mut Reader<'_>) -> Result<Lend, DecodeError> {
        let lend = Lend {
            address: Ipv4Addr::from_bits(r.u32()?),
            dns: r.bool()?,
            ports: r.list(Reader::u16)?,
        };
        if lend.ports.len() > MOST_LENT_PORTS {
            return Err(DecodeError::TooLong("list of ports"));
        }
        Ok(lend)
    }
}

/// What a socket is that a box hands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LentSocket {
    /// A listener for connections; what it accepts has the dialled address as its own.
    Connections,
    /// Questions of DNS as datagrams.
    DnsDatagrams,
    /// A listener for questions of DNS over TCP.
    DnsConnections,
}

pub(super) fn write_sockets(w: &mut Writer, sockets: &[LentSocket]) {
    w.list(sockets, |w, socket| w.u8(*socket as u8));
}

pub(super) fn read_sockets(r: &mut Reader<'_>) -> Result<Vec<LentSocket>, DecodeError> {
    let sockets = r.list(|r| {
        let number = r.u8()?;
        [LentSocket::Connections, LentSocket::DnsDatagrams, LentSocket::DnsConnections]
            .into_iter()
            .find(|socket| *socket as u8 == number)
            .ok_or(DecodeError::Unknown("socket"))
    })?;
    if sockets.len() > MOST_LENT {
        return Err(DecodeError::TooLong("list of sockets"));
    }
    Ok(sockets)
}
