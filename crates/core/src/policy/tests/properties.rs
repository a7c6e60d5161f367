//! What holds for the merge of whatever documents there are.

use std::{fmt, ops, path::Path};

use proptest::prelude::*;

use crate::{
    egress::{Target, TlsRule},
    policy::{Document, HostPattern, Layered, LimitKey, Policy, Rank, choice::Choice as _, merge},
};

/// Some of these lines, in their order.
fn some(lines: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    proptest::sample::subsequence(lines, 0..=lines.len().min(4))
}

fn one_of(key: &'static str, values: &'static [&'static str]) -> impl Strategy<Value = String> {
    proptest::option::weighted(0.4, proptest::sample::select(values))
        .prop_map(move |value| value.map_or(String::new(), |value| format!("  {key}: {value}\n")))
}

fn list_of(key: &'static str, items: &'static [&'static str]) -> impl Strategy<Value = String> {
    some(items).prop_map(move |items| match items.as_slice() {
        [] => String::new(),
        items => format!("  {key}: [{}]\n", items.join(", ")),
    })
}

const SIZES: &[&str] = &["64m", "256m", "512m", "1g", "8g"];
const TIMES: &[&str] = &["100ms", "1s", "1m", "10m", "1h"];
const MODES: &[&str] = &["ro", "overlay", "rw"];
const HOSTS: &[&str] =
    &["a.com", "b.a.com", "'*.a.com'", "'*.b.a.com'", "10.0.0.0/8", "10.1.0.0/16:80", "'*'"];
const RULES: &[&str] = &[
    "a.com",
    "{host: b.a.com, tls: any}",
    "{host: b.a.com, ports: [80, 443], tls: required}",
    "'*.a.com'",
    "{host: '*.b.a.com', tls: required}",
    "{host: '*', ports: [400-500], tls: required}",
    "10.0.0.0/8",
    "10.1.0.0/16:80",
    "'*'",
    "{host: s.a.com, inject: {header: A, from: env:S}}",
];
const NAMES: &[&str] = &["A", "AB", "'A*'", "'AB*'", "C"];
const GLOBS: &[&str] = &["a", "'**/b'", "'*.key'", "c/d"];
const PROFILES: &[&str] = &["default", "strict", "build", "agent"];

/// The text of some policy; not every one of them is free of contradictions.
fn text() -> impl Strategy<Value = String> {
    let fs = (
        one_of("workspace", MODES),
        one_of("git", &["off", "ro", "rw"]),
        one_of("disk", SIZES),
        list_of("deny", GLOBS),
        list_of("protect", GLOBS),
        one_of("deps", &["a"]),
        list_of("mounts", &["{source: m, target: /m}", "{source: w, target: /w, mode: rw}"]),
    )
        .prop_map(|(a, b, c, d, e, f, g)| [a, b, c, d, e, f, g].concat());
    let net = (
        one_of("mode", &["none", "localhost", "allow"]),
        list_of("allow", RULES),
        list_of("deny", HOSTS),
        one_of("dns", &["true", "false"]),
        one_of("limits", &["{connections: 8}", "{connections: 500, rate: 1m}", "{rate: 8m}"]),
    )
        .prop_map(|(a, b, c, d, e)| [a, b, c, d, e].concat());
    let proc = (
        one_of("memory", SIZES),
        one_of("timeout", TIMES),
        one_of("grace", TIMES),
        one_of("pids", &["1", "50", "5000"]),
        one_of("cpus", &["0.5", "1", "8"]),
    )
        .prop_map(|(a, b, c, d, e)| [a, b, c, d, e].concat());
    let env =
        (list_of("pass", NAMES), list_of("deny", NAMES), one_of("set", &["{A: x}", "{Z: x}"]))
            .prop_map(|(a, b, c)| [a, b, c].concat());
    let ledger =
        (one_of("required", &["true", "false"]), one_of("record_code", &["true", "false"]))
            .prop_map(|(a, b)| [a, b].concat());
    let ceiling = (
        one_of("memory", SIZES),
        one_of("timeout", TIMES),
        one_of("workspace", MODES),
        one_of("mounts", &["none", "ro", "rw"]),
        one_of(
            "net",
            &[
                "none",
                "localhost",
                "['*.a.com']",
                "[a.com, 10.0.0.0/8]",
                "['*']",
                "[{host: '*', tls: required}, 10.0.0.0/8]",
            ],
        ),
        one_of("env", &["['A*']", "[C]", "['*']", "[]"]),
        one_of("git", &["off", "ro", "rw"]),
        one_of("inject", &["[]", "[S]", "[S, T]"]),
    )
        .prop_map(|(a, b, c, d, e, f, g, h)| [a, b, c, d, e, f, g, h].concat());
    let extends = proptest::option::weighted(0.2, proptest::sample::select(PROFILES));
    let require = some(&["seccomp", "landlock"]);
    (fs, net, proc, env, ledger, ceiling, extends, require).prop_map(
        |(fs, net, proc, env, ledger, ceiling, extends, require)| {
            let extends = extends.map_or(String::new(), |name| format!("extends: {name}\n"));
            format!(
                "version: 1\n{extends}fs:\n{fs}net:\n{net}proc:\n{proc}env:\n{env}ledger:\n{ledger}\
                 ceiling:\n{ceiling}require: [{}]\n",
                require.join(", ")
            )
        },
    )
}

/// A document that is shown as its text when a property fails.
#[derive(Clone)]
struct Written(Document, String);

impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}", self.1)
    }
}

