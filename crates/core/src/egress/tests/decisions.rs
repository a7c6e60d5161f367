//! Decisions, each refusal beside one that passes.

use std::net::IpAddr;

use super::{decide, egress};
use crate::{
    egress::{Egress, Reason, Target, TlsRule},
    policy::NetMode,
};

#[track_caller]
fn refused(egress: &Egress, host: &str, port: u16, reason: Reason) {
    let verdict = decide(egress, host, port);
    assert_eq!((verdict.allowed, verdict.reason), (false, reason), "{host}:{port}");
}

#[track_caller]
fn allowed(egress: &Egress, host: &str, port: u16) {
    let verdict = decide(egress, host, port);
    assert_eq!((verdict.allowed, verdict.reason), (true, Reason::Allowed), "{host}:{port}");
    assert!(verdict.rule.is_some());
}

#[test]
fn the_mode_comes_first() {
    let mut open = egress(&["*"], &[]);
    allowed(&open, "example.com", 443);
    open.mode = NetMode::Localhost;
    refused(&open, "example.com", 443, Reason::LocalhostOnly);
    assert!(open.decide_name("localhost").allowed);
    open.mode = NetMode::None;
    refused(&open, "example.com", 443, Reason::NetworkOff);
    assert!(!open.decide_name("localhost").allowed);
}

#[test]
fn rules_are_obeyed_and_denials_win() {
    let rules = egress(&["*.example.com:443", "1.1.1.1"], &["bad.example.com", "1.1.1.1:22"]);
    allowed(&rules, "a.example.com", 443);
    refused(&rules, "a.example.com", 80, Reason::NoRule);
    refused(&rules, "other.com", 443, Reason::NoRule);
    refused(&rules, "bad.example.com", 443, Reason::DeniedByRule);
    assert_eq!(decide(&rules, "bad.example.com", 443).rule.as_deref(), Some("policy.yaml:1"));
    allowed(&rules, "1.1.1.1", 443);
    refused(&rules, "1.1.1.1", 22, Reason::DeniedByRule);
    refused(&rules, "8.8.8.8", 443, Reason::NoRule);
}

#[test]
fn names_need_answers() {
    let mut rules = egress(&["example.com", "1.1.1.1"], &[]);
    rules.dns = false;
    refused(&rules, "example.com", 443, Reason::DnsOff);
    allowed(&rules, "1.1.1.1", 443);
}

#[test]
fn sensitive_services_must_be_named() {
    let wide = egress(&["*", "*.openai.com", "169.254.0.0/16", "fd00::/8", "168.0.0.0/8"], &[]);
    for host in [
        "api.openai.com",
        "API.OpenAI.com.",
        "eu.api.openai.com",
        "metadata.google.internal",
        "acme.openai.azure.com",
        "bedrock-runtime.eu-west-1.amazonaws.com",
        "europe-west4-aiplatform.googleapis.com",
        "169.254.169.254",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "fd00:ec2::254",
        "168.63.129.16",
    ] {
        refused(&wide, host, 443, Reason::SensitiveService);
    }
    allowed(&wide, "www.openai.com", 443);
    allowed(&wide, "169.254.1.1", 443);
    let named = egress(&["api.openai.com:443", "169.254.169.254:80"], &[]);
    allowed(&named, "api.openai.com", 443);
    allowed(&named, "169.254.169.254", 80);
    refused(&named, "169.254.169.254", 81, Reason::NoRule);
    let denied = egress(&["api.openai.com"], &["*.openai.com"]);
    refused(&denied, "api.openai.com", 443, Reason::DeniedByRule);
}

#[test]
fn the_developers_machine_must_be_named() {
    refused(&egress(&["*"], &[]), "host", 5432, Reason::HostNotNamed);
    let rules = egress(&["*", "host:5432"], &[]);
    allowed(&rules, "host", 5432);
    refused(&rules, "host", 5433, Reason::HostNotNamed);
    let loopback: IpAddr = "127.0.0.1".parse().unwrap();
    assert!(rules.decide_address(&Target::parse("host").unwrap(), loopback, 5432).allowed);
    let other = rules.decide_address(&Target::parse("a.com").unwrap(), loopback, 5432);
    assert_eq!(other.reason, Reason::LoopbackAddress);
    // `host` is that machine and no other.
    let elsewhere = "10.0.0.1".parse().unwrap();
    assert!(!rules.decide_address(&Target::parse("host").unwrap(), elsewhere, 5432).allowed);
}

