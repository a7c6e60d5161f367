//! The resolver of this machine: its hosts file, its name servers. It does not go through the C
//! library, whose lookups need parts that a statically linked program does not have.

use std::{sync::OnceLock, time::Duration};

use hickory_resolver::{
    TokioResolver,
    config::{LookupIpStrategy, ResolveHosts},
};
use tokio::time::timeout;

use super::{Resolve, ResolveError, Resolving};

const ONE_TRY: Duration = Duration::from_secs(3);
const ALL_TRIES: Duration = Duration::from_secs(8);

/// Asks whom this machine asks. The configuration is read at the first name. It works on the tokio
/// runtime that is current then, and remembers answers for as long as they say.
#[derive(Default)]
pub struct SystemResolver {
    resolver: OnceLock<TokioResolver>,
}

impl SystemResolver {
    /// A resolver that has not read anything yet.
    pub fn new() -> SystemResolver {
        SystemResolver::default()
    }
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            let resolver = match self.resolver.get() {
                Some(resolver) => resolver,
                None => {
                    let read = configured().map_err(|why| ResolveError::Configuration {
                        name: name.to_owned(),
                        why,
                    })?;
                    self.resolver.get_or_init(|| read)
                }
            };
            // With a dot at the end no search domain is tried. A single word may need one.
            let whole = if name.contains('.') { format!("{name}.") } else { name.to_owned() };
            match timeout(ALL_TRIES, resolver.lookup_ip(whole)).await {
                Ok(Ok(found)) => Ok(found.iter().collect()),
                Ok(Err(error)) => {
                    Err(ResolveError::Unknown { name: name.to_owned(), why: error.to_string() })
                }
                Err(_) => Err(ResolveError::TimedOut { name: name.to_owned() }),
            }
        })
    }
}

fn configured() -> Result<TokioResolver, String> {
    let mut builder = TokioResolver::builder_tokio().map_err(|error| error.to_string())?;
    let options = builder.options_mut();
    options.timeout = ONE_TRY;
    options.attempts = 2;
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    options.use_hosts_file = ResolveHosts::Always;
    builder.build().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_machine_itself_is_known_without_a_name_server() {
        let found = SystemResolver::new().resolve("localhost").await.unwrap();
        assert!(
            !found.is_empty() && found.iter().all(|address| address.is_loopback()),
            "{found:?}"
        );
    }
}
