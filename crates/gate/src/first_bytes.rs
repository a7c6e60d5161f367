//! What a program says first, compared with what it dialled.

use std::{net::IpAddr, sync::Arc};

use fumehood_core::egress::{Egress, Reason, Target, TlsRule, same_host};

use crate::{
    http::{Injection, Look, RequestFilter, looks_like_http},
    sni::{Greeting, greeting},
};

/// Whom the program dialled.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) egress: Arc<Egress>,
    pub(crate) target: Target,
    pub(crate) port: u16,
}

impl Peer {
    /// Whether a name in what is spoken means whoever was dialled. Behind an address there may be
    /// any name that could have been dialled itself.
    pub(crate) fn is_meant_by(&self, host: &str) -> bool {
        match (&self.target, Target::parse(host)) {
            (Target::Name(own), Ok(Target::Name(other))) => *own == other,
            (Target::Address(own), Ok(Target::Address(other))) => {
                same_host(*own) == same_host(other)
            }
            (Target::Address(_), Ok(other)) => self.egress.decide(&other, self.port).allowed,
            _ => false,
        }
    }

    fn address(&self) -> Option<IpAddr> {
        match &self.target {
            Target::Address(address) => Some(*address),
            Target::Name(_) => None,
        }
    }
}

/// Holds bytes back until it is clear that they may pass.
#[derive(Debug)]
pub(crate) struct Inspector {
    peer: Arc<Peer>,
    tls: TlsRule,
    injection: Injection,
    stage: Stage,
    held: Vec<u8>,
    /// How many of the held bytes have gone on, being harmless.
    released: usize,
}

#[derive(Debug)]
enum Stage {
    First,
    Http(RequestFilter),
    Open,
}

impl Inspector {
    pub(crate) fn new(peer: Arc<Peer>, tls: TlsRule, injection: Injection) -> Inspector {
        Inspector { peer, tls, injection, stage: Stage::First, held: Vec::new(), released: 0 }
    }

    /// Lets everything through as it comes.
    pub(crate) fn of_nothing(peer: Arc<Peer>) -> Inspector {
        let stage = Stage::Open;
        Inspector { stage, ..Inspector::new(peer, TlsRule::Any, Injection::None) }
    }

