//! From a target to a connection: resolved, every address checked, a checked one dialled.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use fumehood_core::egress::{Egress, Reason, Target, Verdict};
use tokio::{
    net::TcpStream,
    task::JoinSet,
    time::{Instant, timeout, timeout_at},
};

use crate::{
    checks::{Check, Checks},
    proxy::{Proxies, Proxy},
    resolve::Resolve,
};

/// More addresses of a name are not tried.
const MOST_ADDRESSES: usize = 8;
const RESOLVE: Duration = Duration::from_secs(10);
const CONNECT: Duration = Duration::from_secs(15);
/// How long one address is tried alone.
const ALONE: Duration = Duration::from_millis(250);

/// A connection to the world.
#[derive(Debug)]
pub(crate) struct Dialled {
    pub(crate) stream: TcpStream,
    /// The address, unless a proxy chose it.
    pub(crate) address: Option<IpAddr>,
    pub(crate) via_proxy: bool,
}

/// Why there is none.
#[derive(Debug)]
pub(crate) struct NotDialled {
    pub(crate) verdict: Verdict,
    pub(crate) address: Option<IpAddr>,
    pub(crate) via_proxy: bool,
}

impl NotDialled {
    fn because(reason: Reason) -> NotDialled {
        let verdict = Verdict { allowed: false, reason, rule: None };
        NotDialled { verdict, address: None, via_proxy: false }
    }
}

/// Dials a target that the rules allow.
pub(crate) async fn dial(
    egress: &Egress,
    checks: &Checks,
    resolver: &dyn Resolve,
    proxies: &Proxies,
    target: &Target,
    port: u16,
) -> Result<Dialled, NotDialled> {
    if let Some(proxy) = proxies.leading_to(target, port) {
        return match timeout(CONNECT, through(proxy, resolver, target, port)).await {
            Ok(Ok(stream)) => Ok(Dialled { stream, address: None, via_proxy: true }),
            _ => Err(NotDialled { via_proxy: true, ..NotDialled::because(Reason::ProxyFailed) }),
        };
    }
    let addresses = match target {
        Target::Address(address) => vec![*address],
        host if host.is_host() => vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
        Target::Name(name) => match timeout(RESOLVE, resolver.resolve(name)).await {
            Ok(Ok(addresses)) => addresses,
            _ => return Err(NotDialled::because(Reason::Unresolved)),
        },
    };
    let mut checked = Vec::new();
    let mut refused = None;
    for address in addresses {
        let verdict = egress.decide_address(target, address, port);
        if verdict.allowed || !checks.include(Check::Addresses) {
            checked.push(SocketAddr::new(address, port));
        } else if refused.is_none() {
            refused = Some((verdict, address));
        }
    }
    if checked.is_empty() {
        return Err(match refused {
            Some((verdict, address)) => {
                NotDialled { verdict, address: Some(address), via_proxy: false }
            }
            None => NotDialled::because(Reason::Unresolved),
        });
    }
    let checked = in_turns(checked);
    let first = checked[0].ip();
    match first_to_answer(checked).await {
        Ok((stream, address)) => Ok(Dialled { stream, address: Some(address), via_proxy: false }),
        Err(_) => {
            Err(NotDialled { address: Some(first), ..NotDialled::because(Reason::Unreachable) })
        }
    }
}

/// Both families in turns, so that one that leads nowhere costs one try.
fn in_turns(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let family = addresses.first().is_some_and(SocketAddr::is_ipv4);
    let (mut one, mut other): (Vec<_>, Vec<_>) =
        addresses.into_iter().partition(|address| address.is_ipv4() == family);
    one.truncate(MOST_ADDRESSES);
    other.truncate(MOST_ADDRESSES);
    let mut mixed = Vec::with_capacity(one.len() + other.len());
    let mut other = other.into_iter();
    for address in one {
        mixed.push(address);
        mixed.extend(other.next());
    }
    mixed.extend(other);
    mixed.truncate(MOST_ADDRESSES);
    mixed
}

/// Tries one after the other, each a little after the one before, and takes the first that answers.
async fn first_to_answer(addresses: Vec<SocketAddr>) -> io::Result<(TcpStream, IpAddr)> {
    let end = Instant::now() + CONNECT;
    let mut tries = JoinSet::new();
    let mut rest = addresses.into_iter();
    let mut last = io::Error::from(io::ErrorKind::TimedOut);
    loop {
        let next = rest.next();
        let more = next.is_some();
        if let Some(address) = next {
            tries.spawn(async move {
                TcpStream::connect(address).await.map(|stream| (stream, address.ip()))
            });
        } else if tries.is_empty() {
            return Err(last);
        }
        let patience = if more { end.min(Instant::now() + ALONE) } else { end };
        match timeout_at(patience, tries.join_next()).await {
            Ok(Some(Ok(Ok(connected)))) => return Ok(connected),
            Ok(Some(Ok(Err(error)))) => last = error,
            Ok(_) => {}
            Err(_) if Instant::now() >= end => return Err(last),
            Err(_) => {}
        }
    }
}

async fn through(
    proxy: &Proxy,
    resolver: &dyn Resolve,
    target: &Target,
    port: u16,
) -> io::Result<TcpStream> {
    // The proxy is this machine's own choice, wherever it is.
    let addresses = match proxy.host.parse::<IpAddr>() {
        Ok(address) => vec![address],
        Err(_) => resolver.resolve(&proxy.host).await.map_err(io::Error::other)?,
    };
    let addresses = addresses.into_iter().map(|ip| SocketAddr::new(ip, proxy.port)).collect();
    let (mut stream, _) = first_to_answer(in_turns(addresses)).await?;
    proxy.ask(&mut stream, target, port).await?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_take_turns() {
        let all = ["1.1.1.1:1", "2.2.2.2:1", "3.3.3.3:1", "[2::1]:1"].map(|a| a.parse().unwrap());
        let turns: Vec<String> = in_turns(all.into()).iter().map(ToString::to_string).collect();
        assert_eq!(turns, ["1.1.1.1:1", "[2::1]:1", "2.2.2.2:1", "3.3.3.3:1"]);
        let many = (0..99).map(|n| SocketAddr::new(Ipv4Addr::new(1, 1, 1, n).into(), 1)).collect();
        assert_eq!(in_turns(many).len(), MOST_ADDRESSES);
        assert!(in_turns(Vec::new()).is_empty());
    }
}
