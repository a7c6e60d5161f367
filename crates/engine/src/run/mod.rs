//! Carrying out a plan: phases in order, each in a box of its own.

mod drive;
mod flow;
mod handle;
pub(crate) mod store;
mod verdict;

use std::sync::Arc;

use tokio::sync::mpsc;

pub use self::handle::{Canceller, Run, StdinWriter};
use self::{
    flow::Flow,
    handle::{Io, Order},
};
use crate::{Error, Outcome, Plan, StdinSource, sandbox::Inner};

/// How many events may wait for a caller that does not take them.
const EVENTS_WAITING: usize = 64;

/// Carries out a plan without telling anyone in between.
pub(crate) async fn to_end(
    inner: &Inner,
    plan: Plan,
    stdin: StdinSource,
) -> Result<Outcome, Error> {
    let (_orders, receiver) = mpsc::unbounded_channel::<Order>();
    let io = Io::new(None, receiver, handle::Stdin::from_source(stdin).0);
    Flow::new(inner, plan, io).carry_out().await
}

/// Carries out a plan in a task of its own.
pub(crate) fn start(inner: Arc<Inner>, plan: Plan, stdin: StdinSource) -> Run {
    let (orders, order_receiver) = mpsc::unbounded_channel();
    let (events, event_receiver) = mpsc::channel(EVENTS_WAITING);
    let (stdin, writer) = handle::Stdin::from_source(stdin);
    let io = Io::new(Some(events), order_receiver, stdin);
    let task = tokio::spawn(async move { Flow::new(&inner, plan, io).carry_out().await });
    Run::new(event_receiver, orders, writer, task)
}
