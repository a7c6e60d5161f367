//! A run under way, seen from the caller, and the ends of the same channels seen from the run.

use tokio::{sync::mpsc, task::JoinHandle};

use crate::{Error, Event, Outcome, StdinSource};

/// A run under way. Dropping it ends the box.
#[derive(Debug)]
pub struct Run {
    events: mpsc::Receiver<Event>,
    orders: mpsc::UnboundedSender<Order>,
    stdin: Option<StdinWriter>,
    task: Option<JoinHandle<Result<Outcome, Error>>>,
}

impl Run {
    pub(super) fn new(
        events: mpsc::Receiver<Event>,
        orders: mpsc::UnboundedSender<Order>,
        stdin: Option<StdinWriter>,
        task: JoinHandle<Result<Outcome, Error>>,
    ) -> Run {
        Run { events, orders, stdin, task: Some(task) }
    }

    /// The next thing that happens; `None` after [`Event::Finished`], and when the run could not
    /// be carried out: then [`Run::outcome`] says why.
    pub async fn next_event(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// The writer of the program's standard input; present once, if the request asked for live input.
    pub fn stdin(&mut self) -> Option<StdinWriter> {
        self.stdin.take()
    }

    /// A handle that ends this run from elsewhere.
    pub fn canceller(&self) -> Canceller {
        Canceller { orders: self.orders.clone() }
    }

    /// Waits for the end, leaving out the events that were not asked for.
    pub async fn outcome(mut self) -> Result<Outcome, Error> {
        self.stdin = None;
        while self.events.recv().await.is_some() {}
        match self.task.take() {
            Some(task) => task.await.unwrap_or_else(|error| {
                Err(Error::Setup { step: "the run".into(), reason: error.to_string() })
            }),
            None => Err(Error::Setup { step: "the run".into(), reason: "it was dropped".into() }),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // The task notices that nobody listens any more, ends the box and cleans up.
        let _ = self.orders.send(Order::Kill);
    }
}

/// Feeds a program's standard input. Dropping it closes the input.
#[derive(Debug)]
pub struct StdinWriter {
    pieces: mpsc::Sender<Vec<u8>>,
}

impl StdinWriter {
    /// Sends bytes; waits while the program does not read. False once the program is gone.
    pub async fn write(&mut self, bytes: &[u8]) -> bool {
        self.pieces.send(bytes.to_vec()).await.is_ok()
    }
}

/// Ends a run from elsewhere: another task, a signal handler.
#[derive(Clone, Debug)]
pub struct Canceller {
    orders: mpsc::UnboundedSender<Order>,
}

impl Canceller {
    /// Passes a signal (2 for interrupt, 15 for terminate) to the program, and ends the box after
    /// the grace period if it is still there.
    pub fn signal(&self, signal: i32) {
        let _ = self.orders.send(Order::Signal(signal));
    }

    /// Ends the box at once.
    pub fn kill(&self) {
        let _ = self.orders.send(Order::Kill);
    }
}

/// What a caller wants of a run under way.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order {
    Signal(i32),
    Kill,
}

/// Where standard input comes from, as far as it was not sent yet.
pub(super) enum Stdin {
    Piece { bytes: Vec<u8>, sent: usize, then: Option<mpsc::Receiver<Vec<u8>>> },
    Live(mpsc::Receiver<Vec<u8>>),
    End,
}

impl Stdin {
    /// The run's end, and the caller's end if the input is live.
    pub(super) fn from_source(source: StdinSource) -> (Stdin, Option<StdinWriter>) {
        match source {
            StdinSource::Empty => (Stdin::End, None),
            StdinSource::Bytes(bytes) => (Stdin::Piece { bytes, sent: 0, then: None }, None),
            StdinSource::Live => {
                let (pieces, receiver) = mpsc::channel(4);
                (Stdin::Live(receiver), Some(StdinWriter { pieces }))
            }
        }
    }
}

/// The run's ends of all channels to the caller.
pub(super) struct Io {
    pub(super) events: Option<mpsc::Sender<Event>>,
    pub(super) orders: mpsc::UnboundedReceiver<Order>,
    pub(super) stdin: Stdin,
}

impl Io {
    pub(super) fn new(
        events: Option<mpsc::Sender<Event>>,
        orders: mpsc::UnboundedReceiver<Order>,
        stdin: Stdin,
    ) -> Io {
        Io { events, orders, stdin }
    }

    /// Tells the caller, waiting for room.
    pub(super) async fn tell(&self, event: Event) {
        if let Some(events) = &self.events {
            let _ = events.send(event).await;
        }
    }
}
