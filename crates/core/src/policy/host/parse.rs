//! From the text of a host pattern to its meaning. Strict: what could be read in two ways is refused.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Host, HostPattern, Ports};

/// The bounds of DNS.
const MOST_NAME: usize = 253;
const MOST_LABEL: usize = 63;

/// Why a text is not a host. Each says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// Nothing in it.
    #[error("the host is empty; write for example example.com")]
    Empty,
    /// An address of a page, not of a host.
    #[error("`{given}` is a URL; write the host alone, for example example.com:443")]
    Url {
        /// The text as given.
        given: String,
    },
    /// A user name before the host.
    #[error("`{given}` has a user in it; write the host alone")]
    User {
        /// The text as given.
        given: String,
    },
    /// A character that no host has.
    #[error("`{given}` has a character that no host name has; write names as xn--… if need be")]
    Character {
        /// The text as given, made harmless.
        given: String,
    },
    /// A star that does not stand for whole labels in front.
    #[error("`{given}` has a `*` inside; it can only stand alone or in front, as in *.example.com")]
    Star {
        /// The text as given.
        given: String,
    },
    /// Labels that are empty, too long or begin or end with a hyphen.
    #[error(
        "`{given}` is not a host name; between dots stand 1 to 63 letters, digits and hyphens, 253 in all"
    )]
    Name {
        /// The text as given.
        given: String,
    },
    /// A name that some programs read as an address.
    #[error("`{given}` is neither a name nor an address; write all four numbers, each up to 255")]
    LikeAnAddress {
        /// The text as given.
        given: String,
    },
    /// A port that is none.
    #[error(
        "`{given}` has a wrong port; write a number from 1 to 65535, or a range such as 8000-8100"
    )]
    Port {
        /// The text as given.
        given: String,
    },
    /// A network whose length is none.
    #[error(
        "`{given}` has a wrong number of bits; write up to 32 behind the slash, for IPv6 up to 128"
    )]
    Bits {
        /// The text as given.
        given: String,
    },
    /// A network with bits behind its length.
    #[error("`{given}` names a host within a network; write {network} for the network")]
    HostBits {
        /// The text as given.
        given: String,
        /// The network it is in.
        network: String,
    },
}

pub(super) fn parse(text: &str) -> Result<HostPattern, HostError> {
    let given = || text.escape_debug().to_string();
    if text.is_empty() {
        return Err(HostError::Empty);
    }
    if text.contains("://") {
        return Err(HostError::Url { given: given() });
    }
    if text.contains('@') {
        return Err(HostError::User { given: given() });
    }
    if text.chars().any(|c| !c.is_ascii_graphic()) {
        return Err(HostError::Character { given: given() });
    }
    let (host, ports) = split_ports(text)?;
    let host = match host {
        "" => return Err(HostError::Empty),
        "*" => Host::Any,
        host => match network(host, text)? {
            Some((address, bits)) => Host::Network { address, bits },
            None if host.contains('/') => return Err(HostError::Url { given: given() }),
            None => match host.strip_prefix("*.") {
                Some(parent) => Host::Below(name(parent)?),
                None => Host::Name(name(host)?),
            },
        },
    };
    Ok(HostPattern { host, ports })
}

/// The host without brackets, and the ports behind it. A bare IPv6 address has colons of its own.
fn split_ports(text: &str) -> Result<(&str, Option<Ports>), HostError> {
    let refused = || HostError::Port { given: text.to_owned() };
    let (host, ports) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, behind) = rest.split_once(']').ok_or_else(refused)?;
            match behind {
                "" => (host, None),
                behind => (host, Some(behind.strip_prefix(':').ok_or_else(refused)?)),
            }
        }
        None => match text.split_once(':') {
            Some((_, rest)) if rest.contains(':') => (text, None),
            Some((host, ports)) => (host, Some(ports)),
            None => (text, None),
        },
    };
    match ports {
        Some(written) => Ok((host, Some(self::ports(written, text)?))),
        None => Ok((host, None)),
    }
}

/// A port, or a range of them.
pub(super) fn ports(ports: &str, given: &str) -> Result<Ports, HostError> {
    let refused = || HostError::Port { given: given.escape_debug().to_string() };
    let number = |digits: &str| match digits.parse::<u16>() {
        Ok(port) if port > 0 && digits.bytes().all(|b| b.is_ascii_digit()) => Ok(port),
        _ => Err(refused()),
    };
    let (first, last) = match ports.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(ports)?, number(ports)?),
    };
    if first > last { Err(refused()) } else { Ok(Ports { first, last }) }
}

/// An address, alone or with a number of bits. IPv4 inside of IPv6 is IPv4.
fn network(host: &str, given: &str) -> Result<Option<(IpAddr, u8)>, HostError> {
    let (address, bits) = match host.split_once('/') {
        Some((address, bits)) => (address, Some(bits)),
        None => (host, None),
    };
    let Ok(written) = address.parse::<IpAddr>() else { return Ok(None) };
    let whole = if written.is_ipv4() { 32 } else { 128 };
    let bits = match bits {
        None => whole,
        Some(digits) => match digits.parse::<u8>() {
            Ok(bits) if bits <= whole && digits.bytes().all(|b| b.is_ascii_digit()) => bits,
            _ => return Err(HostError::Bits { given: given.to_owned() }),
        },
    };
    let masked = mask(written, bits);
    if masked != written {
        let network = format!("{masked}/{bits}");
        return Err(HostError::HostBits { given: given.to_owned(), network });
    }
    match written.to_canonical() {
        IpAddr::V4(inner) if written.is_ipv6() && bits >= 96 => Ok(Some((inner.into(), bits - 96))),
        _ => Ok(Some((written, bits))),
    }
}

fn mask(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(a) => {
            let kept = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            Ipv4Addr::from_bits(a.to_bits() & kept).into()
        }
        IpAddr::V6(a) => {
            let kept = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
            Ipv6Addr::from_bits(a.to_bits() & kept).into()
        }
    }
}

/// The address that a text is, if it is one; with or without brackets.
pub(super) fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    bare.parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

/// Lower case, without the dot at the end.
pub(super) fn tidy(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

/// A name as DNS takes it.
pub(super) fn name(text: &str) -> Result<String, HostError> {
    let given = || text.escape_debug().to_string();
    if text.is_empty() {
        return Err(HostError::Empty);
    }
    if text.contains('*') {
        return Err(HostError::Star { given: given() });
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !text.chars().all(allowed) {
        return Err(HostError::Character { given: given() });
    }
    let name = tidy(text);
    let sound = |label: &str| {
        (1..=MOST_LABEL).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
    };
    if name.len() > MOST_NAME || !name.split('.').all(sound) {
        return Err(HostError::Name { given: given() });
    }
    // `127.1` and `0x7f.1` are addresses to some programs and names to others.
    let last = name.rsplit('.').next().unwrap_or_default();
    let hexadecimal =
        last.strip_prefix("0x").is_some_and(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
    if hexadecimal || last.bytes().all(|b| b.is_ascii_digit()) {
        return Err(HostError::LikeAnAddress { given: given() });
    }
    Ok(name)
}
