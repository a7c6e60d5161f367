//! The rules of one box, as they stand in its plan.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Ipv4Network;
use crate::policy::{HostPattern, NetMode};

/// What one box may reach.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Egress {
    /// Whether anything can be reached at all.
    pub mode: NetMode,
    /// What can be reached, if the mode is `allow`.
    pub allow: Vec<AllowRule>,
    /// What cannot. It wins.
    pub deny: Vec<DenyRule>,
    /// Whether names are answered.
    pub dns: bool,
    /// Where the addresses come from that stand for names inside the box.
    pub synthetic: Ipv4Network,
    /// How much.
    pub limits: EgressLimits,
}

impl Egress {
    /// Nothing at all.
    pub fn none() -> Egress {
        Egress {
            mode: NetMode::None,
            allow: Vec::new(),
            deny: Vec::new(),
            dns: false,
            synthetic: Ipv4Network::BENCHMARK,
            limits: EgressLimits::default(),
        }
    }
}

/// Hosts that can be reached, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowRule {
    /// The hosts.
    pub pattern: HostPattern,
    /// Whether the connection must be TLS.
    #[serde(default)]
    pub tls: TlsRule,
    /// A secret that requests get on their way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inject: Option<Inject>,
    /// Where the rule stands: a file and a line.
    pub origin: String,
}

impl AllowRule {
    /// A rule that asks for nothing further.
    pub fn new(pattern: HostPattern, origin: impl Into<String>) -> AllowRule {
        AllowRule { pattern, tls: TlsRule::Any, inject: None, origin: origin.into() }
    }
}

/// Hosts that cannot be reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DenyRule {
    /// The hosts.
    pub pattern: HostPattern,
    /// Where the rule stands: a file and a line.
    pub origin: String,
}

impl DenyRule {
    /// A rule.
    pub fn new(pattern: HostPattern, origin: impl Into<String>) -> DenyRule {
        DenyRule { pattern, origin: origin.into() }
    }
}

/// What may be spoken. The order is that of looseness.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum TlsRule {
    /// TLS from the first byte, for the name that was dialled.
    Required,
    /// Anything. What is TLS or HTTP must still be for the name that was dialled.
    #[default]
    Any,
}

/// A header that every request of plain HTTP gets, in place of one of that name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Inject {
    /// The header's name.
    pub header: String,
    /// Where its value comes from.
    pub from: SecretSource,
}

/// Where a secret comes from. The plan holds the place, never the value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretSource {
    /// A variable of the supervisor.
    Env(String),
}

/// As in a policy: `env:TOKEN`.
impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SecretSource::Env(name) = self;
        write!(f, "env:{name}")
    }
}

/// How much a box may use of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EgressLimits {
    /// Connections at once. Each takes two descriptors of the supervisor.
    pub connections: u32,
    /// Bytes in both directions together, over the life of the box.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_bytes: Option<u64>,
    /// Bytes per second, in both directions together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<u64>,
}

impl Default for EgressLimits {
    fn default() -> EgressLimits {
        EgressLimits { connections: 256, total_bytes: None, bytes_per_second: None }
    }
}
