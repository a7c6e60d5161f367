//! Which addresses are public.

use std::net::IpAddr;

use crate::egress::{AddressKind, Ipv4Network, address_is_public, address_kind};

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn addresses_of_the_world_are_public() {
    for text in [
        "1.1.1.1",
        "8.8.8.8",
        "93.184.216.34",
        "100.63.255.255",
        "100.128.0.0",
        "172.15.0.1",
        "172.32.0.1",
        "192.0.1.1",
        "198.17.0.1",
        "198.20.0.1",
        "223.255.255.255",
        "2606:4700::1111",
        "2a00:1450:4001::1",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2002:0808:0808::1",
        "2001:200::1",
    ] {
        assert!(address_is_public(address(text)), "{text}");
    }
}

#[test]
fn all_others_are_not() {
    use AddressKind::*;
    for (text, kind) in [
        ("127.0.0.1", Loopback),
        ("127.255.255.254", Loopback),
        ("::1", Loopback),
        ("::ffff:127.0.0.1", Loopback),
        ("64:ff9b::127.0.0.1", Loopback),
        ("2002:7f00:1::", Loopback),
        ("0.0.0.0", Unspecified),
        ("0.1.2.3", Unspecified),
        ("::", Unspecified),
        ("10.0.0.1", Private),
        ("172.16.0.1", Private),
        ("172.31.255.255", Private),
        ("192.168.0.1", Private),
        ("100.64.0.1", Private),
        ("100.100.100.200", Private),
        ("fd00:ec2::254", Private),
        ("fec0::1", Private),
        ("::ffff:10.0.0.1", Private),
        ("64:ff9b::10.0.0.1", Private),
        ("2002:a00:1::", Private),
        ("169.254.169.254", LinkLocal),
        ("64:ff9b::169.254.169.254", LinkLocal),
        ("fe80::1", LinkLocal),
        ("febf::1", LinkLocal),
        ("224.0.0.1", Many),
        ("255.255.255.255", Many),
        ("ff02::1", Many),
        ("192.0.0.192", Reserved),
        ("192.0.2.1", Reserved),
        ("198.51.100.1", Reserved),
        ("203.0.113.1", Reserved),
        ("198.18.0.1", Reserved),
        ("198.19.255.255", Reserved),
        ("240.0.0.1", Reserved),
        ("2001:db8::1", Reserved),
        ("3fff::1", Reserved),
        ("2001:2::1", Reserved),
        ("100::1", Reserved),
        ("64:ff9b:1::8.8.8.8", Reserved),
        ("::8.8.8.8", Reserved),
        ("::ffff:0:8.8.8.8", Reserved),
    ] {
        assert_eq!(address_kind(address(text)), kind, "{text}");
        assert!(!address_is_public(address(text)), "{text}");
    }
    // Teredo with a server of the world and a client of 192.168.0.1, then with a public client.
    assert!(!address_is_public(address("2001:0:808:808:0:0:3f57:fffe")));
    assert!(address_is_public(address("2001:0:808:808:0:0:f7f7:f7f7")));
    // ISATAP.
    assert!(!address_is_public(address("2a00:1::5efe:10.0.0.1")));
    assert!(address_is_public(address("2a00:1::5efe:8.8.8.8")));
}

#[test]
fn a_network_of_addresses_for_names() {
    let network: Ipv4Network = "198.18.0.0/15".parse().unwrap();
    assert_eq!(network, Ipv4Network::BENCHMARK);
    assert_eq!(network.hosts(), 131_070);
    assert_eq!(network.host(0), Some("198.18.0.1".parse().unwrap()));
    assert_eq!(network.host(131_069), Some("198.19.255.254".parse().unwrap()));
    assert_eq!(network.host(131_070), None);
    assert!(network.contains("198.19.1.1".parse().unwrap()));
    assert!(!network.contains("198.20.0.0".parse().unwrap()));
    for text in ["", "1.2.3.4", "198.18.0.1/15", "10.0.0.0/7", "10.0.0.0/31", "10.0.0.0/x"] {
        assert!(text.parse::<Ipv4Network>().is_err(), "{text}");
    }
}
