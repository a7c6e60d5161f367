//! The network of a policy: rules with conditions, secrets, amounts.

use super::{document, merged, policy};
use crate::{
    egress::{Reason, SecretSource, Target, TlsRule},
    policy::{Document, Layered, NetMode, Overrides, Policy, Rank, merge},
};

fn tls(policy: &Policy, host: &str, port: u16) -> Option<TlsRule> {
    policy.egress().rule_for(&Target::parse(host).unwrap(), port).map(|rule| rule.tls)
}

const REQUIRED: Option<TlsRule> = Some(TlsRule::Required);
const ANY: Option<TlsRule> = Some(TlsRule::Any);

#[test]
fn everything_arrives_at_the_gate() {
    let policy = merged(
        "net:\n  allow:\n    - host:5432\n    - {host: a.com, ports: [80, 8000-8100], tls: required}\n    \
         - {host: b.com:80, inject: {header: X-Key, from: env:KEY}}\n  deny: [c.com]\n  dns: false\n  \
         synthetic: 10.99.0.0/16\n  limits: {connections: 7, bytes: 1m, rate: 64k}\n",
        "",
    )
    .unwrap();
    let egress = policy.egress();
    assert_eq!(egress.mode, NetMode::Allow);
    let hosts: Vec<String> = egress.allow.iter().map(|rule| rule.pattern.to_string()).collect();
    assert_eq!(hosts, ["host:5432", "a.com:80", "a.com:8000-8100", "b.com:80"]);
    assert_eq!(egress.allow[2].tls, TlsRule::Required);
    assert_eq!(egress.allow[2].origin, "user.yaml:5");
    let inject = egress.allow[3].inject.clone().unwrap();
    assert_eq!((inject.header.as_str(), inject.from), ("X-Key", SecretSource::Env("KEY".into())));
    assert_eq!((egress.deny.len(), egress.dns), (1, false));
    assert_eq!(egress.synthetic.to_string(), "10.99.0.0/16");
    assert_eq!(egress.limits.connections, 7);
    assert_eq!(egress.limits.total_bytes, Some(1 << 20));
    assert_eq!(egress.limits.bytes_per_second, Some(64 << 10));

    let nothing = policy_of_nobody().egress();
    assert_eq!((nothing.mode, nothing.limits.connections), (NetMode::None, 256));
    assert_eq!(nothing.synthetic.to_string(), "198.18.0.0/15");
}

fn policy_of_nobody() -> Policy {
    merge(&[]).unwrap()
}

#[test]
fn a_later_layer_can_require_tls_of_what_lies_under_it() {
    let same = merged("net: {allow: [a.com]}", "net: {allow: [{host: a.com, tls: required}]}");
    assert_eq!(tls(&same.unwrap(), "a.com", 443), REQUIRED);
    let wider = merged(
        "net: {allow: [b.a.com, c.com]}",
        "net: {allow: [{host: '*.a.com', tls: required}]}",
    )
    .unwrap();
    assert_eq!((tls(&wider, "b.a.com", 443), tls(&wider, "c.com", 443)), (REQUIRED, ANY));
    let across =
        merged("net: {allow: [a.com]}", "net: {allow: [{host: '*', ports: [443], tls: required}]}")
            .unwrap();
    assert_eq!((tls(&across, "a.com", 443), tls(&across, "a.com", 80)), (REQUIRED, ANY));
}

#[test]
fn tls_is_given_up_only_by_saying_so() {
    let user = "net: {allow: [{host: '*.a.com', tls: required}]}";
    let silent = merged(user, "net: {allow: [b.a.com]}").unwrap();
    assert_eq!(tls(&silent, "b.a.com", 443), REQUIRED);
    let said = merged(user, "net: {allow: [{host: b.a.com, tls: any}]}").unwrap();
    assert_eq!(tls(&said, "b.a.com", 443), ANY);
}

