//! Connections that travel on the control channel itself, for boxes whose sockets cannot be handed
//! out. Both ends bound what is under way: one sends no more than the other has granted.

use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};

use super::{
    DecodeError, MAX_DATA,
    wire::{Reader, Writer},
};

/// How much of one connection may be under way in each direction before more is granted.
pub const CARRY_WINDOW: u32 = 128 << 10;

/// The most connections that a box carries at once.
pub const MOST_CARRIED: usize = 512;

/// The longest question or answer of DNS.
pub const MAX_DNS: usize = 4 << 10;

/// What happens on a connection. Each end says `End` or `Reset` once, and nothing after it but
/// `Credit`. It is over when both have said `End`, or one `Reset`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passage {
    /// Bytes, within what was granted.
    Data(Vec<u8>),
    /// No more bytes will come from here.
    End,
    /// So many bytes were taken, and as many more may be sent.
    Credit(u32),
    /// It is broken off.
    Reset,
}

impl Passage {
    pub(super) fn write(&self, w: &mut Writer) {
        match self {
            Passage::Data(data) => {
                w.u8(0);
                w.bytes(data);
            }
            Passage::End => w.u8(1),
            Passage::Credit(bytes) => {
                w.u8(2);
                w.u32(*bytes);
            }
            Passage::Reset => w.u8(3),
        }
    }

    pub(super) fn read(r: &mut Reader<'_>) -> Result<Passage, DecodeError> {
        Ok(match r.u8()? {
            0 => Passage::Data(r.bytes(MAX_DATA)?),
            1 => Passage::End,
            2 => Passage::Credit(r.u32()?),
            3 => Passage::Reset,
            _ => return Err(DecodeError::Unknown("passage")),
        })
    }
}

pub(super) fn write_address(w: &mut Writer, address: SocketAddr) {
    match address.ip() {
        IpAddr::V4(ip) => w.bytes(&ip.octets()),
        IpAddr::V6(ip) => w.bytes(&ip.octets()),
    }
    w.u16(address.port());
}

pub(super) fn read_address(r: &mut Reader<'_>) -> Result<SocketAddr, DecodeError> {
    let bytes = r.bytes(16)?;
    let ip = match (<[u8; 4]>::try_from(&bytes[..]), <[u8; 16]>::try_from(&bytes[..])) {
        (Ok(four), _) => IpAddr::from(four),
        (_, Ok(sixteen)) => IpAddr::from(sixteen),
        _ => return Err(DecodeError::Unknown("address")),
    };
    Ok(SocketAddr::new(ip, r.u16()?))
}
