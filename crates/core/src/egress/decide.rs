//! Yes or no, for what a program dials and for every address that it turns out to have.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::{
    AddressKind, AllowRule, DenyRule, Egress, Reason,
    address::{address_kind, embedded, same_host},
    sensitive::{is_sensitive_address, is_sensitive_name},
};
use crate::policy::{HostError, HostName, HostPattern, NetMode};

/// The name of the developer's own machine inside a box. Only a rule with exactly this name means
/// it.
pub const HOST: &str = "host";

/// What a program dials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A name, in lower case, without a dot at the end.
    Name(String),
    /// An address.
    Address(IpAddr),
}

impl Target {
    /// Reads a name or an address.
    pub fn parse(text: &str) -> Result<Target, HostError> {
        Ok(match HostName::parse(text)? {
            HostName::Name(name) => Target::Name(name),
            HostName::Address(address) => Target::Address(address),
        })
    }

    /// Whether it is the developer's own machine.
    pub fn is_host(&self) -> bool {
        matches!(self, Target::Name(name) if name == HOST)
    }

    fn is_meant_by(&self, pattern: &HostPattern, port: u16) -> bool {
        match self {
            Target::Name(name) => pattern.matches_name(name, port),
            Target::Address(address) => pattern.matches_address(same_host(*address), port),
        }
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Yes or no.
    pub allowed: bool,
    /// Why.
    pub reason: Reason,
    /// Where the rule stands that decided, if one did.
    pub rule: Option<String>,
}

impl Verdict {
    fn no(reason: Reason) -> Verdict {
        Verdict { allowed: false, reason, rule: None }
    }

    fn denied(origin: &str) -> Verdict {
        Verdict { allowed: false, reason: Reason::DeniedByRule, rule: Some(origin.to_owned()) }
    }

    fn yes(origin: &str) -> Verdict {
        Verdict { allowed: true, reason: Reason::Allowed, rule: Some(origin.to_owned()) }
    }
}

impl Egress {
    /// Whether a program may dial this. A name's addresses are judged by
    /// [`Egress::decide_address`], once they are known.
    pub fn decide(&self, target: &Target, port: u16) -> Verdict {
        match self.mode {
            NetMode::None => return Verdict::no(Reason::NetworkOff),
            NetMode::Localhost => return Verdict::no(Reason::LocalhostOnly),
            NetMode::Allow => {}
        }
        // A target that was not made by `parse` is held to the same.
        let target = match target {
            Target::Name(name) => match Target::parse(name) {
                Ok(target) => target,
                Err(_) => return Verdict::no(Reason::NotAHost),
            },
            address => address.clone(),
        };
        if let Some(denied) = self.denied(&target, port) {
            return denied;
        }
        if matches!(target, Target::Name(_)) && !self.dns {
            return Verdict::no(Reason::DnsOff);
        }
        let Some(rule) = self.rule_for(&target, port) else { return Verdict::no(Reason::NoRule) };
        match &target {
            // A rule with exactly this name would be the narrowest.
            Target::Name(_) if rule.pattern.exact_name().is_some() => Verdict::yes(&rule.origin),
            Target::Name(_) if target.is_host() => Verdict::no(Reason::HostNotNamed),
            Target::Name(name) if is_sensitive_name(name) => Verdict::no(Reason::SensitiveService),
            Target::Name(_) => Verdict::yes(&rule.origin),
            Target::Address(address) => match self.address_refused(*address, port) {
                Some(reason) => Verdict::no(reason),
                None => Verdict::yes(&rule.origin),
            },
        }
    }

    /// Whether a program gets through to this. The box itself is reached without the gate, so no
    /// rule is asked about it.
    pub fn decide_inside(&self, target: &Target, port: u16) -> Verdict {
        let is_box = match target {
            Target::Name(name) => HostName::parse(name).is_ok_and(|host| host.is_loopback()),
            Target::Address(address) => HostName::Address(*address).is_loopback(),
        };
        match is_box && self.mode != NetMode::None {
            true => Verdict { allowed: true, reason: Reason::BoxLoopback, rule: None },
            false => self.decide(target, port),
        }
    }

