//! What a policy lets a box reach, as the plan has it.

use crate::{
    egress::{AllowRule, DenyRule, Egress},
    policy::Policy,
};

/// The rules of a box under this policy.
pub(super) fn egress(policy: &Policy) -> Egress {
    let net = &policy.net;
    Egress {
        mode: net.mode.value,
        allow: net
            .allow
            .iter()
            .map(|rule| AllowRule::new(rule.value.clone(), rule.origin.to_string()))
            .collect(),
        deny: net
            .deny
            .iter()
            .map(|rule| DenyRule::new(rule.value.clone(), rule.origin.to_string()))
            .collect(),
        dns: net.dns.value,
        ..Egress::none()
    }
}
