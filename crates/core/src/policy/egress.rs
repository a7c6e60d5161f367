//! What the gate gets of a policy, and its answers in the words of the policy. There is one logic:
//! the gate's.

use super::{Decision, Policy, Sourced};
use crate::{
    egress::{AllowRule, DenyRule, Egress, Reason, Target, TlsRule},
    source::Origin,
};

impl Policy {
    /// What a box may reach, for whoever opens connections.
    pub fn egress(&self) -> Egress {
        let net = &self.net;
        let allow = net.allow.iter().map(|Sourced { value: rule, origin }| AllowRule {
            pattern: rule.host.clone(),
            tls: rule.tls.unwrap_or_default(),
            inject: rule.inject.clone(),
            origin: origin.to_string(),
        });
        let deny = net.deny.iter();
        Egress {
            mode: net.mode.value,
            allow: allow.collect(),
            deny: deny
                .map(|deny| DenyRule::new(deny.value.clone(), deny.origin.to_string()))
                .collect(),
            dns: net.dns.value,
            synthetic: net.synthetic.value,
            limits: net.limits.resolved(),
        }
    }

    /// Whether a program in a box reaches a host, by name or by address, as the gate decides. The
    /// addresses of a name are judged too, once they are known.
    pub fn host_decision(&self, host: &str, port: u16) -> Decision {
        let mode = &self.net.mode;
        let target = match Target::parse(host) {
            Ok(target) => target,
            Err(error) => return Decision::no(&mode.origin, format!("it is no host: {error}")),
        };
        let egress = self.egress();
        let verdict = egress.decide_inside(&target, port);
        let (origin, reason) = self.in_words(&egress, &target, port, verdict.reason);
        Decision { allowed: verdict.allowed, origin: origin.clone(), reason }
    }

    fn in_words(
        &self,
        egress: &Egress,
        target: &Target,
        port: u16,
        reason: Reason,
    ) -> (&Origin, String) {
        let net = &self.net;
        // Patterns are there once, so each leads back to its line.
        let rule = egress
            .rule_for(target, port)
            .and_then(|rule| net.allow.iter().find(|known| known.value.host == rule.pattern));
        let denial = egress.denial_of(target, port);
        let denial = denial.and_then(|rule| net.deny.iter().find(|own| own.value == rule.pattern));
        let at_rule = rule.map_or(&net.mode.origin, |rule| &rule.origin);
        match (reason, rule, denial) {
            (Reason::Allowed, Some(rule), _) => {
                let how = match rule.value.tls {
                    Some(TlsRule::Required) => ", and must speak TLS",
                    _ => "",
                };
                (at_rule, format!("`{}` is allowed{how}", rule.value.host))
            }
            (Reason::DeniedByRule, _, Some(deny)) => {
                (&deny.origin, format!("`{}` is denied", deny.value))
            }
            (Reason::DnsOff, ..) => (&net.dns.origin, words(reason).to_owned()),
            (
                Reason::SensitiveService
                | Reason::HostNotNamed
                | Reason::LoopbackAddress
                | Reason::PrivateAddress,
                ..,
            ) => (at_rule, words(reason).to_owned()),
            _ => (&net.mode.origin, words(reason).to_owned()),
        }
    }
}

/// Why, for people.
pub(super) fn words(reason: Reason) -> &'static str {
    match reason {
        Reason::BoxLoopback => "it is the loopback of the box itself",
        Reason::NetworkOff => "there is no network",
        Reason::LocalhostOnly => "only the loopback of the box can be reached",
        Reason::DnsOff => "no name is answered",
        Reason::NoRule => "no pattern of `net.allow` means it",
        Reason::SensitiveService => {
            "it gives credentials or acts for whoever asks, and no pattern names it exactly"
        }
        Reason::HostNotNamed => "it is the machine that the box runs on, and only `host` means it",
        Reason::LoopbackAddress => "it is a loopback address, and no pattern names it exactly",
        Reason::PrivateAddress => {
            "it is not a public address, and no pattern with addresses means it"
        }
        other => other.code(),
    }
}
