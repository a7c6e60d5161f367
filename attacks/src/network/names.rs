//! Names, asked for without a C library, and data hidden in them.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket},
    time::Duration,
};

use crate::{Words, answer::tell};

const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 53)), 53);

/// An answer: its code, and how many records it has.
struct Reply {
    code: u8,
    records: u8,
    address: Option<Ipv4Addr>,
}

fn ask(name: &str, kind: u16) -> io::Result<Reply> {
    let mut question = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.') {
        question.push(label.len().min(63) as u8);
        question.extend(label.bytes().take(63));
    }
    question.push(0);
    question.extend(kind.to_be_bytes());
    question.extend([0, 1]);
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.set_read_timeout(Some(Duration::from_secs(3)))?;
    socket.connect(SERVER)?;
    socket.send(&question)?;
    let mut reply = [0; 1500];
    let length = socket.recv(&mut reply)?;
    if length < 12 {
        return Err(io::ErrorKind::InvalidData.into());
    }
    // The address is the last thing in an answer with one record.
    let last = reply[..length].last_chunk::<4>().filter(|_| reply[7] == 1 && kind == 1);
    Ok(Reply { code: reply[3] & 15, records: reply[7], address: last.map(|four| (*four).into()) })
}

/// The address of a host by any spelling that the C library would take, or by its name.
pub(super) fn address_of(host: &str) -> Option<IpAddr> {
    if let Ok(address) = host.parse() {
        return Some(address);
    }
    numeric(host).map(IpAddr::V4).or_else(|| ask(host, 1).ok()?.address.map(IpAddr::V4))
}

/// Decimal, octal and hexadecimal parts, of which the last fills the rest.
fn numeric(host: &str) -> Option<Ipv4Addr> {
    let part = |text: &str| match text {
        _ if text.starts_with("0x") => u32::from_str_radix(&text[2..], 16).ok(),
        _ if text.len() > 1 && text.starts_with('0') => u32::from_str_radix(text, 8).ok(),
        _ => text.parse().ok(),
    };
    let parts: Vec<u32> = host.split('.').map(part).collect::<Option<_>>()?;
    let (last, first) = parts.split_last()?;
    if first.len() > 3 || first.iter().any(|part| *part > 255) {
        return None;
    }
    let high = first.iter().enumerate().fold(0u32, |sum, (n, part)| sum | part << (24 - 8 * n));
    Some((high | last).into())
}

/// `NAME`: a secret in its labels, by every kind of question.
pub(crate) fn in_labels(words: Words<'_>) {
    for name in words {
        for (label, kind) in
            [("a", 1), ("aaaa", 28), ("txt", 16), ("mx", 15), ("https", 65), ("any", 255)]
        {
            tell(
                label,
                match ask(&format!("a-secret-in-a-label.{name}"), kind) {
                    Ok(Reply { code: 3, .. }) => "no_such_name".to_owned(),
                    Ok(Reply { records: 0, .. }) => "nothing".to_owned(),
                    Ok(_) => "answered".to_owned(),
                    Err(error) => crate::answer::io_word::<()>(Err(error)),
                },
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_spelled_in_many_ways() {
        for host in ["2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518"] {
            assert_eq!(numeric(host), Some(Ipv4Addr::new(169, 254, 169, 254)), "{host}");
        }
        assert_eq!(numeric("near.test"), None);
    }
}
