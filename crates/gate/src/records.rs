//! One record per decision, and an end to them: a box that is refused a million times is not
//! written down a million times.

use std::{
    collections::HashSet,
    net::IpAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use fumehood_core::egress::{Reason, Record, Target, Verdict};
use tokio::time::Instant;

use crate::gate::Sink;

/// How many records one gate hands out of connections that were allowed, and as many again of what
/// was refused, so that one cannot crowd out the other. Further ones are only counted.
pub const MOST_RECORDS: u64 = 1000;

/// Hands records out.
pub(crate) struct Recorder {
    sink: Sink,
    allowed: AtomicU64,
    refused: AtomicU64,
    /// Names that were refused; each is recorded once.
    names: Mutex<HashSet<String>>,
    is_crowded: AtomicBool,
}

impl Recorder {
    pub(crate) fn new(sink: Sink) -> Recorder {
        Recorder {
            sink,
            allowed: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            names: Mutex::default(),
            is_crowded: AtomicBool::new(false),
        }
    }

    fn put(&self, record: Record) {
        let count = if record.allowed { &self.allowed } else { &self.refused };
        if count.fetch_add(1, Ordering::Relaxed) < MOST_RECORDS {
            (self.sink)(record);
        }
    }

    /// How many were not handed out.
    pub(crate) fn left_out(&self) -> u64 {
        let over = |count: &AtomicU64| count.load(Ordering::Relaxed).saturating_sub(MOST_RECORDS);
        over(&self.allowed) + over(&self.refused)
    }

    /// A name was asked for and refused.
    pub(crate) fn name_refused(&self, name: String, verdict: Verdict) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if names.contains(&name) {
            return;
        }
        if (names.len() as u64) < MOST_RECORDS {
            names.insert(name.clone());
        }
        drop(names);
        let mut record = blank();
        record.name = Some(name);
        record.reason = verdict.reason;
        record.rule = verdict.rule;
        self.put(record);
    }

    /// A connection came while there were as many as there may be. Recorded once.
    pub(crate) fn crowded(&self, target: &Target, port: u16) {
        if !self.is_crowded.swap(true, Ordering::Relaxed) {
            let mut record = blank();
            set_target(&mut record, target, port);
            record.reason = Reason::TooManyConnections;
            self.put(record);
        }
    }
}

/// Bytes that have passed.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) sent: AtomicU64,
    pub(crate) received: AtomicU64,
}

/// The record of a connection while it lasts. It is handed out when this is dropped, whatever
/// ended the connection.
pub(crate) struct Ticket {
    recorder: Arc<Recorder>,
    record: Record,
    begun: Instant,
    pub(crate) counts: Arc<Counts>,
}

impl Ticket {
    pub(crate) fn new(recorder: Arc<Recorder>, target: &Target, port: u16) -> Ticket {
        let mut record = blank();
        set_target(&mut record, target, port);
        Ticket { recorder, record, begun: Instant::now(), counts: Arc::default() }
    }

    pub(crate) fn judged(&mut self, verdict: Verdict) {
        self.record.allowed = verdict.allowed;
        self.record.reason = verdict.reason;
        if verdict.rule.is_some() {
            self.record.rule = verdict.rule;
        }
    }

    pub(crate) fn refused(&mut self, reason: Reason) {
        self.record.allowed = false;
        self.record.reason = reason;
    }

    pub(crate) fn dialled(&mut self, address: Option<IpAddr>, via_proxy: bool) {
        self.record.address = address.or(self.record.address);
        self.record.via_proxy = via_proxy;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut record = std::mem::replace(&mut self.record, blank());
        record.sent = self.counts.sent.load(Ordering::Relaxed);
        record.received = self.counts.received.load(Ordering::Relaxed);
        record.duration_ms = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.recorder.put(record);
    }
}

fn blank() -> Record {
    Record {
        name: None,
        address: None,
        port: None,
        allowed: false,
        reason: Reason::NoRule,
        rule: None,
        sent: 0,
        received: 0,
        duration_ms: 0,
        via_proxy: false,
    }
}

fn set_target(record: &mut Record, target: &Target, port: u16) {
    record.port = Some(port);
    match target {
        Target::Name(name) => record.name = Some(name.clone()),
        Target::Address(address) => record.address = Some(*address),
    }
}
