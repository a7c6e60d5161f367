//! Requests of plain HTTP: every head is read, since a second request on a connection could be
//! for another host than the first.
//!
//! A rule's secret is put into every head. A connection that is upgraded (WebSocket) is passed on
//! unread once the server has said 101; until then what follows the request is held back.

mod body;
mod head;
mod look;

use std::sync::Arc;

use fumehood_core::egress::Reason;

pub(crate) use self::look::{Look, looks_like_http};
use self::{body::Framing, head::Head};
use crate::first_bytes::Peer;

/// The largest head.
pub(crate) const MOST_HEAD: usize = 64 * 1024;

/// What every request gets on its way.
#[derive(Clone, Debug)]
pub(crate) enum Injection {
    /// Nothing.
    None,
    /// A header, in place of those of the same name.
    Header { name: String, value: String },
    /// A header whose value is not there. No request passes.
    Missing,
}

/// Reads requests as they pass.
#[derive(Debug)]
pub(crate) struct RequestFilter {
    peer: Arc<Peer>,
    injection: Injection,
    state: State,
    held: Vec<u8>,
    is_first: bool,
}

#[derive(Debug)]
enum State {
    Head,
    Body(Framing),
    /// The server will say whether it goes on as HTTP.
    Upgrade,
    /// No longer HTTP.
    Open,
}

impl RequestFilter {
    pub(crate) fn new(peer: Arc<Peer>, injection: Injection) -> RequestFilter {
        RequestFilter { peer, injection, state: State::Head, held: Vec::new(), is_first: true }
    }

    /// Takes bytes of the box and gives those that may go on.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Reason> {
        self.held.extend_from_slice(bytes);
        loop {
            match &mut self.state {
                State::Head => {
                    let Some(end) = head::end(&self.held) else {
                        // A line without its carriage return never ends a head, and never passes.
                        let full = self.held.len() > MOST_HEAD;
                        return if full { Err(Reason::HttpTooLarge) } else { Ok(()) };
                    };
                    if end > MOST_HEAD {
                        return Err(Reason::HttpTooLarge);
                    }
                    let rest = self.held.split_off(end);
                    let bytes = std::mem::replace(&mut self.held, rest);
                    let head = Head::parse(&bytes)?;
                    head.check(&self.peer)?;
                    head.write(&self.injection, out)?;
                    self.state = match (head.upgrades, self.is_first) {
                        (true, true) => State::Upgrade,
                        // Whose answer would say 101 could no longer be told.
                        (true, false) => return Err(Reason::HttpMalformed),
                        (false, _) => State::Body(head.framing),
                    };
                    self.is_first = false;
                }
                State::Body(framing) => {
                    let taken = framing.take(&self.held)?;
                    out.extend(self.held.drain(..taken));
                    if !framing.is_done() {
                        return Ok(());
                    }
                    self.state = State::Head;
                }
                State::Upgrade => {
                    let full = self.held.len() > MOST_HEAD;
                    return if full { Err(Reason::HttpTooLarge) } else { Ok(()) };
                }
                State::Open => {
                    out.append(&mut self.held);
                    return Ok(());
                }
            }
            if self.held.is_empty() {
                return Ok(());
            }
        }
    }

    /// Whether the server must say something before more can pass.
    pub(crate) fn awaits_server(&self) -> bool {
        matches!(self.state, State::Upgrade)
    }

    /// What the server said: whether it no longer speaks HTTP.
    pub(crate) fn server_said(&mut self, upgraded: bool, out: &mut Vec<u8>) -> Result<(), Reason> {
        if self.awaits_server() {
            self.state = if upgraded { State::Open } else { State::Head };
        }
        self.push(&[], out)
    }

    /// Whether nothing is left to be read.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.state, State::Open) && self.held.is_empty()
    }

    /// Whether a head has begun and not ended.
    pub(crate) fn is_within_head(&self) -> bool {
        matches!(self.state, State::Head) && !self.held.is_empty()
    }
}

#[cfg(test)]
mod tests;
