//! Rules for hosts that can be reached, and how: what one says, what it may say below a ceiling, and
//! what several of them say together.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{HostPattern, Sourced, choice::Choice};
use crate::egress::{Inject, TlsRule};

/// Hosts that can be reached, and how.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostRule {
    /// The hosts.
    pub host: HostPattern,
    /// Whether the connection must be TLS. A rule that does not say takes what other layers say,
    /// and else anything may be spoken.
    pub tls: Option<TlsRule>,
    /// A secret that requests get on their way.
    pub inject: Option<Inject>,
}

impl From<HostPattern> for HostRule {
    fn from(host: HostPattern) -> HostRule {
        HostRule { host, tls: None, inject: None }
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(&self.host, self.tls, f)
    }
}

/// As in a file: a text if nothing but the host is said.
impl Serialize for HostRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut value = written(&self.host, self.tls);
        if let Some(Inject { header, from }) = &self.inject {
            if value.is_string() {
                value = json!({"host": value});
            }
            value["inject"] = json!({"header": header, "from": from.to_string()});
        }
        value.serialize(serializer)
    }
}

/// Hosts that a later layer may allow, and how.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostLeave {
    /// The hosts.
    pub host: HostPattern,
    /// The loosest that a rule for them may be.
    pub tls: TlsRule,
}

impl HostLeave {
    /// Leave for hosts, whatever is spoken with them.
    pub fn any_way(host: HostPattern) -> HostLeave {
        HostLeave { host, tls: TlsRule::Any }
    }

    /// Whether a rule asks for no more. One that does not say what is spoken takes what it gets.
    pub fn covers(&self, rule: &HostRule) -> bool {
        self.host.covers(&rule.host) && rule.tls.is_none_or(|asked| asked <= self.tls)
    }

    /// Whether another leave gives no more.
    pub(super) fn holds(&self, other: &HostLeave) -> bool {
        self.host.covers(&other.host) && other.tls <= self.tls
    }

    /// What both give leave for.
    pub(super) fn common(&self, other: &HostLeave) -> Option<HostLeave> {
        Some(HostLeave { host: self.host.common(&other.host)?, tls: self.tls.min(other.tls) })
    }
}

impl fmt::Display for HostLeave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(&self.host, self.unless_usual(), f)
    }
}

impl HostLeave {
    fn unless_usual(&self) -> Option<TlsRule> {
        Some(self.tls).filter(|tls| *tls != TlsRule::Any)
    }
}

impl Serialize for HostLeave {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        written(&self.host, self.unless_usual()).serialize(serializer)
    }
}

impl Choice for TlsRule {
    const ALL: &'static [Self] = &[TlsRule::Required, TlsRule::Any];

    fn word(self) -> &'static str {
        match self {
            TlsRule::Required => "required",
            TlsRule::Any => "any",
        }
    }
}

fn written(host: &HostPattern, tls: Option<TlsRule>) -> Value {
    match tls {
        None => json!(host),
        Some(tls) => json!({"host": host, "tls": tls.word()}),
    }
}

fn show(host: &HostPattern, tls: Option<TlsRule>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match tls {
        None => write!(f, "{host}"),
        Some(tls) => write!(f, "{host} with `tls: {}`", tls.word()),
    }
}

/// Lays rules on those of the layers under them. What they require holds for those too; what they
/// do not say stays as it was.
pub(super) fn lay(under: &mut Vec<Sourced<HostRule>>, over: &[Sourced<HostRule>]) {
    let mut over = over.to_vec();
    require_tls(&mut over, under, |rule| rule.tls.is_none());
    require_tls(under, &over, |_| true);
    over.into_iter().for_each(|rule| add(under, rule));
}

/// Joins rules of equals: what either requires holds for both.
pub(super) fn join(rules: &mut Vec<Sourced<HostRule>>, more: &[Sourced<HostRule>]) {
    let mut more = more.to_vec();
    let before = rules.clone();
    require_tls(rules, &more, |_| true);
    require_tls(&mut more, &before, |_| true);
    more.into_iter().for_each(|rule| add(rules, rule));
}

/// Two rules with different secrets for the same hosts.
pub(super) fn contradiction<'a>(
    rules: &'a [Sourced<HostRule>],
    more: &'a [Sourced<HostRule>],
) -> Option<(&'a Sourced<HostRule>, &'a Sourced<HostRule>)> {
    more.iter().find_map(|again| {
        let differs = |known: &&Sourced<HostRule>| {
            let (one, other) = (&known.value.inject, &again.value.inject);
            known.value.host == again.value.host
                && matches!((one, other), (Some(one), Some(other)) if one != other)
        };
        Some((rules.iter().find(differs)?, again))
    })
}

/// Adds a rule, or what it says beyond one for the same hosts.
fn add(rules: &mut Vec<Sourced<HostRule>>, rule: Sourced<HostRule>) {
    match rules.iter_mut().find(|known| known.value.host == rule.value.host) {
        None => rules.push(rule),
        Some(known) => {
            let HostRule { host, tls, inject } = rule.value;
            let tls = tls.or(known.value.tls);
            let inject = inject.or_else(|| known.value.inject.clone());
            let both = HostRule { host, tls, inject };
            if known.value != both {
                *known = Sourced::new(both, rule.origin);
            }
        }
    }
}

/// Makes rules require TLS wherever others do. A rule that means more than the other one gets a
/// narrower one beside it, and the narrowest rule is the one that says how.
fn require_tls(
    rules: &mut Vec<Sourced<HostRule>>,
    others: &[Sourced<HostRule>],
    is_bound: impl Fn(&HostRule) -> bool,
) {
    let requires = |rule: &HostRule| rule.tls == Some(TlsRule::Required);
    let mut narrower: Vec<Sourced<HostRule>> = Vec::new();
    for other in others.iter().filter(|other| requires(&other.value)) {
        for rule in rules.iter_mut().filter(|rule| is_bound(&rule.value)) {
            if requires(&rule.value) {
                continue;
            }
            let Some(host) = rule.value.host.common(&other.value.host) else { continue };
            // A narrower rule beside the other one is what was said about these hosts.
            let said = others.iter().filter(|known| known.value.host.covers(&host));
            let said = said.max_by_key(|known| known.value.host.narrowness());
            if !said.is_some_and(|said| requires(&said.value)) {
                continue;
            }
            if host == rule.value.host {
                rule.value.tls = Some(TlsRule::Required);
                rule.origin = other.origin.clone();
            } else {
                let tls = Some(TlsRule::Required);
                let value = HostRule { host, tls, inject: None };
                narrower.push(Sourced::new(value, other.origin.clone()));
            }
        }
    }
    for rule in narrower {
        if !rules.iter().any(|known| known.value.host == rule.value.host) {
            rules.push(rule);
        }
    }
}
