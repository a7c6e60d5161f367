//! The head of one request, read so strictly that no server can read it in another way.

use fumehood_core::egress::Reason;

use super::{Injection, body::Framing, look::is_token};
use crate::first_bytes::Peer;

/// Where the head ends, if it does.
pub(super) fn end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

/// A head.
#[derive(Debug)]
pub(super) struct Head<'a> {
    line: &'a str,
    target: &'a str,
    fields: Vec<(&'a str, &'a str)>,
    /// How the body's end is found.
    pub(super) framing: Framing,
    /// Whether it asks for another protocol.
    pub(super) upgrades: bool,
}

impl<'a> Head<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Head<'a>, Reason> {
        let bad = Reason::HttpMalformed;
        let sound = |b: &u8| matches!(b, b'\r' | b'\n' | b'\t' | 0x20..=0x7e | 0x80..);
        if !bytes.iter().all(sound) {
            return Err(bad);
        }
        let text = std::str::from_utf8(bytes).map_err(|_| bad)?;
        let text = text.strip_suffix("\r\n\r\n").ok_or(bad)?;
        let mut lines = text.split("\r\n");
        let line = lines.next().ok_or(bad)?;
        if text.split("\r\n").any(|line| line.contains(['\r', '\n'])) {
            return Err(bad);
        }
        let mut words = line.split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(bad);
        };
        let method_sound = !method.is_empty() && method.bytes().all(is_token);
        if !method_sound || target.is_empty() || !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
            return Err(bad);
        }
        if method.eq_ignore_ascii_case("CONNECT") {
            return Err(Reason::HttpConnect);
        }
        let fields: Vec<_> = lines.map(field).collect::<Option<_>>().ok_or(bad)?;
        let framing = Framing::of(&fields, version == "HTTP/1.1").ok_or(bad)?;
        let upgrades = all(&fields, "upgrade").next().is_some();
        if upgrades && !framing.is_done() {
            return Err(bad);
        }
        Ok(Head { line, target, fields, framing, upgrades })
    }

    /// Whether it is for whoever was dialled.
    pub(super) fn check(&self, peer: &Peer) -> Result<(), Reason> {
        let mut hosts = all(&self.fields, "host");
        let host = hosts.next().ok_or(Reason::HttpHostMissing)?;
        if hosts.next().is_some() {
            return Err(Reason::HttpHostDuplicate);
        }
        let is_meant =
            |authority: &str| without_port(authority).is_some_and(|host| peer.is_meant_by(host));
        let named = match self.target.split_once("://") {
            _ if self.target.starts_with('/') || self.target == "*" => None,
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => {
                rest.split(['/', '?', '#']).next()
            }
            _ => return Err(Reason::HttpMalformed),
        };
        if is_meant(host) && named.is_none_or(is_meant) {
            Ok(())
        } else {
            Err(Reason::HttpHostMismatch)
        }
    }

    /// The head as it goes on.
    pub(super) fn write(&self, injection: &Injection, out: &mut Vec<u8>) -> Result<(), Reason> {
        let added = match injection {
            Injection::None => None,
            Injection::Header { name, value } => Some((name.as_str(), value.as_str())),
            Injection::Missing => return Err(Reason::SecretMissing),
        };
        let mut put = |parts: &[&str]| {
            parts.iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
        };
        put(&[self.line, "\r\n"]);
        for (name, value) in &self.fields {
            if !added.is_some_and(|(own, _)| name.eq_ignore_ascii_case(own)) {
                put(&[name, ": ", value, "\r\n"]);
            }
        }
        if let Some((name, value)) = added {
            put(&[name, ": ", value, "\r\n"]);
        }
        put(&["\r\n"]);
        Ok(())
    }
}

/// A header. Space before the colon and lines that go on in the next one are refused.
fn field(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let sound = !name.is_empty() && name.bytes().all(is_token);
    sound.then(|| (name, value.trim_matches([' ', '\t'])))
}

/// The values of all headers of a name.
pub(super) fn all<'f>(
    fields: &'f [(&'f str, &'f str)],
    name: &'static str,
) -> impl Iterator<Item = &'f str> {
    fields.iter().filter(move |(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
}

/// `example.com:80` without its port. Anything else that a URL can have there is refused.
fn without_port(authority: &str) -> Option<&str> {
    let (host, port) = match authority.find(']') {
        Some(at) if authority.starts_with('[') => authority.split_at(at + 1),
        _ => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let digits = match port {
        "" => return Some(host),
        port => port.strip_prefix(':')?,
    };
    digits.bytes().all(|b| b.is_ascii_digit()).then_some(host)
}
