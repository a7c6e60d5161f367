//! One question for the address of a name, and its answer.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket},
    time::Duration,
};

/// Two of them at most, and a box waits no longer than that.
const WAIT: Duration = Duration::from_secs(2);
const TRIES: usize = 2;

const NUMBER: [u8; 2] = [0x66, 0x68];
const A: [u8; 2] = [0, 1];
const IN: [u8; 2] = [0, 1];

/// Asks a server. No answer is like the answer that there is no such name.
pub(crate) fn ask(server: IpAddr, name: &str) -> Option<IpAddr> {
    let question = question(name)?;
    let here: IpAddr = match server {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind(SocketAddr::new(here, 0)).ok()?;
    socket.connect(SocketAddr::new(server, 53)).ok()?;
    socket.set_read_timeout(Some(WAIT)).ok()?;
    let mut buffer = [0; 1500];
    for _ in 0..TRIES {
        socket.send(&question).ok()?;
        match socket.recv(&mut buffer) {
            Ok(length) => return answer(&buffer[..length]).map(IpAddr::V4),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return None,
        }
    }
    None
}

fn question(name: &str) -> Option<Vec<u8>> {
    // One question, and the server is to look it up.
    let mut message = [&NUMBER[..], &[1, 0, 0, 1, 0, 0, 0, 0, 0, 0]].concat();
    for label in name.split('.') {
        let length = u8::try_from(label.len()).ok().filter(|length| (1..64).contains(length))?;
        message.push(length);
        message.extend(label.as_bytes());
    }
    message.push(0);
    message.extend([A, IN].concat());
    Some(message)
}

/// The first address of an answer without an error.
fn answer(message: &[u8]) -> Option<Ipv4Addr> {
    let two = |at: usize| Some(u16::from_be_bytes([*message.get(at)?, *message.get(at + 1)?]));
    if message.get(..2)? != NUMBER || two(2)? & 0x800f != 0x8000 {
        return None;
    }
    let mut at = 12;
    for _ in 0..two(4)? {
        at = behind_name(message, at)? + 4;
    }
    for _ in 0..two(6)? {
        at = behind_name(message, at)?;
        let length = usize::from(two(at + 8)?);
        let content = message.get(at + 10..at + 10 + length)?;
        if message.get(at..at + 2)? == A
            && let [a, b, c, d] = *content
        {
            return Some(Ipv4Addr::new(a, b, c, d));
        }
        at += 10 + length;
    }
    None
}

/// The place behind a name, which may end with a pointer to another.
fn behind_name(message: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *message.get(at)? {
            0 => return Some(at + 1),
            length @ 1..64 => at += 1 + usize::from(length),
            192.. => return Some(at + 2),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(code: u8, records: &[&[u8]]) -> Vec<u8> {
        let mut message = question("a.com").unwrap();
        message[2] |= 0x80;
        message[3] |= code;
        message[7] = records.len() as u8;
        for record in records {
            message.extend([0xc0, 12]);
            message.extend(*record);
        }
        message
    }

    const ALIAS: &[u8] = &[0, 5, 0, 1, 0, 0, 0, 9, 0, 2, 0xc0, 12];
    const ADDRESS: &[u8] = &[0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 198, 18, 0, 1];

    #[test]
    fn answers_are_read() {
        let found = Some(Ipv4Addr::new(198, 18, 0, 1));
        assert_eq!(answer(&reply(0, &[ADDRESS])), found);
        assert_eq!(answer(&reply(0, &[ALIAS, ADDRESS])), found);
        assert_eq!(answer(&reply(0, &[])), None);
        assert_eq!(answer(&reply(3, &[ADDRESS])), None, "an error has no answer");
        let whole = reply(0, &[ALIAS, ADDRESS]);
        for length in 0..whole.len() {
            assert_eq!(answer(&whole[..length]), None, "cut at {length}");
        }
        assert!(question("a..com").is_none() && question(&"x".repeat(64)).is_none());
    }
}
