//! The section `net`: hosts as texts or as sections with keys, and how much may be used.

use std::str::FromStr;

use super::value;
use crate::{
    egress::{Inject, Ipv4Network, SecretSource, TlsRule},
    policy::{
        HostLeave, HostPattern, HostRule, NetLimits, NetMode, Said, Sourced,
        document::NetSection,
        limit::{Amount, LimitKey},
        variable::variable_name,
    },
    source::{Fields, Node, Place, Problem, Value},
};

const RULE_HINT: &str =
    "write `allow: [example.com:443]`, or `{host: example.com, ports: [80, 443], tls: required}`";

pub(super) fn net(fields: &mut Fields<'_>) -> Result<NetSection, Problem> {
    let mode: Said<NetMode> = value::choice(fields, "mode")?;
    let allow = rules(fields)?;
    // Whoever lists hosts wants them reached.
    let implied = || allow.first().map(|rule| rule.map(|_| NetMode::Allow));
    Ok(NetSection {
        mode: mode.or_else(implied),
        allow,
        deny: value::patterns(fields, "deny")?,
        dns: value::flag(fields, "dns")?,
        synthetic: parsed(fields, "synthetic")?,
        limits: limits(fields)?,
    })
}

/// A value with a parser of its own, whose words end with the next step.
fn parsed<T: FromStr<Err: std::fmt::Display>>(
    fields: &mut Fields<'_>,
    key: &'static str,
) -> Result<Said<T>, Problem> {
    let Some((text, place)) = fields.text(key)? else { return Ok(None) };
    let value = text.parse().map_err(|error| value::refused(fields, key, place, &error))?;
    Ok(Some(Sourced::new(value, fields.origin(place))))
}

fn rules(fields: &mut Fields<'_>) -> Result<Vec<Sourced<HostRule>>, Problem> {
    let nodes = fields.list("allow").map_err(|problem| problem.hint(RULE_HINT))?;
    let mut rules: Vec<Sourced<HostRule>> = Vec::new();
    for node in nodes {
        for rule in rule(fields, node)? {
            match rules.iter().find(|known| known.value.host == rule.value.host) {
                None => rules.push(rule),
                Some(known) if known.value == rule.value => {}
                Some(known) => {
                    let message = format!("`net.allow` says two things about {}", rule.value.host);
                    let problem = fields.problem(node.place, message, "this");
                    let first = known.origin.place.unwrap_or(node.place);
                    let problem = fields.and_at(problem, first, "and this");
                    return Err(problem.hint("keep one of them"));
                }
            }
        }
    }
    Ok(rules)
}

/// One entry: as many rules as it has ports.
fn rule<'a>(fields: &Fields<'a>, node: &'a Node) -> Result<Vec<Sourced<HostRule>>, Problem> {
    if !matches!(node.value, Value::Map(_)) {
        let host = host(fields, "allow", fields.scalar("allow", node)?, node.place)?;
        return Ok(vec![Sourced::new(host.into(), fields.origin(node.place))]);
    }
    let mut own = fields.within("allow", node)?;
    let pattern = named(&mut own, node)?;
    let ports = value::texts(&mut own, "ports")?;
    let tls: Said<TlsRule> = value::choice(&mut own, "tls")?;
    let inject = inject(&mut own)?;
    own.end()?;
    let hosts = match (ports.first(), pattern.says_ports()) {
        (None, _) => vec![pattern],
        (Some((_, place)), true) => {
            let message = format!("`{pattern}` has a port of its own beside `ports`");
            return Err(fields.problem(*place, message, "").hint("keep one of them"));
        }
        (Some(_), false) => ports
            .iter()
            .map(|(text, place)| {
                let on = pattern.on_ports(text);
                on.map_err(|error| value::refused(fields, "allow.ports", *place, &error))
            })
            .collect::<Result<_, _>>()?,
    };
    if let Some((inject, place)) = &inject {
        sound_injection(fields, &hosts, tls.as_ref(), inject, *place)?;
    }
    let inject = inject.map(|(inject, _)| inject);
    let tls = tls.map(|tls| tls.value);
    let rule = |host| HostRule { host, tls, inject: inject.clone() };
    let origin = fields.origin(node.place);
    Ok(hosts.into_iter().map(|host| Sourced::new(rule(host), origin.clone())).collect())
}

/// The hosts of an entry that is a section.
fn named(own: &mut Fields<'_>, node: &Node) -> Result<HostPattern, Problem> {
    match own.text("host")? {
        Some((text, place)) => host(own, "host", text, place),
        None => {
            let message = format!("the entry has no `{}`", own.path("host"));
            Err(own.problem(node.place, message, "").hint(RULE_HINT))
        }
    }
}

fn host(fields: &Fields<'_>, key: &str, text: &str, place: Place) -> Result<HostPattern, Problem> {
    text.parse().map_err(|error| value::refused(fields, key, place, &error))
}

