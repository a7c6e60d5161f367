//! Questions of honest programs and of others.

use fumehood_core::egress::{AllowRule, DenyRule, Egress, Ipv4Network};
use proptest::prelude::*;

use super::*;

fn rules() -> Egress {
    Egress {
        mode: NetMode::Allow,
        allow: ["good.com:443", "*.wide.com"]
            .map(|p| AllowRule::new(p.parse().unwrap(), "line 1"))
            .into(),
        deny: vec![DenyRule::new("bad.wide.com".parse().unwrap(), "line 2")],
        dns: true,
        ..Egress::none()
    }
}

fn query(name: &str, kind: u16) -> Vec<u8> {
    let mut out = vec![0xab, 0xcd, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.').filter(|label| !label.is_empty()) {
        out.push(label.len() as u8);
        out.extend(label.as_bytes());
    }
    out.push(0);
    out.extend(kind.to_be_bytes());
    out.extend([0, 1]);
    out
}

fn extended(name: &str, kind: u16) -> Vec<u8> {
    let mut out = query(name, kind);
    out[11] = 1;
    out.extend([0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0]);
    out
}

fn answered(names: &Names, message: &[u8]) -> Answer {
    let rules = rules();
    answer(&rules, names, message, |name| rules.decide_name(name))
}

fn ask(message: &[u8]) -> (u8, Option<Ipv4Addr>, Vec<u8>) {
    let names = Names::new(Ipv4Network::BENCHMARK);
    let reply = answered(&names, message).message.expect("a reply");
    let address = (reply[7] == 1).then(|| {
        let end = reply.len() - if reply[11] == 1 { 11 } else { 0 };
        Ipv4Addr::new(reply[end - 4], reply[end - 3], reply[end - 2], reply[end - 1])
    });
    (reply[3] & 0x0f, address, reply)
}

#[test]
fn allowed_names_have_an_address_and_denied_ones_do_not_exist() {
    let first = Some(Ipv4Addr::new(198, 18, 0, 1));
    for name in ["good.com", "GOOD.com", "a.wide.com", "a.b.wide.com"] {
        let (code, address, _) = ask(&query(name, 1));
        assert_eq!((code, address), (0, first), "{name}");
        let (code, address, _) = ask(&extended(name, 1));
        assert_eq!((code, address), (0, first), "{name} with EDNS");
    }
    for name in ["evil.com", "bad.wide.com", "wide.com", "secret.evil.com", "host", ""] {
        for kind in [1, 28, 16, 255] {
            let (code, address, _) = ask(&query(name, kind));
            assert_eq!((code, address), (3, None), "{name}");
        }
    }
}

#[test]
fn only_addresses_of_ipv4_are_there() {
    for kind in [28, 65, 16, 15, 5, 255] {
        let (code, address, _) = ask(&query("good.com", kind));
        assert_eq!((code, address), (0, None), "{kind}");
    }
    assert_eq!(ask(&query("1.0.18.198.in-addr.arpa", 12)).0, 3);
}

#[test]
fn the_box_itself_is_its_loopback() {
    for name in ["localhost", "LOCALHOST", "a.localhost"] {
        let (code, address, _) = ask(&query(name, 1));
        assert_eq!((code, address), (0, Some(Ipv4Addr::LOCALHOST)));
    }
    assert_eq!(ask(&query("localhost", 28)).1, None);
}

#[test]
fn the_reply_belongs_to_its_question() {
    let asked = query("gOoD.com", 1);
    let (_, _, reply) = ask(&asked);
    assert_eq!(reply[..2], [0xab, 0xcd]);
    assert_eq!(reply[2], 0x81);
    assert_eq!(reply[12..asked.len()], asked[12..], "case is kept");
}

#[test]
fn what_is_not_sound_is_a_format_error() {
    let sound = query("good.com", 1);
    let change = |at: usize, value: u8| {
        let mut message = sound.clone();
        message[at] = value;
        message
    };
    for (what, message, code) in [
        ("two questions", change(5, 2), 1),
        ("no question", change(5, 0), 1),
        ("an answer", change(7, 1), 1),
        ("an authority", change(9, 1), 1),
        ("a further record that is not there", change(11, 1), 1),
        ("a pointer", change(12, 0xc0), 1),
        ("a long label", change(12, 64), 1),
        ("cut", sound[..sound.len() - 1].to_vec(), 1),
        ("a byte over", [&sound[..], &[0]].concat(), 1),
        ("marked as cut", change(2, 0x02), 1),
        ("a status query", change(2, 0x10), 4),
        ("another class", change(sound.len() - 1, 3), 5),
        ("a NUL in a label", change(13, 0), 3),
        ("a dot in a label", change(14, b'.'), 3),
        ("a line feed in a label", change(14, b'\n'), 3),
    ] {
        assert_eq!(ask(&message).0, code, "{what}");
    }
    let names = Names::new(Ipv4Network::BENCHMARK);
    for dropped in [&[][..], &sound[..11], &change(2, 0x81)] {
        assert_eq!(answered(&names, dropped), Answer::default());
    }
    let long = query(&"a.".repeat(128), 1);
    assert_eq!(ask(&long).0, 1);
}

#[test]
fn a_refusal_says_which_rule() {
    let names = Names::new(Ipv4Network::BENCHMARK);
    let (name, verdict) = answered(&names, &query("bad.wide.com", 1)).refused.unwrap();
    assert_eq!((name.as_str(), verdict.rule.as_deref()), ("bad.wide.com", Some("line 2")));
    assert_eq!(answered(&names, &query("good.com", 1)).refused, None);
}

#[test]
fn too_many_names_are_a_failure() {
    let names = Names::new("198.18.0.0/30".parse().unwrap());
    let code = |name: &str| answered(&names, &query(name, 1)).message.unwrap()[3] & 15;
    assert_eq!((code("a.wide.com"), code("b.wide.com"), code("c.wide.com")), (0, 0, 2));
    assert_eq!(code("a.wide.com"), 0);
}

proptest! {
    #[test]
    fn no_message_breaks_it(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let names = Names::new(Ipv4Network::BENCHMARK);
        answered(&names, &bytes);
    }

    #[test]
    fn no_changed_message_breaks_it(at in 0usize..37, value: u8, cut in 0usize..38) {
        let mut bytes = extended("good.com", 1);
        let at = at.min(bytes.len() - 1);
        bytes[at] = value;
        bytes.truncate(cut);
        let names = Names::new(Ipv4Network::BENCHMARK);
        if let Some(reply) = answered(&names, &bytes).message {
            prop_assert!(reply.len() <= bytes.len() + 32);
            prop_assert_eq!(reply[2] & 0x80, 0x80);
        }
    }
}
