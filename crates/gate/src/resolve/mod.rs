//! From a name to its addresses, outside of boxes.

mod system;
mod table;

use std::{future::Future, net::IpAddr, pin::Pin};

pub use self::{system::SystemResolver, table::TableResolver};

/// Finds addresses. One resolver serves all boxes.
pub trait Resolve: Send + Sync {
    /// The addresses of a name, the best one first. The name is in lower case, without a dot at
    /// the end. What comes back is checked by whoever asked.
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a>;
}

/// The answer of a [`Resolve`], when it is there.
pub type Resolving<'a> =
    Pin<Box<dyn Future<Output = Result<Vec<IpAddr>, ResolveError>> + Send + 'a>>;

/// Why a name has no addresses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// Nobody knows it.
    #[error("no address is known for `{name}`: {why}; check the name and this machine's DNS")]
    Unknown {
        /// The name.
        name: String,
        /// What the lookup said.
        why: String,
    },
    /// The configuration of this machine could not be read.
    #[error(
        "cannot look up `{name}`, since this machine's DNS configuration cannot be read: {why}"
    )]
    Configuration {
        /// The name.
        name: String,
        /// What was wrong.
        why: String,
    },
    /// No answer in time.
    #[error("looking up `{name}` took too long; check this machine's DNS")]
    TimedOut {
        /// The name.
        name: String,
    },
}
