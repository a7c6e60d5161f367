//! The only way out of a box to a network.
//!
//! A box has no network. What it dials and what names it asks for arrive here: as sockets that
//! were made in its namespace, or as streams that its init carries. The [`Gate`] answers names
//! from the rules alone, decides, resolves outside, dials only addresses it has checked, compares
//! what is spoken with what was dialled, relays, and hands out one [`Record`] per decision.

#![forbid(unsafe_code)]

mod checks;
mod connection;
mod dial;
mod dns;
mod first_bytes;
#[doc(hidden)]
pub mod fuzzing;
mod gate;
mod http;
mod names;
mod proxy;
mod records;
mod relay;
mod resolve;
mod secrets;
mod serve;
mod sni;

pub use fumehood_core::egress::Record;

#[doc(hidden)]
pub use self::checks::Check;
pub use self::{
    gate::{Gate, Sink},
    proxy::{Proxies, ProxyError},
    records::MOST_RECORDS,
    resolve::{Resolve, ResolveError, Resolving, SystemResolver, TableResolver},
    secrets::Secrets,
};
