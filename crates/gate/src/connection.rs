//! The life of one connection: who is dialled, may that be, what is said first, dial, relay.

use std::{net::SocketAddr, sync::Arc};

use fumehood_core::egress::{AllowRule, Reason, SecretSource, Target, TlsRule, same_host};
use tokio::{
    io::AsyncReadExt as _,
    time::{Instant, timeout_at},
};

use crate::{
    checks::Check,
    dial::dial,
    first_bytes::{Inspector, Peer},
    gate::Shared,
    http::Injection,
    records::Ticket,
    relay::{BoxEnd, End, Job, WHOLE, relay},
};

impl Shared {
    /// Whom an address inside the box stands for.
    pub(crate) fn target_of(&self, dialled: SocketAddr) -> Target {
        match self.names.name_of(dialled.ip()) {
            Some(name) => Target::Name(name),
            None => Target::Address(same_host(dialled.ip())),
        }
    }

    /// Carries one connection to its end.
    pub(crate) async fn carry(self: Arc<Shared>, target: Target, port: u16, mut client: BoxEnd) {
        let mut ticket = Ticket::new(self.recorder.clone(), &target, port);
        if let Err(reason) = self.try_carry(target, port, &mut client, &mut ticket).await {
            if let Some(reason) = reason {
                ticket.refused(reason);
            }
            client.reset_on_close();
        }
    }

    /// An error without a reason is one that the ticket knows already.
    async fn try_carry(
        &self,
        target: Target,
        port: u16,
        client: &mut BoxEnd,
        ticket: &mut Ticket,
    ) -> Result<(), Option<Reason>> {
        let verdict = self.judged(|| self.egress.decide(&target, port));
        let allowed = verdict.allowed;
        ticket.judged(verdict);
        if !allowed {
            return Err(None);
        }
        let rule = self.egress.rule_for(&target, port);
        let tls = rule.map_or(TlsRule::Any, |rule| rule.tls);
        let peer = Arc::new(Peer { egress: self.egress.clone(), target: target.clone(), port });
        let injection = rule.map_or(Injection::None, |rule| self.injection(rule));
        let mut inspector = match self.checks.include(Check::Speech) {
            true => Inspector::new(peer, tls, injection),
            false => Inspector::of_nothing(peer),
        };
        let first = match tls {
            TlsRule::Required => greeting(client, &mut inspector).await?,
            // The server may be the one who speaks first.
            TlsRule::Any => Vec::new(),
        };
        let dialled =
            dial(&self.egress, &self.checks, &*self.resolver, &self.proxies, &target, port).await;
        let mut server = match dialled {
            Ok(dialled) => {
                ticket.dialled(dialled.address, dialled.via_proxy);
                dialled.stream
            }
            Err(failed) => {
                ticket.dialled(failed.address, failed.via_proxy);
                ticket.judged(failed.verdict);
                return Err(None);
            }
        };
        // Small pieces are passed on as they come; a socket that cannot do that does it later.
        let _ = server.set_nodelay(true);
        if let BoxEnd::Tcp(stream) = &client {
            let _ = stream.set_nodelay(true);
        }
        let counts = ticket.counts.clone();
        let job = Job { first, inspector, counts: &counts, meter: &self.meter };
        let reason = match relay(client, &mut server, job).await {
            // What is under way to either end arrives.
            Ok(()) | Err(End::Gone) => return Ok(()),
            Err(End::Reset) => None,
            Err(End::Refused(reason)) => Some(reason),
        };
        // Neither end takes this for a proper end. Failing that it is closed.
        let _ = server.set_zero_linger();
        Err(reason)
    }

    fn injection(&self, rule: &AllowRule) -> Injection {
        let Some(inject) = &rule.inject else { return Injection::None };
        let SecretSource::Env(variable) = &inject.from;
        match self.secrets.header_value(variable) {
            Some(value) => {
                Injection::Header { name: inject.header.clone(), value: value.to_owned() }
            }
            None => Injection::Missing,
        }
    }
}

/// Reads until the greeting of TLS is whole and found good.
async fn greeting(client: &mut BoxEnd, inspector: &mut Inspector) -> Result<Vec<u8>, Reason> {
    let end = Instant::now() + WHOLE;
    let mut buffer = vec![0; 4 * 1024];
    let mut out = Vec::new();
    while !inspector.is_open() {
        let read = match client {
            BoxEnd::Tcp(stream) => timeout_at(end, stream.read(&mut buffer)).await,
            BoxEnd::Any(stream) => timeout_at(end, stream.read(&mut buffer)).await,
        };
        match read {
            Err(_) => return Err(Reason::FirstBytesTimeout),
            Ok(Ok(0) | Err(_)) => inspector.end(&mut out)?,
            Ok(Ok(read)) => inspector.push(&buffer[..read], &mut out)?,
        }
    }
    Ok(out)
}
