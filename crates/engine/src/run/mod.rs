//! Carrying out a request: the phases of its plan in order, each in a box of its own.

mod drive;
mod egress;
mod flow;
mod guest;
mod handle;
mod record;
pub(crate) mod store;
mod verdict;

use std::sync::Arc;

use tokio::sync::mpsc;

pub use self::handle::{Canceller, Run, StdinWriter};
pub(crate) use self::{egress::Outside, record::Records};
use self::{
    flow::Flow,
    handle::{Io, Order},
};
use crate::{
    Error, Event, Outcome, Request, StdinSource,
    sandbox::Inner,
    select::{Attempt, Attempts},
};

pub(crate) use self::guest::with_guest;

/// How many events may wait for a caller that does not take them.
const EVENTS_WAITING: usize = 64;

/// Carries out a request without telling anyone in between.
pub(crate) async fn to_end(
    inner: &Inner,
    attempt: Attempt,
    attempts: Attempts,
    mut request: Request,
) -> Result<Outcome, Error> {
    let stdin = stdin_of(inner, &mut request);
    let (_orders, receiver) = mpsc::unbounded_channel::<Order>();
    let io = Io::new(None, receiver, handle::Stdin::from_source(stdin).0);
    carry_out(inner, attempt, attempts, io, request).await
}

/// The input of the program. The ledger names it too, where there is one.
fn stdin_of(inner: &Inner, request: &mut Request) -> StdinSource {
    match inner.records.get() {
        Some(_) => request.stdin.clone(),
        None => std::mem::take(&mut request.stdin),
    }
}

/// Carries out a request in a task of its own.
pub(crate) fn start(
    inner: Arc<Inner>,
    attempt: Attempt,
    attempts: Attempts,
    mut request: Request,
) -> Run {
    let stdin = stdin_of(&inner, &mut request);
    let (orders, order_receiver) = mpsc::unbounded_channel();
    let (events, event_receiver) = mpsc::channel(EVENTS_WAITING);
    let (stdin, writer) = handle::Stdin::from_source(stdin);
    let io = Io::new(Some(events), order_receiver, stdin);
    let task = tokio::spawn(async move { carry_out(&inner, attempt, attempts, io, request).await });
    Run::new(event_receiver, orders, writer, task)
}

/// Carries out a plan, or that of the next backend where the first turns out to be unable.
async fn carry_out(
    inner: &Inner,
    mut attempt: Attempt,
    mut attempts: Attempts,
    mut io: Io,
    request: Request,
) -> Result<Outcome, Error> {
    let id = flow::new_id();
    io.tell(Event::Started { id: id.clone() }).await;
    loop {
        let backend = attempt.selection.backend;
        let flow = Flow::new(inner, attempt, &mut io, &id, &request)?;
        match flow.carry_out().await {
            Ok(outcome) => {
                if io.events.is_some() {
                    io.tell(Event::Finished { outcome: Box::new(outcome.clone()) }).await;
                }
                return Ok(outcome);
            }
            Err(error) => attempts.pass_over(backend, error)?,
        }
        attempt = attempts.next(inner, &request)?;
    }
}
