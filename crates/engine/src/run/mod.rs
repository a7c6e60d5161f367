//! Carrying out a plan: phases in order, each in a box of its own.

mod drive;
mod flow;
mod handle;
mod record;
pub(crate) mod store;
mod verdict;

use std::sync::Arc;

use tokio::sync::mpsc;

pub use self::handle::{Canceller, Run, StdinWriter};
pub(crate) use self::record::Records;
use self::{
    flow::Flow,
    handle::{Io, Order},
};
use crate::{Error, Outcome, Plan, Request, StdinSource, policy::Policy, sandbox::Inner};

/// How many events may wait for a caller that does not take them.
const EVENTS_WAITING: usize = 64;

/// Carries out a plan without telling anyone in between.
pub(crate) async fn to_end(
    inner: &Inner,
    plan: Plan,
    policy: Option<Policy>,
    request: Request,
) -> Result<Outcome, Error> {
    let (stdin, request) = taken_apart(inner, request);
    let (_orders, receiver) = mpsc::unbounded_channel::<Order>();
    let io = Io::new(None, receiver, handle::Stdin::from_source(stdin).0);
    Flow::new(inner, plan, policy, io, request)?.carry_out().await
}

/// What the run needs of the request, and what the ledger does.
fn taken_apart(inner: &Inner, mut request: Request) -> (StdinSource, Option<Request>) {
    match inner.records.get() {
        Some(_) => (request.stdin.clone(), Some(request)),
        None => (std::mem::take(&mut request.stdin), None),
    }
}

/// Carries out a plan in a task of its own.
pub(crate) fn start(inner: Arc<Inner>, plan: Plan, policy: Policy, request: Request) -> Run {
    let (stdin, request) = taken_apart(&inner, request);
    let (orders, order_receiver) = mpsc::unbounded_channel();
    let (events, event_receiver) = mpsc::channel(EVENTS_WAITING);
    let (stdin, writer) = handle::Stdin::from_source(stdin);
    let io = Io::new(Some(events), order_receiver, stdin);
    let task = tokio::spawn(async move {
        Flow::new(&inner, plan, Some(policy), io, request)?.carry_out().await
    });
    Run::new(event_receiver, orders, writer, task)
}
