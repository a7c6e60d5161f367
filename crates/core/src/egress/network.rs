//! A network of IPv4 addresses, written as `198.18.0.0/15`.

use std::{fmt, net::Ipv4Addr, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// A network with at least two usable addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4Network {
    address: Ipv4Addr,
    bits: u8,
}

/// A text that is no such network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is not a network of IPv4 addresses; write its first address and 8 to 30 bits, as in 198.18.0.0/15"
)]
pub struct NotANetwork {
    given: String,
}

impl Ipv4Network {
    /// 198.18.0.0/15, which no host of the world has.
    pub const BENCHMARK: Ipv4Network =
        Ipv4Network { address: Ipv4Addr::new(198, 18, 0, 0), bits: 15 };

    /// Whether the address is in it.
    pub fn contains(self, address: Ipv4Addr) -> bool {
        (address.to_bits() ^ self.address.to_bits()) >> (32 - u32::from(self.bits)) == 0
    }

    /// The first address, which stands for no host.
    pub fn first(self) -> Ipv4Addr {
        self.address
    }

    /// The address with this number, from 0. The first and the last of the network are left out.
    pub fn host(self, number: u32) -> Option<Ipv4Addr> {
        (number < self.hosts()).then(|| Ipv4Addr::from_bits(self.address.to_bits() + 1 + number))
    }

    /// How many addresses it has for hosts.
    pub fn hosts(self) -> u32 {
        (1 << (32 - u32::from(self.bits))) - 2
    }
}

impl FromStr for Ipv4Network {
    type Err = NotANetwork;

    fn from_str(text: &str) -> Result<Ipv4Network, NotANetwork> {
        let refused = || NotANetwork { given: text.escape_debug().to_string() };
        let (address, bits) = text.split_once('/').ok_or_else(refused)?;
        let address: Ipv4Addr = address.parse().map_err(|_| refused())?;
        let bits: u8 = bits.parse().map_err(|_| refused())?;
        let sound = (8..=30).contains(&bits) && address.to_bits() << bits == 0;
        if sound { Ok(Ipv4Network { address, bits }) } else { Err(refused()) }
    }
}

impl fmt::Display for Ipv4Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

impl Serialize for Ipv4Network {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Ipv4Network {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Ipv4Network, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