impl ops::Deref for Written {
    type Target = Document;

    fn deref(&self) -> &Document {
        &self.0
    }
}

fn documents(name: &'static str) -> impl Strategy<Value = Written> {
    text().prop_filter_map("contradicts itself", move |text| {
        let document = Document::read(name, &text, Path::new("/project")).ok()?;
        Some(Written(document, text))
    })
}

/// Values that a person could ask a policy for.
struct Questions;

impl Questions {
    const HOSTS: &[&str] = &[
        "a.com",
        "b.a.com",
        "x.b.a.com",
        "s.a.com",
        "10.1.2.3",
        "10.9.9.9",
        "other.org",
        "localhost",
    ];
    /// Hosts with the ports that rules have.
    fn targets() -> impl Iterator<Item = (Target, u16)> {
        let hosts = Questions::HOSTS.iter().filter_map(|host| Target::parse(host).ok());
        hosts.flat_map(|target| [80, 443, 450].map(|port| (target.clone(), port)))
    }

    const PATHS: &[&str] = &["a", "x/b", "k.key", "c/d/e", ".git/hooks/x", "plain", ".env"];
    const NAMES: &[&str] = &["A", "AB", "ABC", "C", "Z", "AWS_X"];
}

/// Nothing is allowed by the first that the second does not allow.
fn at_most(tight: &Policy, loose: &Policy) -> Result<(), TestCaseError> {
    for key in LimitKey::ALL {
        prop_assert!(tight.limits[*key].value <= loose.limits[*key].value, "{}", key.word());
    }
    prop_assert!(tight.fs.workspace.value <= loose.fs.workspace.value);
    prop_assert!(tight.fs.git.value <= loose.fs.git.value);
    for host in Questions::HOSTS {
        for port in [80, 443] {
            let allowed = tight.host_decision(host, port).allowed;
            prop_assert!(!allowed || loose.host_decision(host, port).allowed, "{}", host);
        }
    }
    for path in Questions::PATHS {
        let (a, b) = (tight.path_decision(path.as_ref()), loose.path_decision(path.as_ref()));
        prop_assert!(!a.read.allowed || b.read.allowed, "{}", path);
        prop_assert!(!a.write.allowed || b.write.allowed, "{}", path);
    }
    for mount in &tight.fs.mounts {
        let known = loose.fs.mounts.iter().find(|known| known.value.target == mount.value.target);
        prop_assert!(known.is_some(), "a mount appeared");
    }
    prop_assert!(tight.fs.deps.is_none() || loose.fs.deps.is_some());
    let (tight, loose) = (tight.egress(), loose.egress());
    prop_assert!(tight.limits.connections <= loose.limits.connections);
    for (tight, loose) in [
        (tight.limits.total_bytes, loose.limits.total_bytes),
        (tight.limits.bytes_per_second, loose.limits.bytes_per_second),
    ] {
        prop_assert!(tight.unwrap_or(u64::MAX) <= loose.unwrap_or(u64::MAX));
    }
    Ok(())
}

