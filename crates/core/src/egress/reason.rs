//! Why a connection was allowed or not: stable codes for records and tests.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $variant:ident = $code:literal,)*) => {
        /// Why. The codes do not change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Reason { $($(#[doc = $doc])+ #[serde(rename = $code)] $variant,)* }

        impl Reason {
            /// Every reason.
            pub const ALL: &'static [Reason] = &[$(Reason::$variant,)*];

            /// The code.
            pub fn code(self) -> &'static str {
                match self { $(Reason::$variant => $code,)* }
            }
        }
    };
}

reasons! {
    /// A rule allows it.
    Allowed = "allowed",
    /// It is the box itself.
    BoxLoopback = "box_loopback",
    /// There is no network.
    NetworkOff = "network_off",
    /// Only the loopback of the box can be reached.
    LocalhostOnly = "localhost_only",
    /// Names are not answered.
    DnsOff = "dns_off",
    /// It is no name that a host can have.
    NotAHost = "not_a_host",
    /// A rule denies it.
    DeniedByRule = "denied_by_rule",
    /// No rule allows it.
    NoRule = "no_rule",
    /// Metadata or a model provider, and no rule names it exactly.
    SensitiveService = "sensitive_service",
    /// The machine of the developer, and no rule names `host`.
    HostNotNamed = "host_not_named",
    /// A loopback address, and no rule names exactly that address.
    LoopbackAddress = "loopback_address",
    /// An address that is not public, and no rule with an address or network covers it.
    PrivateAddress = "private_address",
    /// The box has asked for more names than a box may.
    TooManyNames = "too_many_names",
    /// The box has as many connections as it may.
    TooManyConnections = "too_many_connections",
    /// The box has moved as many bytes as it may.
    ByteLimit = "byte_limit",
    /// TLS that the rule wants, or a head of HTTP that was begun, was not whole in time.
    FirstBytesTimeout = "first_bytes_timeout",
    /// The rule wants TLS, and this is not TLS.
    NotTls = "not_tls",
    /// A TLS greeting that cannot be read.
    TlsMalformed = "tls_malformed",
    /// TLS without a server name, where the rule wants one.
    SniMissing = "sni_missing",
    /// TLS for another name than the one that was dialled.
    SniMismatch = "sni_mismatch",
    /// A request of HTTP that could be read in two ways.
    HttpMalformed = "http_malformed",
    /// A head of HTTP that is too large.
    HttpTooLarge = "http_too_large",
    /// A request without `Host`.
    HttpHostMissing = "http_host_missing",
    /// A request with more than one `Host`.
    HttpHostDuplicate = "http_host_duplicate",
    /// A request for another host than the one that was dialled.
    HttpHostMismatch = "http_host_mismatch",
    /// A request to be a proxy.
    HttpConnect = "http_connect",
    /// The secret that the rule puts into requests is not there.
    SecretMissing = "secret_missing",
    /// The name has no address outside.
    Unresolved = "unresolved",
    /// No address could be reached.
    Unreachable = "unreachable",
    /// The proxy of this machine could not be used, or refused.
    ProxyFailed = "proxy_failed",
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
