//! The last outcomes, so that what did not fit into an answer can be read later. Bounded in number
//! and in bytes.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use fumehood::Outcome;
use serde_json::Value;

const MOST_OUTCOMES: usize = 32;
const MOST_BYTES: usize = 64 << 20;

/// One outcome.
#[derive(Clone, Debug)]
pub(super) struct KeptOutcome {
    pub(super) id: String,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    /// Everything else, as the answer had it.
    pub(super) summary: Value,
}

impl KeptOutcome {
    pub(super) fn new(outcome: &Outcome, summary: Value) -> KeptOutcome {
        KeptOutcome {
            id: outcome.id.as_str().to_owned(),
            stdout: outcome.stdout.0.clone(),
            stderr: outcome.stderr.0.clone(),
            summary,
        }
    }

    fn bytes(&self) -> usize {
        self.stdout.len() + self.stderr.len()
    }
}

/// The last outcomes, the newest first.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<VecDeque<KeptOutcome>>);

impl Kept {
    pub(super) fn add(&self, outcome: KeptOutcome) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_front(outcome);
        kept.truncate(MOST_OUTCOMES);
        while kept.len() > 1 && kept.iter().map(KeptOutcome::bytes).sum::<usize>() > MOST_BYTES {
            kept.pop_back();
        }
    }

    pub(super) fn find(&self, id: &str) -> Option<KeptOutcome> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|outcome| outcome.id == id).cloned()
    }

    pub(super) fn ids(&self) -> Vec<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().map(|outcome| outcome.id.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(id: usize, bytes: usize) -> KeptOutcome {
        let stdout = vec![b'x'; bytes];
        KeptOutcome { id: id.to_string(), stdout, stderr: vec![], summary: Value::Null }
    }

    #[test]
    fn only_the_last_ones_are_kept() {
        let kept = Kept::default();
        for id in 0..100 {
            kept.add(outcome(id, 1));
        }
        assert_eq!(kept.ids().len(), MOST_OUTCOMES);
        assert!(kept.find("99").is_some() && kept.find("10").is_none());
        kept.add(outcome(100, MOST_BYTES));
        assert_eq!(kept.ids(), ["100"], "the newest stays, whatever its size");
    }
}
