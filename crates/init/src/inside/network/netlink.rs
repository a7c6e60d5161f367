//! Messages to the kernel about routes and packet filters. Everything is answered before `send`
//! returns, so nothing here waits.

use alloc::{vec, vec::Vec};

use rustix::{
    fd::OwnedFd,
    io::Errno,
    net::{
        AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send,
        socket_with,
    },
};

pub(super) const REQUEST: u16 = 0x1;
pub(super) const ACK: u16 = 0x4;
pub(super) const EXCL: u16 = 0x200;
pub(super) const CREATE: u16 = 0x400;
pub(super) const APPEND: u16 = 0x800;

const HEAD: usize = 16;
const ERROR: u16 = 2;
const NESTED: u16 = 0x8000;

/// Several messages in one packet.
#[derive(Default)]
pub(super) struct Packet {
    bytes: Vec<u8>,
    count: u32,
    answers: usize,
}

impl Packet {
    /// Adds a message: its kind, its flags, what stands before the attributes, and those.
    pub(super) fn message(
        &mut self,
        kind: u16,
        flags: u16,
        head: &[u8],
        fill: impl FnOnce(&mut Attributes<'_>),
    ) {
        let start = self.bytes.len();
        self.count += 1;
        self.answers += usize::from(flags & ACK != 0);
        self.bytes.extend([0; 4]);
        self.bytes.extend(kind.to_ne_bytes());
        self.bytes.extend((flags | REQUEST).to_ne_bytes());
        self.bytes.extend(self.count.to_ne_bytes());
        self.bytes.extend([0; 4]);
        self.bytes.extend(head);
        fill(&mut Attributes(&mut self.bytes));
        let length = (self.bytes.len() - start) as u32;
        self.bytes[start..start + 4].copy_from_slice(&length.to_ne_bytes());
    }

    /// Sends the packet. Every message that asks for an answer must get a good one.
    pub(super) fn send(self, protocol: Option<Protocol>) -> Result<(), Errno> {
        let kind = SocketType::RAW;
        let socket = socket_with(AddressFamily::NETLINK, kind, SocketFlags::CLOEXEC, protocol)?;
        send(&socket, &self.bytes, SendFlags::empty())?;
        let mut good = 0;
        while good < self.answers {
            good += answers(&socket)?;
        }
        Ok(())
    }
}

/// How many good answers came in one packet. The first bad one is the error.
fn answers(socket: &OwnedFd) -> Result<usize, Errno> {
    let mut buffer = vec![0u8; 16 << 10];
    let (length, _) = recv(socket, &mut buffer[..], RecvFlags::DONTWAIT)?;
    let mut rest = buffer.get(..length).unwrap_or_default();
    let mut good = 0;
    while let Some((head, body)) = rest.split_at_checked(HEAD) {
        let size = u32::from_ne_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let kind = u16::from_ne_bytes([head[4], head[5]]);
        if let (ERROR, Some(code)) = (kind, body.first_chunk::<4>()) {
            match i32::from_ne_bytes(*code) {
                0 => good += 1,
                code => return Err(Errno::from_raw_os_error(code.saturating_neg())),
            }
        }
        if size < HEAD {
            return Err(Errno::PROTO);
        }
        rest = rest.get(aligned(size)..).unwrap_or_default();
    }
    Ok(good)
}

/// The attributes of a message.
pub(super) struct Attributes<'a>(&'a mut Vec<u8>);

impl Attributes<'_> {
    pub(super) fn put(&mut self, kind: u16, value: &[u8]) {
        self.0.extend((4 + value.len() as u16).to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(value);
        self.0.resize(aligned(self.0.len()), 0);
    }

    /// A number as packet filters have them.
    pub(super) fn number(&mut self, kind: u16, value: u32) {
        self.put(kind, &value.to_be_bytes());
    }

    /// A name with a zero at its end.
    pub(super) fn name(&mut self, kind: u16, name: &str) {
        let mut bytes = Vec::from(name.as_bytes());
        bytes.push(0);
        self.put(kind, &bytes);
    }

    pub(super) fn nest(&mut self, kind: u16, fill: impl FnOnce(&mut Attributes<'_>)) {
        let start = self.0.len();
        self.put(kind | NESTED, &[]);
        fill(&mut Attributes(self.0));
        let length = (self.0.len() - start) as u16;
        self.0[start..start + 2].copy_from_slice(&length.to_ne_bytes());
    }
}

/// Everything begins at a multiple of four.
fn aligned(length: usize) -> usize {
    length.next_multiple_of(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_cover_what_is_inside_and_nothing_more() {
        let mut packet = Packet::default();
        packet.message(7, ACK, &[9; 4], |all| {
            all.name(1, "lo");
            all.nest(2, |inner| inner.number(3, 1));
        });
        let bytes = packet.bytes;
        assert_eq!(bytes.len(), HEAD + 4 + 8 + 12);
        assert_eq!(bytes[..4], (bytes.len() as u32).to_ne_bytes());
        assert_eq!(bytes[20..22], 7u16.to_ne_bytes());
        assert_eq!(bytes[24..28], *b"lo\0\0");
        assert_eq!(bytes[28..30], 12u16.to_ne_bytes());
        assert_eq!(bytes[36..40], [0, 0, 0, 1]);
    }
}
