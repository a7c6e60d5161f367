//! Patterns for hosts: what may be reached, by name or by address. Only their meaning; whoever opens
//! connections asks here.

mod parse;

use std::{fmt, net::IpAddr, ops::RangeInclusive, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

pub use self::parse::HostError;

/// A pattern for hosts: `example.com`, `*.example.com`, `10.0.0.0/8`, `*`, each with an optional
/// port or range of ports behind a colon.
///
/// ```
/// use fumehood_core::policy::HostPattern;
/// let pattern: HostPattern = "*.example.com:443".parse().unwrap();
/// assert!(pattern.matches_name("a.b.Example.com.", 443));
/// assert!(!pattern.matches_name("example.com", 443));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPattern {
    host: Host,
    ports: Option<Ports>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Host {
    /// `*`
    Any,
    /// A name, in lower case, without a dot at the end.
    Name(String),
    /// `*.name`: every name below it, at any depth.
    Below(String),
    /// An address, or all that begin with the same bits.
    Network { address: IpAddr, bits: u8 },
}

impl Host {
    fn covers(&self, other: &Host) -> bool {
        match (self, other) {
            (Host::Any, _) => true,
            (Host::Name(own), Host::Name(other)) => own == other,
            (Host::Below(own), Host::Name(other)) => is_below(other, own),
            (Host::Below(own), Host::Below(other)) => own == other || is_below(other, own),
            (
                Host::Network { address: own, bits },
                Host::Network { address: other, bits: other_bits },
            ) => bits <= other_bits && same_bits(*own, *other, *bits),
            _ => false,
        }
    }
}

/// The first and the last port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Ports {
    first: u16,
    last: u16,
}

impl FromStr for HostPattern {
    type Err = HostError;

    fn from_str(text: &str) -> Result<HostPattern, HostError> {
        parse::parse(text)
    }
}

impl HostPattern {
    /// `*`: every host, on every port.
    pub fn any() -> HostPattern {
        HostPattern { host: Host::Any, ports: None }
    }

    /// Whether a host of this name may be meant. A name that is an address is one.
    pub fn matches_name(&self, name: &str, port: u16) -> bool {
        if let Some(address) = parse::address(name) {
            return self.matches_address(address, port);
        }
        let name = parse::tidy(name);
        self.has_port(port)
            && match &self.host {
                Host::Any => true,
                Host::Name(own) => name == *own,
                Host::Below(parent) => is_below(&name, parent),
                Host::Network { .. } => false,
            }
    }

    /// Whether this address is meant. A pattern for names means no address.
    pub fn matches_address(&self, address: IpAddr, port: u16) -> bool {
        self.has_port(port)
            && match &self.host {
                Host::Any => true,
                Host::Name(_) | Host::Below(_) => false,
                Host::Network { address: own, bits } => {
                    same_bits(*own, address.to_canonical(), *bits)
                }
            }
    }