/// The ceiling is no higher, and what was denied or required stays so.
fn keeps(after: &Policy, before: &Policy) -> Result<(), TestCaseError> {
    for key in LimitKey::ALL {
        prop_assert!(after.ceiling.limits[*key].value <= before.ceiling.limits[*key].value);
    }
    prop_assert!(after.ceiling.workspace.value <= before.ceiling.workspace.value);
    prop_assert!(after.ceiling.mounts.value <= before.ceiling.mounts.value);
    prop_assert!(after.ceiling.git.value <= before.ceiling.git.value);
    prop_assert!(after.ceiling.net.value.mode() <= before.ceiling.net.value.mode());
    prop_assert!(after.ceiling.net.value.is_within(&before.ceiling.net.value));
    for name in &after.ceiling.inject.value {
        prop_assert!(before.ceiling.inject.value.contains(name));
    }
    for name in &after.ceiling.env.value {
        prop_assert!(before.ceiling.covers_variable(name));
    }
    for path in Questions::PATHS {
        prop_assert!(before.denies_path(path).is_none() || after.denies_path(path).is_some());
        prop_assert!(before.protects_path(path).is_none() || after.protects_path(path).is_some());
    }
    for deny in &before.net.deny {
        prop_assert!(after.net.deny.contains(deny));
    }
    for deny in &before.env.deny {
        prop_assert!(after.env.deny.contains(deny));
    }
    for layer in &before.require {
        prop_assert!(after.require.contains(layer));
    }
    prop_assert!(after.ledger.required.value || !before.ledger.required.value);
    Ok(())
}

/// Everything is below the ceiling.
fn below_ceiling(policy: &Policy) -> Result<(), TestCaseError> {
    let ceiling = &policy.ceiling;
    for key in LimitKey::ALL {
        prop_assert!(policy.limits[*key].value <= ceiling.limits[key.ceiling()].value);
    }
    prop_assert!(policy.limits[LimitKey::Grace].value <= policy.limits[LimitKey::Timeout].value);
    prop_assert!(policy.fs.workspace.value <= ceiling.workspace.value);
    prop_assert!(policy.fs.git.value <= ceiling.git.value);
    prop_assert!(policy.net.mode.value <= ceiling.net.value.mode());
    for host in &policy.net.allow {
        prop_assert!(ceiling.net.value.covers(&host.value));
    }
    for name in &policy.env.pass {
        prop_assert!(ceiling.covers_variable(&name.value));
    }
    Ok(())
}

fn stacked(user: &Document, project: &Document) -> Option<Policy> {
    merge(&[Layered::new(Rank::User, user), Layered::new(Rank::Project, project)]).ok()
}

