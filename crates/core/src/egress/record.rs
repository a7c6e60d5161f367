//! What is kept of every connection that a box wanted, and of every name that it was refused.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::Reason;

/// One decision of the gate, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The name that was dialled or asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The address that was dialled outside, or the one that the program asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// The port; absent where only a name was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Whether it was allowed, to its end.
    pub allowed: bool,
    /// Why.
    pub reason: Reason,
    /// The line that decided, or under which the connection was before it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Bytes that left the box.
    pub sent: u64,
    /// Bytes that came to the box.
    pub received: u64,
    /// How long it lasted.
    pub duration_ms: u64,
    /// Whether it went through the proxy of this machine, which then chose the address.
    pub via_proxy: bool,
}
