//! One run from its call to its answer: it waits for its turn, is started, shown and ended.

use std::sync::Arc;

use fumehood::{Event, Outcome, Request, Run, StdinWriter};
use serde::Serialize;
use tokio::sync::mpsc;

use super::{
    fault::Fault,
    message::Id,
    output::Output,
    runs::{Ears, Order, Piece},
    server::Shared,
};

/// A run that was asked for.
pub(super) struct Job {
    pub(super) id: Id,
    pub(super) request: Request,
    /// Whether events are told.
    pub(super) stream: bool,
    pub(super) ears: Ears,
}

/// Carries it out and gives the answer.
pub(super) async fn carry_out(
    job: Job,
    shared: Arc<Shared>,
    output: &Output,
) -> Result<Box<Outcome>, Fault> {
    let Job { id, request, stream, ears } = job;
    let Ears { mut orders, input } = ears;
    let turn = tokio::select! {
        biased;
        order = orders.recv() => return Err(ended_early(order)),
        turn = shared.room.acquire() => turn,
    };
    // Only a server that has ended closes the semaphore.
    let _turn = turn.map_err(|_| Fault::Closing)?;
    let started = start(Arc::clone(&shared), request);
    let mut run = tokio::select! {
        biased;
        order = orders.recv() => return Err(ended_early(order)),
        run = started => run?,
    };
    let canceller = run.canceller();
    let writer = run.stdin();
    let showing = show(run, stream.then_some((&id, output)));
    let obeying = async {
        while let Some(order) = orders.recv().await {
            match order {
                Order::Kill => canceller.kill(),
                Order::Signal(signal) => canceller.signal(signal),
                // The run is dropped, and its box ends.
                Order::Fail(fault) => return fault,
            }
        }
        std::future::pending().await
    };
    tokio::select! {
        outcome = showing => outcome,
        fault = obeying => Err(fault),
        never = feed(input, writer) => match never {},
    }
}

/// Resolves and starts. Searching a large workspace takes a while, so it has a thread of its own.
async fn start(shared: Arc<Shared>, mut request: Request) -> Result<Run, Fault> {
    let started = tokio::task::spawn_blocking(move || {
        shared.configured(&mut request);
        Ok(shared.sandbox.start(request)?)
    });
    started.await.unwrap_or_else(|gone| Err(Fault::refused("failed", &gone)))
}

/// What a call gets whose run was ended before there was a box.
fn ended_early(order: Option<Order>) -> Fault {
    match order {
        Some(Order::Fail(fault)) => fault,
        _ => Fault::Refused {
            kind: "cancelled",
            message: "the run was cancelled before it began: nothing was run".to_owned(),
        },
    }
}

/// Follows the run to its end. Owns it: dropped, it ends the box.
async fn show(mut run: Run, to: Option<(&Id, &Output)>) -> Result<Box<Outcome>, Fault> {
    #[derive(Serialize)]
    struct Told<'a> {
        id: &'a Id,
        event: Event,
    }
    loop {
        match run.next_event().await {
            // The answer says the same.
            Some(Event::Finished { outcome }) => return Ok(outcome),
            Some(event) => {
                if let Some((id, output)) = to {
                    output.notify("event", &Told { id, event }).await;
                }
            }
            // Nothing was carried out; the run says why.
            None => return Ok(Box::new(run.outcome().await?)),
        }
    }
}

/// Passes live input on, then closes it. The end of the input is not the end of the run.
async fn feed(
    mut pieces: mpsc::UnboundedReceiver<Piece>,
    writer: Option<StdinWriter>,
) -> std::convert::Infallible {
    if let Some(mut writer) = writer {
        while let Some(piece) = pieces.recv().await {
            if !writer.write(&piece.bytes).await {
                break;
            }
            let _ = piece.taken.send(());
        }
    }
    drop(pieces);
    std::future::pending().await
}
