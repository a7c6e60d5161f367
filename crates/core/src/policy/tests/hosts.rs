//! Host patterns: what they mean, what they refuse.

use std::net::IpAddr;

use proptest::prelude::*;

use crate::policy::{HostName, HostPattern};

#[track_caller]
fn pattern(text: &str) -> HostPattern {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn names_and_addresses() {
    for (text, yes, no) in [
        ("example.com", &["example.com", "EXAMPLE.com."][..], &["a.example.com", "1.2.3.4"][..]),
        ("*.example.com", &["a.example.com", "a.b.example.com"], &["example.com", "xexample.com"]),
        ("*", &["anything", "1.2.3.4", "::1"], &[]),
        ("10.0.0.0/8", &["10.1.2.3", "::ffff:10.1.2.3", "[::ffff:a00:1]"], &["11.0.0.1", "::1"]),
        ("10.1.2.3", &["10.1.2.3"], &["10.1.2.4", "a.com"]),
        ("2001:db8::/32", &["2001:db8::1", "[2001:db8:1::]"], &["2001:db9::1", "1.2.3.4"]),
        ("::ffff:10.0.0.0/104", &["10.9.9.9"], &["11.0.0.0"]),
        ("0.0.0.0/0", &["8.8.8.8"], &["::1", "a.com"]),
        ("::/0", &["::1"], &["8.8.8.8"]),
        ("localhost", &["localhost"], &["127.0.0.1"]),
    ] {
        for name in yes {
            assert!(pattern(text).matches_name(name, 443), "{text} should mean {name}");
        }
        for name in no {
            assert!(!pattern(text).matches_name(name, 443), "{text} should not mean {name}");
        }
    }
}

#[test]
fn ports_are_one_a_range_or_all() {
    assert!(pattern("a.com:443").matches_name("a.com", 443));
    assert!(!pattern("a.com:443").matches_name("a.com", 80));
    assert!(pattern("a.com:8000-8100").matches_name("a.com", 8050));
    assert!(!pattern("a.com:8000-8100").matches_name("a.com", 8101));
    assert!(pattern("[::1]:80").matches_address("::1".parse().unwrap(), 80));
    assert!(!pattern("[::1]:80").matches_address("::1".parse().unwrap(), 81));
    assert!(pattern("10.0.0.0/8:22").matches_name("10.0.0.1", 22));
    assert!(pattern("*:443").matches_name("any", 443) && !pattern("*:443").matches_name("any", 80));
}

#[test]
fn what_could_be_read_in_two_ways_is_refused() {
    let long_label = format!("{}.com", "a".repeat(64));
    let long_name = format!("{}com", "a.".repeat(126));
    for text in [
        "",
        " ",
        "a b",
        "http://a.com",
        "a.com/path",
        "user@a.com",
        "a.com\r\n",
        "a\0.com",
        "a..com",
        ".com",
        "-a.com",
        "a-.com",
        "ä.com",
        "a.*.com",
        "*a.com",
        "**",
        "*.*",
        "*.",
        "a.com:",
        ":80",
        "a.com:0",
        "a.com:65536",
        "a.com:+80",
        "a.com:90-80",
        "a.com:1-",
        "1.2.3",
        "1.2.3.4.5",
        "256.1.1.1",
        "0x7f.0x1",
        "127.1",
        "10.0.0.0/33",
        "10.0.0.1/8",
        "10.0.0.0/",
        "10.0.0.0/+8",
        "[::1",
        "[::1]80",
        "::1/129",
        "fe80::1%eth0",
        &long_label,
        &long_name,
    ] {
        assert!(text.parse::<HostPattern>().is_err(), "{text:?} was accepted");
    }
    assert!("a_b.example.com".parse::<HostPattern>().is_ok());
    assert!("xn--bcher-kva.example".parse::<HostPattern>().is_ok());
}

#[test]
fn a_wider_pattern_covers_a_narrower_one() {
    for (wide, narrow) in [
        ("*", "a.com"),
        ("*", "10.0.0.0/8"),
        ("*", "*"),
        ("*.a.com", "b.a.com"),
        ("*.a.com", "*.b.a.com"),
        ("*.a.com", "*.a.com"),
        ("a.com", "a.com:443"),
        ("a.com:1-100", "a.com:5-6"),
        ("10.0.0.0/8", "10.1.0.0/16"),
        ("10.0.0.0/8", "10.1.1.1"),
    ] {
        assert!(pattern(wide).covers(&pattern(narrow)), "{wide} covers {narrow}");
        if wide != narrow {
            assert!(!pattern(narrow).covers(&pattern(wide)), "{narrow} does not cover {wide}");
        }
    }
    assert!(!pattern("*.a.com").covers(&pattern("a.com")));
    assert!(!pattern("0.0.0.0/0").covers(&pattern("*")));
}

#[test]
fn the_box_itself_is_known() {
    for host in ["localhost", "a.localhost", "LOCALHOST.", "127.0.0.1", "127.9.9.9", "::1"] {
        assert!(HostName::parse(host).unwrap().is_loopback(), "{host}");
    }
    assert!(!HostName::parse("10.0.0.1").unwrap().is_loopback());
    assert!(HostName::parse("a b").is_err() && HostName::parse("*").is_err());
}

fn pattern_text() -> impl Strategy<Value = String> {
    let host = prop_oneof![
        Just("*".to_owned()),
        "[a-c]{1,2}(\\.[a-c]{1,2}){0,3}",
        "\\*\\.[a-c]{1,2}(\\.[a-c]{1,2}){0,2}",
        (any::<u32>(), 0u32..=32).prop_map(|(address, bits)| {
            let kept = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            format!("{}/{bits}", std::net::Ipv4Addr::from_bits(address & kept))
        }),
    ];
    let ports = prop_oneof![
        Just(String::new()),
        (1u16..100).prop_map(|port| format!(":{port}")),
        (1u16..50, 50u16..100).prop_map(|(first, last)| format!(":{first}-{last}")),
    ];
    (host, ports).prop_map(|(host, ports)| host + &ports)
}

proptest! {
    #[test]
    fn what_is_shown_can_be_read_back(text in pattern_text()) {
        let one = pattern(&text);
        prop_assert_eq!(pattern(&one.to_string()), one);
    }

    #[test]
    fn what_is_covered_is_meant(
        wide in pattern_text(), narrow in pattern_text(),
        name in "[a-c]{1,2}(\\.[a-c]{1,2}){0,4}", address: u32, port in 1u16..100,
    ) {
        let (wide, narrow) = (pattern(&wide), pattern(&narrow));
        if wide.covers(&narrow) {
            let address = IpAddr::V4(std::net::Ipv4Addr::from_bits(address));
            prop_assert!(!narrow.matches_name(&name, port) || wide.matches_name(&name, port));
            prop_assert!(!narrow.matches_address(address, port) || wide.matches_address(address, port));
        }
    }

    #[test]
    fn nothing_panics(text in "\\PC{0,24}") {
        let _ = text.parse::<HostPattern>();
        let _ = HostName::parse(&text);
    }
}
