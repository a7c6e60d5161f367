//! A box whose init says whatever it is told to say: how the supervisor takes a guest that lies.

use std::time::Instant;

use tokio::{io::AsyncWriteExt as _, net::UnixStream, sync::mpsc};

use super::{
    drive::{Task, drive},
    handle::{Io, Order, Stdin},
};
use crate::{
    BoxPlan, Enforced, Error, Phase,
    backend::{Closing, Deferred, Keeper, OpenBox},
};

/// Drives a box that says these bytes and then nothing more. True if it is believed to have run
/// its program to the end.
pub(crate) async fn with_guest(plan: &BoxPlan, words: Vec<u8>) -> Result<bool, Error> {
    let (channel, mut guest) = UnixStream::pair().map_err(|error| Error::Setup {
        step: "the channel of a guest".into(),
        reason: error.to_string(),
    })?;
    let open = OpenBox { channel, keeper: Box::new(Nobody), enforced: Enforced::default() };
    let (_orders, receiver) = mpsc::unbounded_channel::<Order>();
    let mut io = Io::new(None, receiver, Stdin::End);
    let task = Task { plan, phase: Phase::Run, wanted: &[], begun: Instant::now(), lending: None };
    let speak = async move {
        // A guest that is no longer heard has nothing more to say.
        let _ = guest.write_all(&words).await;
        drop(guest);
    };
    let (seen, ()) = tokio::join!(drive(open, task, &mut io, || {}), speak);
    Ok(seen.cut.is_none() && seen.ending.is_some())
}

/// There is no process behind such a box.
struct Nobody;

impl Keeper for Nobody {
    fn kill(&self) {}

    fn let_go(self: Box<Self>, last: Option<UnixStream>) {
        drop(last);
    }

    fn closed(&mut self) -> Deferred<'_, Closing> {
        Box::pin(async { Closing::default() })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;
    use crate::{Command, Identity, Limits};

    #[tokio::test]
    async fn an_order_is_heard_even_if_nobody_will_give_another() {
        let command = Command { argv: vec!["true".into()], env: [].into(), cwd: "/".into() };
        let plan = BoxPlan::new(command, Identity { uid: 1, gid: 1 }, Limits::default());
        let (channel, _silent) = UnixStream::pair().unwrap();
        let (sender, receiver) = mpsc::unbounded_channel();
        sender.send(Order::Kill).unwrap();
        // As a run does that is dropped while the box keeps us busy.
        drop(sender);
        let open = OpenBox { channel, keeper: Box::new(Nobody), enforced: Enforced::default() };
        let mut io = Io::new(None, receiver, Stdin::End);
        let begun = Instant::now();
        let task = Task { plan: &plan, phase: Phase::Run, wanted: &[], begun, lending: None };
        let driven = timeout(Duration::from_secs(20), drive(open, task, &mut io, || {})).await;
        assert!(driven.expect("the box is ended").cut.is_some());
    }
}
