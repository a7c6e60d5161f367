//! What one box may reach, and how that is decided. Pure: whoever opens connections asks here.
//!
//! [`Egress`] is part of a plan. [`Egress::decide`] judges what a program dials,
//! [`Egress::decide_address`] every address that a name turns out to have, and [`Record`] is what
//! is kept of it.

mod address;
mod decide;
mod network;
mod reason;
mod record;
mod rules;
mod sensitive;

#[cfg(test)]
mod tests;

pub use self::{
    address::{AddressKind, address_is_public, address_kind, same_host},
    decide::{HOST, Target, Verdict},
    network::{Ipv4Network, NotANetwork},
    reason::Reason,
    record::Record,
    rules::{AllowRule, DenyRule, Egress, EgressLimits, Inject, SecretSource, TlsRule},
};
