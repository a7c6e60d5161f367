//! The runs under way, by the id of their call, and what can be sent to them from outside.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::sync::{mpsc, oneshot};

use super::{fault::Fault, message::Id};

/// The most bytes of live input that wait for a program that does not read.
const MOST_WAITING: usize = 64 << 20;

/// What the client wants of a run.
#[derive(Debug)]
pub(super) enum Order {
    /// End the box at once.
    Kill,
    /// Pass a signal on, and end the box after the grace period.
    Signal(i32),
    /// End the box, and answer with this.
    Fail(Fault),
}

/// A piece of live input.
pub(super) struct Piece {
    pub(super) bytes: Vec<u8>,
    /// Told once the program's side has taken it.
    pub(super) taken: oneshot::Sender<()>,
    /// Gives the room back.
    _room: Room,
}

/// A part of the room for waiting input.
struct Room {
    waiting: Arc<AtomicUsize>,
    length: usize,
}

impl Drop for Room {
    fn drop(&mut self) {
        self.waiting.fetch_sub(self.length, Ordering::Relaxed);
    }
}

/// A run seen from outside.
struct Handle {
    orders: mpsc::UnboundedSender<Order>,
    /// Present as long as the input is open.
    input: Option<mpsc::UnboundedSender<Piece>>,
    waiting: Arc<AtomicUsize>,
}

/// What a run listens to.
pub(super) struct Ears {
    pub(super) orders: mpsc::UnboundedReceiver<Order>,
    pub(super) input: mpsc::UnboundedReceiver<Piece>,
}

/// All runs that have no answer yet.
#[derive(Default)]
pub(super) struct Runs {
    table: Mutex<HashMap<Id, Handle>>,
}

impl Runs {
    fn table(&self) -> MutexGuard<'_, HashMap<Id, Handle>> {
        // Nothing panics while it holds the lock; should it, the table is whole all the same.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a run in, under an id that no other run has.
    pub(super) fn enter(&self, id: &Id, live: bool) -> Result<Ears, Fault> {
        let mut table = self.table();
        if table.contains_key(id) {
            return Err(Fault::IdInUse);
        }
        let (orders, order_receiver) = mpsc::unbounded_channel();
        let (input, input_receiver) = mpsc::unbounded_channel();
        let waiting = Arc::default();
        table.insert(id.clone(), Handle { orders, input: live.then_some(input), waiting });
        Ok(Ears { orders: order_receiver, input: input_receiver })
    }

    /// Lets a run go, before its answer is sent: the id is free again.
    pub(super) fn leave(&self, id: &Id) {
        self.table().remove(id);
    }

    /// Sends an order. False if there is no such run.
    pub(super) fn order(&self, id: &Id, order: Order) -> bool {
        self.table().get(id).is_some_and(|handle| handle.orders.send(order).is_ok())
    }

    /// Sends input, and closes it if that was the last. The receiver is told when it was taken.
    pub(super) fn feed(
        &self,
        id: &Id,
        bytes: Vec<u8>,
        end: bool,
    ) -> Result<oneshot::Receiver<()>, Fault> {
        let mut table = self.table();
        let handle = table.get_mut(id);
        let handle = handle.ok_or_else(|| refused("no_such_run", NO_SUCH_RUN))?;
        let input = handle.input.as_ref().ok_or_else(|| refused("stdin", NOT_LIVE))?;
        let length = bytes.len();
        let before = handle.waiting.fetch_add(length, Ordering::Relaxed);
        let _room = Room { waiting: Arc::clone(&handle.waiting), length };
        if before + length > MOST_WAITING {
            let fault = refused("stdin", OVERFLOW);
            let _ = handle.orders.send(Order::Fail(fault.clone()));
            return Err(fault);
        }
        let (taken, receiver) = oneshot::channel();
        // A run that has ended takes nothing, and its receiver says so.
        let _ = input.send(Piece { bytes, taken, _room });
        if end {
            handle.input = None;
        }
        Ok(receiver)
    }
}

const NO_SUCH_RUN: &str = "no run with this id is under way: it has ended, or never began";
const NOT_LIVE: &str = "the input of this run is not open: ask for it with \"stdin\": {\"live\": true}, and send \
     nothing after `end`";
const OVERFLOW: &str = "more than 64 MiB of input wait for a program that does not read, so it was ended: send \
     `stdin` as a call and wait for its answer before you send more";

fn refused(kind: &'static str, sentence: &str) -> Fault {
    Fault::Refused { kind, message: sentence.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id() -> Id {
        Id::Text("a".into())
    }

    #[test]
    fn an_id_is_used_once_at_a_time() {
        let runs = Runs::default();
        let _ears = runs.enter(&id(), false).unwrap();
        assert_eq!(runs.enter(&id(), false).err(), Some(Fault::IdInUse));
        assert!(runs.order(&id(), Order::Kill));
        runs.leave(&id());
        assert!(!runs.order(&id(), Order::Kill));
        assert!(runs.enter(&id(), false).is_ok());
    }

    #[test]
    fn input_that_nobody_takes_ends_the_run() {
        let runs = Runs::default();
        let mut ears = runs.enter(&id(), true).unwrap();
        let half = vec![0; MOST_WAITING / 2 + 1];
        assert!(runs.feed(&id(), half.clone(), false).is_ok());
        assert!(runs.feed(&id(), half.clone(), false).is_err());
        assert!(matches!(ears.orders.try_recv(), Ok(Order::Fail(_))));
        // What is taken makes room.
        drop(ears.input.try_recv().unwrap());
        assert!(runs.feed(&id(), half, true).is_ok());
        assert!(runs.feed(&id(), Vec::new(), false).is_err(), "it was closed");
    }
}
