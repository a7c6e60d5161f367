//! Names that a box has been answered, each with an address that stands for it in that box alone.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv4Addr},
    sync::{Mutex, PoisonError},
};

use fumehood_core::egress::Ipv4Network;

/// No box needs more; one that asks for more is making them up.
pub(crate) const MOST_NAMES: u32 = 16_384;

/// The table of one box. An address is given once and never to another name.
#[derive(Debug)]
pub(crate) struct Names {
    network: Ipv4Network,
    most: u32,
    tables: Mutex<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    addresses: HashMap<String, Ipv4Addr>,
    /// By number.
    names: Vec<String>,
}

impl Names {
    pub(crate) fn new(network: Ipv4Network) -> Names {
        let most = MOST_NAMES.min(network.hosts());
        Names { network, most, tables: Mutex::default() }
    }

    /// The address that stands for the name, or nothing if there are too many names.
    pub(crate) fn address_of(&self, name: &str) -> Option<Ipv4Addr> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(address) = tables.addresses.get(name) {
            return Some(*address);
        }
        let number = tables.names.len() as u32;
        let address = self.network.host(number).filter(|_| number < self.most)?;
        tables.addresses.insert(name.to_owned(), address);
        tables.names.push(name.to_owned());
        Some(address)
    }

    /// The name that an address stands for.
    pub(crate) fn name_of(&self, address: IpAddr) -> Option<String> {
        let IpAddr::V4(address) = address.to_canonical() else { return None };
        let first = self.network.host(0)?.to_bits();
        let number = address.to_bits().checked_sub(first)? as usize;
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        tables.names.get(number).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_stable_and_never_reused() {
        let names = Names::new("198.18.0.0/29".parse().unwrap());
        let one = names.address_of("a.com").unwrap();
        assert_eq!(one, Ipv4Addr::new(198, 18, 0, 1));
        assert_ne!(names.address_of("b.com").unwrap(), one);
        assert_eq!(names.address_of("a.com"), Some(one));
        assert_eq!(names.name_of(one.into()).as_deref(), Some("a.com"));
        assert_eq!(names.name_of(one.to_ipv6_mapped().into()).as_deref(), Some("a.com"));
        assert_eq!(names.name_of("198.18.0.5".parse().unwrap()), None);
        assert_eq!(names.name_of("198.17.255.255".parse().unwrap()), None);
    }

    #[test]
    fn the_table_has_an_end() {
        let small = Names::new("198.18.0.0/29".parse().unwrap());
        let given = (0..10).filter_map(|n| small.address_of(&format!("n{n}"))).count();
        assert_eq!(given, 6);
        let large = Names::new(Ipv4Network::BENCHMARK);
        assert!((0..MOST_NAMES).all(|n| large.address_of(&format!("n{n}")).is_some()));
        assert_eq!(large.address_of("more"), None);
        assert!(large.address_of("n0").is_some());
    }
}
