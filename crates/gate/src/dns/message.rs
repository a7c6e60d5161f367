//! One question of DNS, read strictly, and the message that answers it.

use std::net::Ipv4Addr;

const HEADER: usize = 12;
const OPT: u16 = 41;
const MOST_NAME: usize = 255;
/// Seconds. An address stands for its name as long as the box lives.
const TTL: u32 = 60;
/// What can be received in one datagram, for those who ask.
const PAYLOAD: u16 = 1232;

const RESPONSE: u8 = 0x80;
const OPCODE: u8 = 0x78;
const RECURSION_DESIRED: u8 = 0x01;
const RECURSION_AVAILABLE: u8 = 0x80;

/// How an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    NoError = 0,
    FormatError = 1,
    ServerFailure = 2,
    NoSuchName = 3,
    NotImplemented = 4,
    Refused = 5,
}

/// What a message is.
#[derive(Debug)]
pub(super) enum Parsed<'a> {
    /// One sound question.
    Query(Question<'a>),
    /// A query that is not sound, and the message that says so.
    Wrong(Vec<u8>),
    /// Too short to be answered, or an answer itself.
    NoQuery,
}

/// One question.
#[derive(Debug)]
pub(super) struct Question<'a> {
    id: [u8; 2],
    flags: u8,
    /// As it was asked, with its upper and lower case.
    section: &'a [u8],
    /// The name in text, unless it has bytes or is of a length that no text has.
    pub(super) name: Option<String>,
    pub(super) kind: u16,
    pub(super) class: u16,
    extended: bool,
}

pub(super) fn parse(message: &[u8]) -> Parsed<'_> {
    let Some((header, rest)) = message.split_first_chunk::<HEADER>() else {
        return Parsed::NoQuery;
    };
    if header[2] & RESPONSE != 0 {
        return Parsed::NoQuery;
    }
    let id = [header[0], header[1]];
    let wrong = |code| {
        let empty = Question {
            id,
            flags: header[2],
            section: &[],
            name: None,
            kind: 0,
            class: 0,
            extended: false,
        };
        Parsed::Wrong(empty.reply(code, None))
    };
    if header[2] & OPCODE != 0 {
        return wrong(Code::NotImplemented);
    }
    let count = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let (questions, answers, authorities, further) = (count(4), count(6), count(8), count(10));
    // 0x02: the message was cut.
    if header[2] & 0x02 != 0 || questions != 1 || answers != 0 || authorities != 0 || further > 1 {
        return wrong(Code::FormatError);
    }
    let Some((name, behind)) = read_name(rest) else { return wrong(Code::FormatError) };
    let Some((&[k0, k1, c0, c1], behind)) = behind.split_first_chunk::<4>() else {
        return wrong(Code::FormatError);
    };
    if !(if further == 1 { is_opt(behind) } else { behind.is_empty() }) {
        return wrong(Code::FormatError);
    }
    Parsed::Query(Question {
        id,
        flags: header[2],
        section: &rest[..rest.len() - behind.len()],
        name,
        kind: u16::from_be_bytes([k0, k1]),
        class: u16::from_be_bytes([c0, c1]),
        extended: further == 1,
    })
}

/// The name in text if it is one, and what stands behind it. Pointers have no place in a question.
fn read_name(mut bytes: &[u8]) -> Option<(Option<String>, &[u8])> {
    let mut text = String::new();
    let (mut sound, mut length) = (true, 1);
    loop {
        let (&size, rest) = bytes.split_first()?;
        if size == 0 {
            sound &= !text.is_empty();
            return Some((sound.then_some(text), rest));
        }
        length += 1 + usize::from(size);
        if size > 63 || length > MOST_NAME {
            return None;
        }
        let (label, rest) = rest.split_at_checked(usize::from(size))?;
        // A dot within a label would make two of one.
        sound &= label.iter().all(|b| b.is_ascii_graphic() && *b != b'.');
        if !text.is_empty() {
            text.push('.');
        }
        text.extend(label.iter().map(|b| char::from(b.to_ascii_lowercase())));
        bytes = rest;
    }
}

/// Whether the bytes are exactly one pseudo record of EDNS.
fn is_opt(bytes: &[u8]) -> bool {
    match bytes {
        [0, k0, k1, _, _, _, _, _, _, l0, l1, data @ ..] => {
            u16::from_be_bytes([*k0, *k1]) == OPT
                && usize::from(u16::from_be_bytes([*l0, *l1])) == data.len()
        }
        _ => false,
    }
}

impl Question<'_> {
    /// The message that answers it, with an address if there is one.
    pub(super) fn reply(&self, code: Code, address: Option<Ipv4Addr>) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER + self.section.len() + 32);
        out.extend(self.id);
        out.push(RESPONSE | (self.flags & (OPCODE | RECURSION_DESIRED)));
        out.push(RECURSION_AVAILABLE | code as u8);
        let counts = [
            u16::from(!self.section.is_empty()),
            u16::from(address.is_some()),
            0,
            u16::from(self.extended),
        ];
        out.extend(counts.iter().flat_map(|count| count.to_be_bytes()));
        out.extend(self.section);
        if let Some(address) = address {
            // The name of the question, by a pointer to it.
            out.extend([0xc0, HEADER as u8]);
            out.extend([0, 1, 0, 1]);
            out.extend(TTL.to_be_bytes());
            out.extend([0, 4]);
            out.extend(address.octets());
        }
        if self.extended {
            out.push(0);
            out.extend(OPT.to_be_bytes());
            out.extend(PAYLOAD.to_be_bytes());
            out.extend([0; 6]);
        }
        out
    }
}
