//! How much a box may move: bytes in all, and bytes per second, of all connections together.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use fumehood_core::egress::{EgressLimits, Reason};
use tokio::time::{Instant, sleep_until};

/// How much may pass at once when nothing has passed for a while.
const BURST: Duration = Duration::from_millis(100);

/// Shared by all connections of a box.
#[derive(Debug)]
pub(crate) struct Meter {
    total: Option<u64>,
    rate: Option<u64>,
    spent: AtomicU64,
    /// When the bytes that were let through will have been paid for.
    paid: Mutex<Instant>,
}

impl Meter {
    pub(crate) fn new(limits: &EgressLimits) -> Meter {
        Meter {
            total: limits.total_bytes,
            rate: limits.bytes_per_second.map(|rate| rate.max(1)),
            spent: AtomicU64::new(0),
            paid: Mutex::new(Instant::now()),
        }
    }

    /// How many bytes to move at once, at most, so that no connection waits long for another.
    pub(crate) fn piece(&self) -> usize {
        let tenth = self.rate.map_or(u64::MAX, |rate| (rate / 10).max(512));
        usize::try_from(tenth).unwrap_or(usize::MAX)
    }

    /// Waits until so many bytes may pass; an error if they never may.
    pub(crate) async fn spend(&self, bytes: usize) -> Result<(), Reason> {
        let bytes = bytes as u64;
        if let Some(total) = self.total
            && self.spent.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) > total
        {
            return Err(Reason::ByteLimit);
        }
        if let Some(rate) = self.rate {
            let until = {
                let mut paid = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
                let earliest = Instant::now().checked_sub(BURST).unwrap_or_else(Instant::now);
                *paid = (*paid).max(earliest) + Duration::from_secs_f64(bytes as f64 / rate as f64);
                *paid
            };
            sleep_until(until).await;
        }
        Ok(())
    }
}