#[test]
fn private_addresses_need_a_rule_with_an_address() {
    let name = Target::parse("db.corp.com").unwrap();
    let inside: IpAddr = "10.1.2.3".parse().unwrap();
    let wide = egress(&["*"], &[]);
    refused(&wide, "10.1.2.3", 443, Reason::PrivateAddress);
    assert_eq!(wide.decide_address(&name, inside, 443).reason, Reason::PrivateAddress);
    assert!(wide.decide_address(&name, "93.184.216.34".parse().unwrap(), 443).allowed);

    let covered = egress(&["*", "10.0.0.0/8:443"], &[]);
    allowed(&covered, "10.1.2.3", 443);
    assert!(covered.decide_address(&name, inside, 443).allowed);
    assert_eq!(covered.decide_address(&name, inside, 80).reason, Reason::PrivateAddress);
    // The network alone does not allow the name.
    let alone = egress(&["10.0.0.0/8"], &[]);
    assert_eq!(alone.decide_address(&name, inside, 443).reason, Reason::NoRule);
    // An address that is denied stays so under any name.
    let denied = egress(&["*", "10.0.0.0/8"], &["10.1.0.0/16"]);
    assert_eq!(denied.decide_address(&name, inside, 443).reason, Reason::DeniedByRule);
    let mapped = "64:ff9b::10.1.2.3".parse().unwrap();
    assert_eq!(denied.decide_address(&name, mapped, 443).reason, Reason::DeniedByRule);
}

#[test]
fn loopback_addresses_must_be_named_one_by_one() {
    refused(&egress(&["*", "127.0.0.0/8"], &[]), "127.0.0.1", 80, Reason::LoopbackAddress);
    refused(&egress(&["*", "0.0.0.0/0"], &[]), "0.0.0.0", 80, Reason::LoopbackAddress);
    refused(&egress(&["::/0"], &[]), "::127.0.0.1", 80, Reason::LoopbackAddress);
    allowed(&egress(&["127.0.0.1:80"], &[]), "127.0.0.1", 80);
}

#[test]
fn a_name_is_answered_if_some_port_remains() {
    let rules = egress(&["a.com:443", "b.com:1-100", "*.c.com"], &["b.com:1-50", "x.c.com"]);
    for (name, expected) in [
        ("a.com", true),
        ("b.com", true),
        ("y.c.com", true),
        ("x.c.com", false),
        ("c.com", false),
        ("other.com", false),
        ("1.2.3.4", false),
        ("a b", false),
    ] {
        assert_eq!(rules.decide_name(name).allowed, expected, "{name}");
    }
    assert!(
        !egress(&["b.com:1-100"], &["b.com:1-50", "b.com:51-100"]).decide_name("b.com").allowed
    );
    assert!(!egress(&["*"], &[]).decide_name("host").allowed);
    assert!(egress(&["host:1"], &[]).decide_name("host").allowed);
    assert_eq!(egress(&["*"], &[]).decide_name("api.openai.com").reason, Reason::SensitiveService);
}

#[test]
fn the_narrowest_rule_says_how() {
    let mut rules = egress(&["*", "*.a.com", "b.a.com", "b.a.com:443"], &[]);
    rules.allow[3].tls = TlsRule::Required;
    let rule = |host: &str, port| {
        rules.rule_for(&Target::parse(host).unwrap(), port).map(|rule| rule.origin.as_str())
    };
    assert_eq!(rule("b.a.com", 443), Some("policy.yaml:4"));
    assert_eq!(rule("b.a.com", 80), Some("policy.yaml:3"));
    assert_eq!(rule("c.a.com", 80), Some("policy.yaml:2"));
    assert_eq!(rule("d.com", 80), Some("policy.yaml:1"));
}

#[test]
fn what_is_written_can_be_read_back() {
    let rules = egress(&["*.a.com:443", "10.0.0.0/8"], &["b.a.com"]);
    let text = serde_json::to_string(&rules).unwrap();
    assert_eq!(serde_json::from_str::<Egress>(&text).unwrap(), rules);
    assert!(text.contains(r#""synthetic":"198.18.0.0/15""#) && text.contains(r#""mode":"allow""#));
    for reason in Reason::ALL {
        assert_eq!(serde_json::to_string(reason).unwrap(), format!("\"{reason}\""));
        assert!(reason.code().bytes().all(|b| b.is_ascii_lowercase() || b == b'_'));
    }
}