    /// Takes bytes of the box and gives those that may go on.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Reason> {
        match &mut self.stage {
            Stage::First => {
                self.held.extend_from_slice(bytes);
                self.judge(out)
            }
            Stage::Http(filter) => {
                // A head goes on as a whole and begins with what has gone on already.
                let start = out.len();
                filter.push(bytes, out)?;
                if out.len() > start {
                    out.drain(start..start + std::mem::take(&mut self.released));
                }
                Ok(())
            }
            Stage::Open => {
                out.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    fn judge(&mut self, out: &mut Vec<u8>) -> Result<(), Reason> {
        match greeting(&self.held) {
            Greeting::NeedMore => return Ok(()),
            Greeting::Malformed => return Err(Reason::TlsMalformed),
            Greeting::Hello { sni: Some(name) } if !self.peer.is_meant_by(&name) => {
                return Err(Reason::SniMismatch);
            }
            // An address has no server name.
            Greeting::Hello { sni: None }
                if self.tls == TlsRule::Required && self.peer.address().is_none() =>
            {
                return Err(Reason::SniMissing);
            }
            Greeting::Hello { .. } => {}
            Greeting::NotTls if self.tls == TlsRule::Required => return Err(Reason::NotTls),
            Greeting::NotTls => match looks_like_http(&self.held) {
                Look::Maybe => return Ok(()),
                Look::No => {}
                Look::Yes => {
                    let filter = RequestFilter::new(self.peer.clone(), self.injection.clone());
                    self.stage = Stage::Http(filter);
                    let held = std::mem::take(&mut self.held);
                    return self.push(&held, out);
                }
            },
        }
        out.extend(self.held.drain(..).skip(self.released));
        self.stage = Stage::Open;
        Ok(())
    }

    /// Whether nothing is left to be looked at.
    pub(crate) fn is_open(&self) -> bool {
        match &self.stage {
            Stage::First => false,
            Stage::Http(filter) => filter.is_open(),
            Stage::Open => true,
        }
    }

    /// Whether something was begun that must be ended soon.
    pub(crate) fn is_waiting(&self) -> bool {
        match &self.stage {
            Stage::First => self.held.len() > self.released,
            Stage::Http(filter) => filter.is_within_head(),
            Stage::Open => false,
        }
    }

    /// Nothing has come for a while: gives what is harmless by itself, the beginning of a word
    /// that may become a method of HTTP or anything else.
    pub(crate) fn quiet(&mut self, out: &mut Vec<u8>) {
        let harmless = matches!(self.stage, Stage::First)
            && greeting(&self.held) == Greeting::NotTls
            && self.tls == TlsRule::Any;
        if harmless {
            out.extend_from_slice(&self.held[self.released..]);
            self.released = self.held.len();
        }
    }

    /// The box says no more.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) -> Result<(), Reason> {
        self.quiet(out);
        match (&self.stage, self.tls) {
            (Stage::First, TlsRule::Required) => Err(Reason::NotTls),
            (Stage::First, TlsRule::Any) if self.is_waiting() => Err(Reason::TlsMalformed),
            (Stage::Http(filter), _) if filter.is_within_head() => Err(Reason::HttpMalformed),
            _ => Ok(()),
        }
    }

    /// Whether the server must say something before more can pass.
    pub(crate) fn awaits_server(&self) -> bool {
        matches!(&self.stage, Stage::Http(filter) if filter.awaits_server())
    }

    /// What the server said: whether it no longer speaks HTTP.
    pub(crate) fn server_said(&mut self, upgraded: bool, out: &mut Vec<u8>) -> Result<(), Reason> {
        match &mut self.stage {
            Stage::Http(filter) => filter.server_said(upgraded, out),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use fumehood_core::{egress::AllowRule, policy::NetMode};

    use super::*;

    /// Somebody who dialled this, where a.com and 10.0.0.1 may be dialled.
    pub(crate) fn peer(dialled: &str) -> Arc<Peer> {
        let allow = ["a.com", "10.0.0.1"].map(|p| AllowRule::new(p.parse().unwrap(), "line"));
        let egress =
            Egress { mode: NetMode::Allow, allow: allow.into(), dns: true, ..Egress::none() };
        Arc::new(Peer {
            egress: Arc::new(egress),
            target: Target::parse(dialled).unwrap(),
            port: 80,
        })
    }

    fn inspector(dialled: &str, tls: TlsRule) -> Inspector {
        Inspector::new(peer(dialled), tls, Injection::None)
    }

    #[test]
    fn a_word_passes_after_a_while_and_is_still_looked_at() {
        let mut any = inspector("a.com", TlsRule::Any);
        let mut out = Vec::new();
        any.push(b"GE", &mut out).unwrap();
        assert!(out.is_empty() && any.is_waiting());
        any.quiet(&mut out);
        assert_eq!(out, b"GE");
        assert!(!any.is_waiting() && !any.is_open());
        assert_eq!(
            any.push(b"T / HTTP/1.1\r\nHost: b.com\r\n\r\n", &mut out),
            Err(Reason::HttpHostMismatch)
        );
        assert_eq!(out, b"GE");

        let mut honest = inspector("a.com", TlsRule::Any);
        let mut out = Vec::new();
        honest.push(b"G", &mut out).unwrap();
        honest.quiet(&mut out);
        honest.push(b"ET / HTTP/1.1\r\nHo", &mut out).unwrap();
        honest.push(b"st: a.com\r\n\r\n", &mut out).unwrap();
        assert_eq!(out, b"GET / HTTP/1.1\r\nHost: a.com\r\n\r\n");

        let mut other = inspector("a.com", TlsRule::Any);
        let mut out = Vec::new();
        other.push(b"hello", &mut out).unwrap();
        other.quiet(&mut out);
        other.push(b"\n", &mut out).unwrap();
        assert_eq!(out, b"hello\n");
        assert!(other.is_open());
    }

    #[test]
    fn tls_is_never_let_through_in_part() {
        let mut any = inspector("a.com", TlsRule::Any);
        let mut out = Vec::new();
        any.push(&[22], &mut out).unwrap();
        any.quiet(&mut out);
        any.push(&[3, 1, 1, 0], &mut out).unwrap();
        any.quiet(&mut out);
        assert!(out.is_empty() && any.is_waiting());
        assert_eq!(any.end(&mut out), Err(Reason::TlsMalformed));
    }

    #[test]
    fn a_rule_that_wants_tls_wants_nothing_else() {
        let mut required = inspector("a.com", TlsRule::Required);
        assert_eq!(required.push(b"GET / HTTP/1.1", &mut Vec::new()), Err(Reason::NotTls));
        let mut silent = inspector("a.com", TlsRule::Required);
        assert_eq!(silent.end(&mut Vec::new()), Err(Reason::NotTls));
    }

    #[test]
    fn behind_an_address_there_are_names_that_may_be_dialled() {
        let peer = peer("10.0.0.1");
        assert!(peer.is_meant_by("10.0.0.1") && peer.is_meant_by("[::ffff:10.0.0.1]"));
        assert!(peer.is_meant_by("a.com"));
        assert!(!peer.is_meant_by("b.com") && !peer.is_meant_by("10.0.0.2"));
    }
}