    /// Whether this address of a target may be dialled, which the target itself may.
    pub fn decide_address(&self, target: &Target, address: IpAddr, port: u16) -> Verdict {
        let verdict = self.decide(target, port);
        if !verdict.allowed {
            return verdict;
        }
        if let Some(denied) = self.denied(&Target::Address(address), port) {
            return denied;
        }
        if target.is_host() && address_kind(address) == AddressKind::Loopback {
            return verdict;
        }
        match self.address_refused(address, port) {
            Some(reason) => Verdict::no(reason),
            None => verdict,
        }
    }

    /// Whether a name may be dialled on some port, and so gets an answer.
    pub fn decide_name(&self, name: &str) -> Verdict {
        match HostName::parse(name) {
            Ok(host @ HostName::Name(_)) if host.is_loopback() && self.mode != NetMode::None => {
                return Verdict { allowed: true, reason: Reason::BoxLoopback, rule: None };
            }
            Ok(HostName::Name(_)) => {}
            _ => return Verdict::no(Reason::NotAHost),
        }
        let target = Target::Name(name.to_owned());
        // What is allowed and not denied begins where a rule begins, or behind one that denies.
        let begins = self.allow.iter().map(|rule| (&rule.pattern, *rule.pattern.ports().start()));
        let begins = begins.filter(|(pattern, port)| target.is_meant_by(pattern, *port));
        let ends = self.deny.iter().map(|rule| (&rule.pattern, *rule.pattern.ports().end()));
        let ends = ends.filter(|(pattern, port)| target.is_meant_by(pattern, *port));
        let ports =
            begins.map(|(_, port)| port).chain(ends.filter_map(|(_, port)| port.checked_add(1)));
        let mut refused = None;
        for port in ports {
            let verdict = self.decide(&target, port);
            if verdict.allowed {
                return verdict;
            }
            // A reason of its own says more than that there is no rule for some port.
            if refused.is_none() || verdict.reason != Reason::NoRule {
                refused = Some(verdict);
            }
        }
        refused.unwrap_or_else(|| self.decide(&target, 0))
    }

    /// The rule that says how an allowed target is reached: the narrowest one that means it, of
    /// equal ones the first.
    pub fn rule_for(&self, target: &Target, port: u16) -> Option<&AllowRule> {
        let meant = self.allow.iter().filter(|rule| target.is_meant_by(&rule.pattern, port));
        // `max_by_key` takes the last of equal ones.
        meant.rev().max_by_key(|rule| rule.pattern.narrowness())
    }

    fn denied(&self, target: &Target, port: u16) -> Option<Verdict> {
        self.denial_of(target, port).map(|rule| Verdict::denied(&rule.origin))
    }

    /// The rule that denies a target, if one does.
    pub fn denial_of(&self, target: &Target, port: u16) -> Option<&DenyRule> {
        let hidden = match target {
            Target::Address(address) => embedded(same_host(*address)),
            Target::Name(_) => Vec::new(),
        };
        self.deny.iter().find(|rule| {
            target.is_meant_by(&rule.pattern, port)
                || hidden.iter().any(|inner| rule.pattern.matches_address(*inner, port))
        })
    }

    /// Why an address needs a rule of its own that is not there. An address hidden inside counts
    /// like the one around it.
    fn address_refused(&self, address: IpAddr, port: u16) -> Option<Reason> {
        let outer = same_host(address);
        std::iter::once(outer)
            .chain(embedded(outer))
            .find_map(|address| self.one_address_refused(address, port))
    }

    fn one_address_refused(&self, address: IpAddr, port: u16) -> Option<Reason> {
        let names = |pattern: &HostPattern| {
            pattern.exact_address().is_some() && pattern.matches_address(address, port)
        };
        let exact = self.allow.iter().any(|rule| names(&rule.pattern));
        if is_sensitive_address(address) && !exact {
            return Some(Reason::SensitiveService);
        }
        match address_kind(address) {
            AddressKind::Public => None,
            AddressKind::Loopback | AddressKind::Unspecified => {
                (!exact).then_some(Reason::LoopbackAddress)
            }
            _ => {
                let covers = |rule: &AllowRule| {
                    rule.pattern.names_addresses() && rule.pattern.matches_address(address, port)
                };
                (!self.allow.iter().any(covers)).then_some(Reason::PrivateAddress)
            }
        }
    }
}
