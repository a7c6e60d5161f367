//! What may be reached: cases that people think of, and rules that hold for all.

mod addresses;
mod decisions;
mod properties;

use super::{AllowRule, DenyRule, Egress, Target, Verdict};
use crate::policy::NetMode;

fn egress(allow: &[&str], deny: &[&str]) -> Egress {
    let origin = |n: usize| format!("policy.yaml:{}", n + 1);
    let allow = allow.iter().enumerate();
    let deny = deny.iter().enumerate();
    Egress {
        mode: NetMode::Allow,
        allow: allow.map(|(n, text)| AllowRule::new(text.parse().unwrap(), origin(n))).collect(),
        deny: deny.map(|(n, text)| DenyRule::new(text.parse().unwrap(), origin(n))).collect(),
        dns: true,
        ..Egress::none()
    }
}

#[track_caller]
fn decide(egress: &Egress, host: &str, port: u16) -> Verdict {
    egress.decide(&Target::parse(host).unwrap(), port)
}