#[test]
fn a_ceiling_can_require_tls() {
    let ceiling = "ceiling: {net: [{host: '*.a.com', tls: required}, c.com]}";
    let silent = merged(ceiling, "net: {allow: [b.a.com, c.com]}").unwrap();
    assert_eq!((tls(&silent, "b.a.com", 443), tls(&silent, "c.com", 443)), (REQUIRED, ANY));
    let problem = merged(ceiling, "net: {allow: [{host: b.a.com, tls: any}]}").unwrap_err();
    assert_eq!(
        problem.message(),
        "`net.allow` asks for b.a.com with `tls: any`, and the ceiling is *.a.com with `tls: required`, c.com (user.yaml:2)"
    );
    assert!(merged(ceiling, "ceiling: {net: [b.a.com]}").is_err(), "a ceiling is not raised");
    assert!(merged(ceiling, "ceiling: {net: [{host: b.a.com, tls: required}]}").is_ok());
    let lowered = merged("net: {allow: [b.a.com]}", ceiling).unwrap();
    assert_eq!(lowered.egress().allow[0].origin, "project.yaml:2", "the ceiling did it");
    assert_eq!(tls(&lowered, "b.a.com", 443), REQUIRED);
}

const INJECT: &str = "net: {allow: [{host: a.com, inject: {header: X-Key, from: env:KEY}}]}";

#[test]
fn a_projects_file_gets_no_secret_unless_the_user_names_it() {
    let problem = merged("", INJECT).unwrap_err().to_string();
    assert!(
        problem.starts_with(
            "`net.allow` asks for the secret KEY, and the ceiling is nothing (built-in"
        ),
        "{problem}"
    );
    assert!(problem.contains("write `ceiling: {inject: [KEY]}` into your own"), "{problem}");
    assert!(merged("ceiling: {inject: [KEYS]}", INJECT).is_err());
    assert!(merged("ceiling: {inject: [KEY]}", INJECT).is_ok());
    // Nor does it give itself leave, nor get what the user sends elsewhere.
    assert!(merged("", &format!("{INJECT}\nceiling: {{inject: [KEY]}}")).is_err());
    assert!(merged("", "ceiling: {inject: [KEY]}").is_err());
    assert!(
        merged(INJECT, "net: {allow: [{host: b.com, inject: {header: X, from: env:KEY}}]}")
            .is_err()
    );
    let user = merged(INJECT, "net: {allow: [a.com, b.com]}").unwrap().egress();
    let injected: Vec<bool> = user.allow.iter().map(|rule| rule.inject.is_some()).collect();
    assert_eq!(injected, [true, false], "{user:?}");
}

#[test]
fn amounts_are_only_ever_lowered_once_somebody_said_them() {
    for (user, project) in [
        ("net: {limits: {connections: 8}}", "net: {limits: {connections: 9}}"),
        ("net: {limits: {bytes: 1m}}", "net: {limits: {bytes: 2m}}"),
        ("net: {limits: {rate: 1m}}", "net: {limits: {rate: 2m}}"),
    ] {
        let problem = merged(user, project).unwrap_err().to_string();
        assert!(
            problem.contains("user.yaml:2:") && problem.contains("project.yaml:2:"),
            "{problem}"
        );
        assert!(merged(project, user).is_ok() && merged("", project).is_ok());
    }
    assert_eq!(policy("net: {limits: {connections: 999}}").egress().limits.connections, 999);
    let (one, other) = (
        document("one.yaml", "net: {limits: {connections: 8, rate: 1m}}"),
        document("other.yaml", "net: {limits: {connections: 9}}"),
    );
    let both = merge(&[Layered::new(Rank::User, &one), Layered::new(Rank::User, &other)]).unwrap();
    assert_eq!(both.egress().limits.connections, 8);
}

