//! What holds for all rules and all targets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::egress;
use crate::egress::{Egress, Target, address_is_public};

fn patterns() -> impl Strategy<Value = Vec<String>> {
    let network = (interesting(), 0u32..=32).prop_map(|(address, bits)| {
        let kept = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
        format!("{}/{bits}", Ipv4Addr::from_bits(address.to_bits() & kept))
    });
    let host = prop_oneof![
        Just("*".to_owned()),
        Just("host".to_owned()),
        Just("api.openai.com".to_owned()),
        Just("*.openai.com".to_owned()),
        "[a-c](\\.[a-c]){0,2}",
        "\\*\\.[a-c](\\.[a-c]){0,1}",
        network,
        interesting().prop_map(|address| address.to_string()),
    ];
    let ports = prop_oneof![
        Just(String::new()),
        (1u16..6).prop_map(|port| format!(":{port}")),
        (1u16..3, 3u16..6).prop_map(|(first, last)| format!(":{first}-{last}")),
    ];
    proptest::collection::vec((host, ports).prop_map(|(host, ports)| host + &ports), 0..6)
}

/// Addresses near the edges that matter, and any others.
fn interesting() -> impl Strategy<Value = Ipv4Addr> {
    prop_oneof![
        any::<u32>().prop_map(Ipv4Addr::from_bits),
        prop_oneof![
            Just([127, 0, 0, 1]),
            Just([169, 254, 169, 254]),
            Just([10, 0, 0, 1]),
            Just([0, 0, 0, 0]),
            Just([8, 8, 8, 8]),
            Just([192, 168, 1, 1]),
            Just([100, 100, 100, 200]),
            Just([168, 63, 129, 16]),
            Just([255, 255, 255, 255]),
        ]
        .prop_map(Ipv4Addr::from),
    ]
}

fn target() -> impl Strategy<Value = Target> {
    prop_oneof![
        "[a-c](\\.[a-c]){0,3}".prop_map(Target::Name),
        Just(Target::Name("host".into())),
        Just(Target::Name("api.openai.com".into())),
        interesting().prop_map(|address| Target::Address(address.into())),
    ]
}

fn of(allow: &[String], deny: &[String]) -> Egress {
    let allow: Vec<&str> = allow.iter().map(String::as_str).collect();
    let deny: Vec<&str> = deny.iter().map(String::as_str).collect();
    egress(&allow, &deny)
}

/// The ways to put an address of IPv4 into one of IPv6. The first two are the same host, the
/// others lead to it.
fn spellings(inner: Ipv4Addr) -> [IpAddr; 6] {
    let [a, b, c, d] = inner.octets().map(u16::from);
    let (high, low) = (a << 8 | b, c << 8 | d);
    [
        [0, 0, 0, 0, 0, 0xffff, high, low],
        [0x64, 0xff9b, 0, 0, 0, 0, high, low],
        [0x64, 0xff9b, 1, 0, 0, 0, high, low],
        [0x2002, high, low, 0, 0, 0, 0, 1],
        [0x2001, 0, 0x808, 0x808, 0, 0, !high, !low],
        [0, 0, 0, 0, 0, 0, high, low],
    ]
    .map(|segments| IpAddr::V6(Ipv6Addr::from(segments)))
}

proptest! {
    #[test]
    fn every_spelling_of_an_address_has_one_verdict(
        allow in patterns(), deny in patterns(), inner in interesting(), port in 1u16..6,
    ) {
        let rules = of(&allow, &deny);
        let plain = rules.decide(&Target::Address(inner.into()), port);
        let [mapped, nat64, others @ ..] = spellings(inner);
        for same in [mapped, nat64] {
            prop_assert_eq!(rules.decide(&Target::Address(same), port), plain.clone());
            prop_assert_eq!(address_is_public(same), address_is_public(inner.into()));
            let name = Target::Name("a.b".into());
            prop_assert_eq!(
                rules.decide_address(&name, same, port),
                rules.decide_address(&name, inner.into(), port)
            );
        }
        // What leads to a host is never allowed where the host is not.
        for other in others {
            if !plain.allowed {
                prop_assert!(!rules.decide(&Target::Address(other), port).allowed, "{}", other);
            }
            prop_assert!(!address_is_public(other) || address_is_public(inner.into()));
        }
        let written = [
            inner.to_string(),
            format!("::ffff:{inner}"),
            format!("[::ffff:{inner}]"),
            mapped.to_string().to_uppercase(),
        ];
        for text in written {
            prop_assert_eq!(rules.decide(&Target::parse(&text).unwrap(), port), plain.clone());
        }
    }

    #[test]
    fn what_is_denied_is_never_allowed(
        allow in patterns(), deny in patterns(), target in target(), port in 1u16..6,
    ) {
        let rules = of(&allow, &deny);
        let denied = rules.deny.iter().any(|rule| match &target {
            Target::Name(name) => rule.pattern.matches_name(name, port),
            Target::Address(address) => rule.pattern.matches_address(*address, port),
        });
        prop_assert!(!(denied && rules.decide(&target, port).allowed));
    }

    #[test]
    fn a_further_denial_never_allows_more(
        allow in patterns(), deny in patterns(), more in patterns(),
        target in target(), address in interesting(), port in 1u16..6,
    ) {
        let before = of(&allow, &deny);
        let after = of(&allow, &[deny, more].concat());
        let address = address.into();
        prop_assert!(before.decide(&target, port).allowed || !after.decide(&target, port).allowed);
        prop_assert!(
            before.decide_address(&target, address, port).allowed
                || !after.decide_address(&target, address, port).allowed
        );
        if let Target::Name(name) = &target {
            prop_assert!(before.decide_name(name).allowed || !after.decide_name(name).allowed);
        }
    }

    #[test]
    fn a_name_is_answered_exactly_if_a_port_is_open(
        allow in patterns(), deny in patterns(), name in "[a-c](\\.[a-c]){0,2}",
    ) {
        let rules = of(&allow, &deny);
        let target = Target::Name(name.clone());
        // No pattern has a port above 5 but those with all.
        let open = (1..=6).any(|port| rules.decide(&target, port).allowed);
        prop_assert_eq!(rules.decide_name(&name).allowed, open);
    }

    #[test]
    fn nothing_private_without_a_rule_for_it(address in interesting(), port in 1u16..6) {
        let rules = egress(&["*"], &[]);
        let allowed = rules.decide(&Target::Address(address.into()), port).allowed;
        prop_assert!(!allowed || address_is_public(address.into()));
    }
}