    /// Whether it means everything that the other one means.
    pub fn covers(&self, other: &HostPattern) -> bool {
        let ports = match (self.ports, other.ports) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(own), Some(other)) => own.first <= other.first && other.last <= own.last,
        };
        ports && self.host.covers(&other.host)
    }

    /// What both mean, if they have anything in common. Of two sets of hosts one always holds the
    /// other, or they are apart.
    pub fn common(&self, other: &HostPattern) -> Option<HostPattern> {
        let host = match (self.host.covers(&other.host), other.host.covers(&self.host)) {
            (true, _) => &other.host,
            (false, true) => &self.host,
            (false, false) => return None,
        };
        let ports = match (self.ports, other.ports) {
            (None, ports) | (ports, None) => ports,
            (Some(one), Some(other)) => {
                let (first, last) = (one.first.max(other.first), one.last.min(other.last));
                if first > last {
                    return None;
                }
                Some(Ports { first, last })
            }
        };
        Some(HostPattern { host: host.clone(), ports })
    }

    /// The same hosts on these ports: a number, or a range such as `8000-8100`.
    pub(super) fn on_ports(&self, ports: &str) -> Result<HostPattern, HostError> {
        Ok(HostPattern { host: self.host.clone(), ports: Some(parse::ports(ports, ports)?) })
    }

    /// Whether it says which ports it means.
    pub(super) fn says_ports(&self) -> bool {
        self.ports.is_some()
    }

    /// Whether it means only the box itself, by name.
    pub(super) fn is_box_by_name(&self) -> bool {
        self.exact_name().is_some_and(is_box)
    }

    /// Whether it names an address or a network of addresses, which `*` does not.
    pub fn names_addresses(&self) -> bool {
        matches!(self.host, Host::Network { .. })
    }

    /// The only name that it means, if it means one.
    pub fn exact_name(&self) -> Option<&str> {
        match &self.host {
            Host::Name(name) => Some(name),
            _ => None,
        }
    }

    /// The only address that it means, if it means one.
    pub fn exact_address(&self) -> Option<IpAddr> {
        match &self.host {
            Host::Network { address, bits: 32 } if address.is_ipv4() => Some(*address),
            Host::Network { address, bits: 128 } => Some(*address),
            _ => None,
        }
    }

    /// The ports that it means.
    pub fn ports(&self) -> RangeInclusive<u16> {
        self.ports.map_or(1..=u16::MAX, |ports| ports.first..=ports.last)
    }

    /// How narrow it is: a pattern for one host is narrower than one for many, and of those the
    /// one that says more. For the same hosts the one with fewer ports is narrower.
    pub(crate) fn narrowness(&self) -> (usize, u16) {
        let host = match &self.host {
            Host::Any => 0,
            Host::Below(parent) => 1 + parent.len(),
            Host::Network { bits, .. } => 1 + usize::from(*bits),
            Host::Name(_) => usize::MAX,
        };
        let ports = self.ports();
        (host, u16::MAX - (ports.end() - ports.start()))
    }

    fn has_port(&self, port: u16) -> bool {
        self.ports.is_none_or(|ports| (ports.first..=ports.last).contains(&port))
    }
}

/// A host as a program may ask for it: a name or an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostName {
    /// A name, in lower case, without a dot at the end.
    Name(String),
    /// An address.
    Address(IpAddr),
}

impl HostName {
    /// Reads what a program asked for. What is no host at all is an error, and so never allowed.
    pub fn parse(text: &str) -> Result<HostName, HostError> {
        match parse::address(text) {
            Some(address) => Ok(HostName::Address(address)),
            None => parse::name(text).map(HostName::Name),
        }
    }

    /// Whether it is the box itself.
    pub fn is_loopback(&self) -> bool {
        match self {
            HostName::Name(name) => is_box(name),
            HostName::Address(address) => address.is_loopback(),
        }
    }

    /// Whether the pattern means it.
    pub fn is_meant_by(&self, pattern: &HostPattern, port: u16) -> bool {
        match self {
            HostName::Name(name) => pattern.matches_name(name, port),
            HostName::Address(address) => pattern.matches_address(*address, port),
        }
    }
}

/// Whether a name is the box itself.
fn is_box(name: &str) -> bool {
    name == "localhost" || is_below(name, "localhost")
}

fn is_below(name: &str, parent: &str) -> bool {
    name.strip_suffix(parent).and_then(|rest| rest.strip_suffix('.')).is_some_and(|n| !n.is_empty())
}

fn same_bits(a: IpAddr, b: IpAddr, bits: u8) -> bool {
    match (a, b) {
        (IpAddr::V4(a), IpAddr::V4(b)) => {
            (a.to_bits() ^ b.to_bits()).checked_shr(32 - u32::from(bits)).unwrap_or(0) == 0
        }
        (IpAddr::V6(a), IpAddr::V6(b)) => {
            (a.to_bits() ^ b.to_bits()).checked_shr(128 - u32::from(bits)).unwrap_or(0) == 0
        }
        _ => false,
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Any => f.write_str("*")?,
            Host::Name(name) => f.write_str(name)?,
            Host::Below(name) => write!(f, "*.{name}")?,
            Host::Network { address, bits } => {
                let (whole, bracket) = match address {
                    IpAddr::V4(_) => (32, false),
                    IpAddr::V6(_) => (128, self.ports.is_some()),
                };
                let (open, close) = if bracket { ("[", "]") } else { ("", "") };
                match *bits == whole {
                    true => write!(f, "{open}{address}{close}")?,
                    false => write!(f, "{open}{address}/{bits}{close}")?,
                }
            }
        }
        match self.ports {
            None => Ok(()),
            Some(Ports { first, last }) if first == last => write!(f, ":{first}"),
            Some(Ports { first, last }) => write!(f, ":{first}-{last}"),
        }
    }
}

impl Serialize for HostPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HostPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HostPattern, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
