//! The server name in the greeting of TLS, from the first bytes of a connection.
//!
//! Written out by hand: all that is wanted is one field of one message, and a TLS library would
//! add its whole handshake to the code that reads bytes from a box. Where the greeting carries an
//! encrypted one inside, the outer name counts, since that is where the connection goes.

/// The most that is looked at, all records together.
pub(crate) const MOST_HELLO: usize = 16 * 1024;

const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;
const HOST_NAME: u8 = 0;

/// What the first bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Greeting {
    /// Something else.
    NotTls,
    /// Perhaps TLS; not all of it is there.
    NeedMore,
    /// A greeting, with the name it asks for, in lower case.
    Hello { sni: Option<String> },
    /// It begins like TLS and is not sound.
    Malformed,
}

pub(crate) fn greeting(bytes: &[u8]) -> Greeting {
    match bytes {
        [] | [HANDSHAKE] => return Greeting::NeedMore,
        [HANDSHAKE, 3, ..] => {}
        _ => return Greeting::NotTls,
    }
    match handshake(bytes) {
        Some(message) => match hello(&message) {
            Some(sni) => Greeting::Hello { sni },
            None => Greeting::Malformed,
        },
        None if is_sound_so_far(bytes) && bytes.len() < MOST_HELLO => Greeting::NeedMore,
        None => Greeting::Malformed,
    }
}

/// The fragments of the records that are there, the last one perhaps in part; nothing if a record
/// is not one of the handshake.
fn fragments(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut rest = &bytes[..bytes.len().min(MOST_HELLO)];
    let mut message = Vec::new();
    while let Some((&[kind, major, _, high, low], behind)) = rest.split_first_chunk::<5>() {
        let size = usize::from(u16::from_be_bytes([high, low]));
        if kind != HANDSHAKE || major != 3 || size == 0 || size > 16 * 1024 {
            return None;
        }
        let (fragment, behind) = behind.split_at(size.min(behind.len()));
        message.extend_from_slice(fragment);
        rest = behind;
        if is_whole(&message) {
            break;
        }
    }
    Some(message)
}

fn is_whole(message: &[u8]) -> bool {
    matches!(message, [_, a, b, c, body @ ..] if body.len() >= size_of_body(*a, *b, *c))
}

fn size_of_body(a: u8, b: u8, c: u8) -> usize {
    u32::from_be_bytes([0, a, b, c]) as usize
}

/// The body of the first message, once it is whole.
fn handshake(bytes: &[u8]) -> Option<Vec<u8>> {
    let message = fragments(bytes)?;
    match message.as_slice() {
        [CLIENT_HELLO, a, b, c, body @ ..] => {
            body.get(..size_of_body(*a, *b, *c)).map(<[u8]>::to_vec)
        }
        _ => None,
    }
}

fn is_sound_so_far(bytes: &[u8]) -> bool {
    fragments(bytes).is_some_and(|message| match message.as_slice() {
        [] => true,
        [CLIENT_HELLO, a, b, c, ..] => size_of_body(*a, *b, *c) <= MOST_HELLO,
        [kind, ..] => *kind == CLIENT_HELLO,
    })
}

/// The name asked for, if any; nothing at all if the greeting is not sound.
fn hello(body: &[u8]) -> Option<Option<String>> {
    let mut body = Reader(body);
    // Version and random bytes; session; cipher suites; compression.
    body.take(2 + 32)?;
    body.short_list()?;
    body.long_list()?;
    body.short_list()?;
    if body.0.is_empty() {
        return Some(None);
    }
    let mut extensions = body.long_list()?;
    if !body.0.is_empty() {
        return None;
    }
    let mut found = None;
    while !extensions.0.is_empty() {
        let kind = extensions.number()?;
        let content = extensions.long_list()?;
        if kind == SERVER_NAME {
            // A second one could be the one that the server reads.
            if found.is_some() {
                return None;
            }
            found = Some(server_name(content)?);
        }
    }
    Some(found)
}

/// Exactly one host name.
fn server_name(mut content: Reader<'_>) -> Option<String> {
    let mut list = content.long_list()?;
    let kind = list.take(1)?[0];
    let name = list.long_list()?.0;
    if kind != HOST_NAME || !list.0.is_empty() || !content.0.is_empty() || name.is_empty() {
        return None;
    }
    let name = std::str::from_utf8(name).ok()?;
    name.bytes().all(|b| b.is_ascii_graphic()).then(|| name.to_ascii_lowercase())
}

/// What is left to read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, size: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u16> {
        self.take(2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// A list behind one byte with its size.
    fn short_list(&mut self) -> Option<Reader<'a>> {
        let size = usize::from(self.take(1)?[0]);
        self.take(size).map(Reader)
    }

    /// A list behind two bytes with its size.
    fn long_list(&mut self) -> Option<Reader<'a>> {
        let size = usize::from(self.number()?);
        self.take(size).map(Reader)
    }
}

#[cfg(test)]
mod tests;
