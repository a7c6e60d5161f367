//! From a name to an address, with the files of the box. Its C library is not asked: there may be
//! none, or one that does not fit this program.

use std::{
    fs,
    net::{IpAddr, Ipv4Addr},
};

use crate::dns;

/// The address of a host.
pub(crate) fn address_of(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    if let Ok(address) = bare.parse() {
        return Some(address);
    }
    let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    if name == "localhost" || name.ends_with(".localhost") {
        return Some(Ipv4Addr::LOCALHOST.into());
    }
    let file = |path: &str| fs::read_to_string(path).unwrap_or_default();
    in_hosts(&file("/etc/hosts"), &name).or_else(|| {
        servers(&file("/etc/resolv.conf")).into_iter().find_map(|server| dns::ask(server, &name))
    })
}

/// The address of a name in a file like `/etc/hosts`.
fn in_hosts(text: &str, name: &str) -> Option<IpAddr> {
    text.lines().find_map(|line| {
        let mut words = line.split('#').next()?.split_whitespace();
        let address = words.next()?.parse().ok()?;
        words.any(|word| word.eq_ignore_ascii_case(name)).then_some(address)
    })
}

/// The first servers of a file like `/etc/resolv.conf`.
fn servers(text: &str) -> Vec<IpAddr> {
    let named = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        words.next().filter(|word| *word == "nameserver")?;
        words.next()?.parse().ok()
    });
    named.take(3).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_as_others_read_them() {
        let hosts = "# a\n127.0.0.1 localhost\n10.0.0.7\tdb.corp db # db2\n";
        assert_eq!(in_hosts(hosts, "db"), Some("10.0.0.7".parse().unwrap()));
        assert_eq!(in_hosts(hosts, "db2"), None);
        let servers =
            servers("search x\nnameserver 127.0.0.53\n#nameserver 1.1.1.1\nnameserver ::1\n");
        assert_eq!(servers, ["127.0.0.53".parse::<IpAddr>().unwrap(), "::1".parse().unwrap()]);
        assert_eq!(address_of("[::1]"), Some("::1".parse().unwrap()));
        assert_eq!(address_of("Localhost."), Some("127.0.0.1".parse().unwrap()));
    }
}