#[test]
fn equals_hold_each_other_to_tls_and_to_one_secret() {
    let user = |first: &str, second: &str| {
        let (first, second) = (document("1.yaml", first), document("2.yaml", second));
        let layers = [Layered::new(Rank::User, &first), Layered::new(Rank::User, &second)];
        merge(&layers)
    };
    let (one, other) = (
        "net: {allow: [{host: '*.a.com', tls: required}]}",
        "net: {allow: [{host: b.a.com, tls: any}]}",
    );
    for policy in [user(one, other).unwrap(), user(other, one).unwrap()] {
        assert_eq!(tls(&policy, "b.a.com", 443), REQUIRED);
    }
    let problem = user(INJECT, &INJECT.replace("KEY", "OTHER")).unwrap_err().to_string();
    assert!(problem.starts_with("the secret for a.com is said twice"), "{problem}");
}

#[test]
fn a_request_names_hosts_below_the_ceiling() {
    let asked = |project: &str, overrides: Overrides| {
        let project = document("p.yaml", project);
        let request = Document::from_overrides(overrides)?;
        merge(&[Layered::new(Rank::Project, &project), Layered::new(Rank::Request, &request)])
    };
    let allow =
        |host: &str| Overrides { allow: vec![host.parse().unwrap()], ..Overrides::default() };
    let policy = asked("", allow("a.com:443")).unwrap();
    assert!(policy.host_decision("a.com", 443).allowed);
    assert_eq!(policy.host_decision("a.com", 443).origin.to_string(), "--allow");
    let problem = asked("ceiling: {net: ['*.a.com']}", allow("b.com")).unwrap_err().to_string();
    assert!(problem.contains("--> --allow") && problem.contains("p.yaml:2"), "{problem}");

    let network = |mode| Overrides { network: Some(mode), ..Overrides::default() };
    let problem = asked("", network(NetMode::Allow)).unwrap_err().to_string();
    assert!(problem.starts_with("--network asks for `allow`, and no host is allowed"), "{problem}");
    assert!(problem.contains("name hosts with --allow"), "{problem}");
    let kept = asked("net: {allow: [a.com]}", network(NetMode::Allow)).unwrap();
    assert!(kept.host_decision("a.com", 80).allowed, "the policy names hosts");
    let off = asked("net: {allow: [a.com]}", network(NetMode::None)).unwrap();
    assert_eq!(off.egress().mode, NetMode::None);
    let dns = |dns| Overrides { dns: Some(dns), ..allow("a.com") };
    assert!(!asked("", dns(false)).unwrap().egress().dns);
    assert!(asked("net: {dns: false}", dns(true)).is_err());
}

#[test]
fn the_words_say_what_the_gate_means() {
    let policy =
        policy("net:\n  allow:\n    - '*'\n    - {host: t.com, tls: required}\n    - host:5432\n");
    for (host, port, allowed, words, line) in [
        ("t.com", 443, true, "`t.com` is allowed, and must speak TLS", "project.yaml:5"),
        ("host", 5432, true, "`host:5432` is allowed", "project.yaml:6"),
        ("host", 22, false, "it is the machine that the box runs on", "project.yaml:4"),
        ("api.openai.com", 443, false, "it gives credentials or acts", "project.yaml:4"),
        ("169.254.169.254", 80, false, "it gives credentials or acts", "project.yaml:4"),
        ("192.168.1.1", 80, false, "it is not a public address", "project.yaml:4"),
        ("0.0.0.0", 80, false, "it is a loopback address", "project.yaml:4"),
        ("127.0.0.1", 80, true, "it is the loopback of the box itself", "project.yaml:4"),
    ] {
        let decision = policy.host_decision(host, port);
        assert_eq!(decision.allowed, allowed, "{host}: {}", decision.reason);
        assert!(decision.reason.starts_with(words), "{host}: {}", decision.reason);
        assert_eq!(decision.origin.to_string(), line, "{host}");
    }
    for reason in [
        Reason::BoxLoopback,
        Reason::NetworkOff,
        Reason::LocalhostOnly,
        Reason::DnsOff,
        Reason::NoRule,
        Reason::SensitiveService,
        Reason::HostNotNamed,
        Reason::LoopbackAddress,
        Reason::PrivateAddress,
    ] {
        assert_ne!(crate::policy::egress::words(reason), reason.code());
    }
}