/// What can only tighten: no lists that allow, no mounts, values and ceilings as they come.
fn only_tightens(document: &Document, under: &Policy) -> Document {
    let mut tight = document.clone();
    tight.extends = None;
    tight.fs.mounts.clear();
    tight.fs.deps = None;
    tight.net.allow.clear();
    tight.net.mode = tight.net.mode.filter(|mode| mode.value <= under.net.mode.value);
    tight.net.dns = tight.net.dns.filter(|dns| !dns.value);
    let (own, most) = (&mut tight.net.limits, under.egress().limits);
    own.connections = own.connections.take().filter(|own| own.value <= most.connections);
    own.rate =
        own.rate.take().filter(|own| own.value.get() <= most.bytes_per_second.unwrap_or(u64::MAX));
    tight.env.pass.clear();
    tight.env.set.clear();
    tight.fs.workspace = tight.fs.workspace.filter(|mode| mode.value <= under.fs.workspace.value);
    tight.fs.git = tight.fs.git.filter(|git| git.value <= under.fs.git.value);
    for key in LimitKey::ALL {
        let most = under.limits[*key].value;
        tight.limits[*key] = tight.limits[*key].take().filter(|own| own.value <= most);
    }
    tight
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn tightening_is_monotone(user in documents("user"), project in documents("project")) {
        let Ok(under) = merge(&[Layered::new(Rank::User, &user)]) else { return Ok(()) };
        let tight = only_tightens(&project, &under);
        // A higher ceiling or the other side of a switch is refused, and so loosens nothing.
        if let Some(after) = stacked(&user, &tight) {
            at_most(&after, &under)?;
        }
    }

    #[test]
    fn tighter_values_are_never_refused(user in documents("user"), project in documents("project")) {
        let Ok(under) = merge(&[Layered::new(Rank::User, &user)]) else { return Ok(()) };
        let mut tight = only_tightens(&project, &under);
        tight.ceiling = Default::default();
        tight.ledger = Default::default();
        prop_assert!(stacked(&user, &tight).is_some());
    }

    #[test]
    fn nothing_loosens_without_leave(user in documents("user"), project in documents("project")) {
        let bare = Document { extends: project.extends.clone(), ..Document::default() };
        let Some(under) = stacked(&user, &bare) else { return Ok(()) };
        let Some(after) = stacked(&user, &project) else { return Ok(()) };
        keeps(&after, &under)?;
        below_ceiling(&after)?;
        // Whatever is looser than before is below the ceiling that was there before.
        for key in LimitKey::ALL {
            let (now, then) = (after.limits[*key].value, under.limits[*key].value);
            prop_assert!(now <= then || now <= under.ceiling.limits[key.ceiling()].value);
        }
        for host in &after.net.allow {
            prop_assert!(under.ceiling.net.value.covers(&host.value));
        }
        for name in Questions::NAMES {
            let pass = |policy: &Policy| policy.env.pass.iter().any(|own| own.value.matches(name));
            let leave = under.ceiling.env.value.iter().any(|own| own.matches(name));
            prop_assert!(!pass(&after) || leave);
        }
    }

    #[test]
    fn no_host_is_allowed_that_nobody_allows_or_that_is_above_the_ceiling(
        user in documents("user"), project in documents("project"),
    ) {
        let bare = Document { extends: project.extends.clone(), ..Document::default() };
        let Some(under) = stacked(&user, &bare) else { return Ok(()) };
        let Some(after) = stacked(&user, &project) else { return Ok(()) };
        let (before, now) = (under.egress(), after.egress());
        for (target, port) in Questions::targets() {
            if !now.decide(&target, port).allowed {
                continue;
            }
            let means = |pattern: &HostPattern| match &target {
                Target::Name(name) => pattern.matches_name(name, port),
                Target::Address(address) => pattern.matches_address(*address, port),
            };
            let own = project.net.allow.iter().any(|rule| means(&rule.value.host));
            prop_assert!(own || before.decide(&target, port).allowed, "{:?}:{}", target, port);
            let leave = under.ceiling.net.value.hosts().iter().any(|own| means(&own.host));
            prop_assert!(leave, "{:?}:{}", target, port);
        }
    }

    #[test]
    fn tls_is_given_up_only_with_leave_and_in_so_many_words(
        user in documents("user"), project in documents("project"),
    ) {
        let bare = Document { extends: project.extends.clone(), ..Document::default() };
        let Some(under) = stacked(&user, &bare) else { return Ok(()) };
        let Some(after) = stacked(&user, &project) else { return Ok(()) };
        let (before, now) = (under.egress(), after.egress());
        for (target, port) in Questions::targets() {
            let Some(rule) = now.rule_for(&target, port) else { continue };
            if rule.tls == TlsRule::Required {
                continue;
            }
            let means = |pattern: &HostPattern| match &target {
                Target::Name(name) => pattern.matches_name(name, port),
                Target::Address(address) => pattern.matches_address(*address, port),
            };
            let said = project.net.allow.iter().any(|rule| {
                rule.value.tls == Some(TlsRule::Any) && means(&rule.value.host)
            });
            let was = before.rule_for(&target, port).map(|rule| rule.tls);
            prop_assert!(said || was != Some(TlsRule::Required), "{:?}:{}", target, port);
            let most = after.ceiling.net.value.hosts().iter();
            let most = most.filter(|leave| means(&leave.host)).map(|leave| leave.tls).max();
            prop_assert_eq!(most, Some(TlsRule::Any), "{:?}:{}", target, port);
            // What the upper file requires of a host it does not name again is required.
            let asked = project.net.allow.iter().filter(|rule| means(&rule.value.host));
            let mut asked = asked.map(|rule| rule.value.tls);
            prop_assert!(!asked.clone().any(|tls| tls == Some(TlsRule::Required)) || asked.any(|tls| tls != Some(TlsRule::Required)));
        }
    }

    #[test]
    fn a_project_gets_no_secret_that_the_user_does_not_name(
        user in documents("user"), project in documents("project"),
    ) {
        let Some(after) = stacked(&user, &project) else { return Ok(()) };
        let named = user.ceiling.inject.as_ref().is_some_and(|names| names.value.contains(&"S".to_owned()));
        let given = |document: &Document| document.net.allow.iter().any(|rule| rule.value.inject.is_some());
        prop_assert!(!given(&project) || named);
        let injects = after.egress().allow.iter().any(|rule| rule.inject.is_some());
        prop_assert!(!injects || given(&user) || given(&project));
    }

    #[test]
    fn the_words_agree_with_the_gate(user in documents("user"), project in documents("project")) {
        let Some(policy) = stacked(&user, &project) else { return Ok(()) };
        let egress = policy.egress();
        for host in Questions::HOSTS {
            let target = Target::parse(host).unwrap();
            for port in [80, 443] {
                let said = policy.host_decision(host, port).allowed;
                prop_assert_eq!(said, egress.decide_inside(&target, port).allowed, "{}", host);
            }
        }
    }

    #[test]
    fn the_order_of_equals_does_not_matter(
        user in documents("user"), one in documents("one"), other in documents("other"),
    ) {
        let merged = |first: &Document, second: &Document| {
            let layers = [
                Layered::new(Rank::User, &user),
                Layered::new(Rank::Project, first),
                Layered::new(Rank::Project, second),
            ];
            merge(&layers).ok().map(|policy| policy.digest())
        };
        prop_assert_eq!(merged(&one, &other), merged(&other, &one));
    }

    #[test]
    fn no_equal_gets_more_than_the_other_says(one in documents("one"), other in documents("other")) {
        let (a, b) = (Layered::new(Rank::Project, &one), Layered::new(Rank::Project, &other));
        let Ok(both) = merge(&[a, b]) else { return Ok(()) };
        for document in [&one, &other] {
            for (key, said) in document.limits.iter() {
                let most = said.as_ref().map_or(key.most(), |said| said.value);
                prop_assert!(both.limits[key].value <= most);
            }
            if let Some(mode) = &document.net.mode {
                prop_assert!(both.net.mode.value <= mode.value);
            }
            if let Some(mode) = &document.fs.workspace {
                prop_assert!(both.fs.workspace.value <= mode.value);
            }
            if let Some(git) = &document.fs.git {
                prop_assert!(both.fs.git.value <= git.value);
            }
        }
    }

    #[test]
    fn the_order_of_the_list_does_not_matter(
        user in documents("user"), project in documents("project"),
    ) {
        let (user, project) = (Layered::new(Rank::User, &user), Layered::new(Rank::Project, &project));
        let there = merge(&[user.clone(), project.clone()]).ok().map(|policy| policy.digest());
        let back = merge(&[project, user]).ok().map(|policy| policy.digest());
        prop_assert_eq!(there, back);
    }

    #[test]
    fn saying_the_same_twice_changes_nothing(project in documents("project")) {
        let once = merge(&[Layered::new(Rank::Project, &project)]).ok();
        let twice = [Layered::new(Rank::Project, &project), Layered::new(Rank::Project, &project)];
        prop_assert_eq!(
            once.map(|policy| policy.digest()),
            merge(&twice).ok().map(|policy| policy.digest())
        );
    }

    #[test]
    fn what_is_denied_by_anyone_stays_denied(
        user in documents("user"), project in documents("project"),
    ) {
        let Some(after) = stacked(&user, &project) else { return Ok(()) };
        for document in [&user, &project] {
            for deny in &document.net.deny {
                // No rule is asked about the box itself.
                for host in Questions::HOSTS.iter().filter(|host| **host != "localhost") {
                    if deny.value.matches_name(host, 443) {
                        prop_assert!(!after.host_decision(host, 443).allowed);
                    }
                }
            }
            for deny in &document.env.deny {
                for name in Questions::NAMES.iter().filter(|name| deny.value.matches(name)) {
                    prop_assert!(!after.env_decision(name).allowed);
                }
            }
            for deny in &document.fs.deny {
                for path in Questions::PATHS.iter().filter(|path| deny.value.covers(path)) {
                    prop_assert!(!after.path_decision(path.as_ref()).read.allowed);
                }
            }
        }
    }
}