fn inject(own: &mut Fields<'_>) -> Result<Option<(Inject, Place)>, Problem> {
    const HINT: &str = "write `inject: {header: Authorization, from: env:TOKEN}`";
    let Some(mut keys) = own.section("inject").map_err(|problem| problem.hint(HINT))? else {
        return Ok(None);
    };
    let (header, from) = (keys.text("header")?, keys.text("from")?);
    let place = keys.place();
    let missing = |key: &str, keys: &Fields<'_>| {
        keys.problem(place, format!("`{}` is missing", keys.path(key)), "").hint(HINT)
    };
    let (header, header_at) = header.ok_or_else(|| missing("header", &keys))?;
    let (from, from_at) = from.ok_or_else(|| missing("from", &keys))?;
    if let Some(why) = unfit(header) {
        let message = format!("`{}` cannot be `{}`", keys.path("header"), header.escape_debug());
        return Err(keys.problem(header_at, message, why).hint(HINT));
    }
    let Some(name) = from.strip_prefix("env:") else {
        let message = format!("`{}` does not say where the secret is", keys.path("from"));
        let problem = keys.problem(from_at, message, "no such place");
        return Err(problem.hint("write `env:` and the name of a variable, as in env:TOKEN"));
    };
    let name = variable_name(name)
        .map_err(|error| value::refused(&keys, "from", from_at, &error))?
        .to_owned();
    keys.end()?;
    Ok(Some((Inject { header: header.to_owned(), from: SecretSource::Env(name) }, place)))
}

/// Headers that say how a request is read, or whom it is for.
const FRAMING: &[&str] = &[
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "upgrade",
    "te",
    "trailer",
    "expect",
    "keep-alive",
];

fn unfit(header: &str) -> Option<&'static str> {
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if header.is_empty() || !header.bytes().all(token) {
        return Some("no name of a header");
    }
    let framing = FRAMING.iter().any(|name| name.eq_ignore_ascii_case(header));
    framing.then_some("this says how a request is read")
}

/// A secret goes to one host, in requests that the gate can read.
fn sound_injection(
    fields: &Fields<'_>,
    hosts: &[HostPattern],
    tls: Option<&Sourced<TlsRule>>,
    inject: &Inject,
    place: Place,
) -> Result<(), Problem> {
    let one = |host: &HostPattern| host.exact_name().is_some() || host.exact_address().is_some();
    if let Some(many) = hosts.iter().find(|host| !one(host)) {
        let message = format!("`{many}` means many hosts, and each would get {}", inject.from);
        return Err(fields
            .problem(place, message, "")
            .hint("name one host in a rule with `inject`"));
    }
    let Some(tls) = tls.filter(|tls| tls.value == TlsRule::Required) else { return Ok(()) };
    let message = "nothing can be put into requests inside of TLS";
    let problem = fields.problem(place, message, "needs plain HTTP");
    let problem = match tls.origin.place {
        Some(place) => fields.and_at(problem, place, "asks for TLS"),
        None => problem,
    };
    Err(problem.hint("keep `inject` or `tls: required`"))
}

fn limits(fields: &mut Fields<'_>) -> Result<NetLimits, Problem> {
    let Some(mut own) = fields.section("limits")? else { return Ok(NetLimits::default()) };
    let connections = value::limit_as(&mut own, "connections", LimitKey::Pids)?;
    let bytes = value::limit_as(&mut own, "bytes", LimitKey::Disk)?;
    let rate = value::limit_as(&mut own, "rate", LimitKey::Disk)?;
    own.end()?;
    let size = |said: Said<Amount>| {
        let Sourced { value, origin } = said?;
        match value {
            Amount::Bytes(bytes) => Some(Sourced::new(bytes, origin)),
            _ => None,
        }
    };
    let connections = connections.and_then(|Sourced { value, origin }| match value {
        Amount::Count(count) => Some(Sourced::new(count, origin)),
        _ => None,
    });
    Ok(NetLimits { connections, bytes: size(bytes), rate: size(rate) })
}

/// Hosts that a later layer may allow: texts, or sections with `host` and `tls`.
pub(super) fn leaves<'a>(
    fields: &Fields<'a>,
    nodes: &'a [Node],
) -> Result<Vec<HostLeave>, Problem> {
    let mut leaves: Vec<HostLeave> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let leave = match &node.value {
            Value::Map(_) => {
                let mut own = fields.within("net", node)?;
                let host = named(&mut own, node)?;
                let tls: Said<TlsRule> = value::choice(&mut own, "tls")?;
                own.end()?;
                HostLeave { host, tls: tls.map_or(TlsRule::Any, |tls| tls.value) }
            }
            _ => {
                let text = fields.scalar("net", node)?;
                HostLeave::any_way(host(fields, "net", text, node.place)?)
            }
        };
        if !leaves.contains(&leave) {
            leaves.push(leave);
        }
    }
    Ok(leaves)
}

/// Networks whose addresses a box has for itself, or that no connection goes to. No network is
/// larger than one first number.
pub(super) fn is_unfit_for_names(network: Ipv4Network) -> bool {
    network.host(0).is_none_or(|host| matches!(host.octets()[0], 0 | 127 | 224..))
}
