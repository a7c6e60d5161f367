//! How much a box may use of the network: what a layer says is the most for all layers above it.

use super::{Said, Sourced};
use crate::{Bytes, egress::EgressLimits};

/// How much a box may use of the network. What nobody says is not limited, but for connections,
/// which the default profile says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetLimits {
    /// Connections at once.
    pub connections: Said<u32>,
    /// Bytes in both directions together.
    pub bytes: Said<Bytes>,
    /// Bytes in each second, in both directions together.
    pub rate: Said<Bytes>,
}

impl NetLimits {
    /// Replaces what the other one says.
    pub(super) fn set(&mut self, said: &NetLimits) {
        self.connections = said.connections.clone().or(self.connections.take());
        self.bytes = said.bytes.clone().or(self.bytes.take());
        self.rate = said.rate.clone().or(self.rate.take());
    }

    /// The less of each.
    pub(super) fn least(&self, other: &NetLimits) -> NetLimits {
        NetLimits {
            connections: less(&self.connections, &other.connections),
            bytes: less(&self.bytes, &other.bytes),
            rate: less(&self.rate, &other.rate),
        }
    }

    /// As the gate has them.
    pub(super) fn resolved(&self) -> EgressLimits {
        let usual = EgressLimits::default();
        let number = |said: &Said<Bytes>| said.as_ref().map(|said| said.value.get());
        EgressLimits {
            connections: self.connections.as_ref().map_or(usual.connections, |said| said.value),
            total_bytes: number(&self.bytes),
            bytes_per_second: number(&self.rate),
        }
    }
}

fn less<T: Ord + Clone>(one: &Said<T>, other: &Said<T>) -> Said<T> {
    let both = one.iter().chain(other);
    both.min_by(|a: &&Sourced<T>, b| a.value.cmp(&b.value)).cloned()
}
