//! Linux's own isolation: no daemon, no image, no root needed.

mod launcher;
mod setup;

use std::{
    os::unix::net::UnixStream as StdUnixStream,
    path::Path,
    sync::{Arc, PoisonError, RwLock},
};

use tokio::net::UnixStream;

use self::{launcher::Launcher, setup::SharedBase};
use super::{Backend, Closing, Deferred, Keeper, OpenBox};
use crate::{BoxPlan, Enforced, Error, resolve::BaseRoot};

/// The native backend. One launcher process makes all its boxes.
pub(crate) struct Native {
    launcher: Launcher,
    base: RwLock<Option<Arc<SharedBase>>>,
}

impl Native {
    /// Starts the launcher, which prepares a first box at once. After that it keeps this many
    /// boxes ready.
    pub(crate) fn start(keep_ready: u8) -> Result<Native, Error> {
        Ok(Native { launcher: Launcher::start(keep_ready)?, base: RwLock::new(None) })
    }

    /// Has every box prepared with this root from now on. Without it boxes work the same, a
    /// little later.
    pub(crate) fn prepare(&self, root: BaseRoot) -> Result<(), Error> {
        if self.base().is_some_and(|base| base.root == root) {
            return Ok(());
        }
        let base = SharedBase::new(root)?;
        self.launcher.prepare(base.content.clone())?;
        *self.base.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(base));
        Ok(())
    }

    fn base(&self) -> Option<Arc<SharedBase>> {
        self.base.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends the launcher, which cleans up by itself.
    pub(crate) fn detach(&self) {
        self.launcher.detach();
    }

    /// Ends the launcher and waits until it has cleaned up.
    pub(crate) fn stop(&self) {
        self.launcher.stop();
    }
}

impl Backend for Native {
    fn open<'a>(
        &'a self,
        plan: &'a BoxPlan,
        storage: Option<&'a Path>,
    ) -> Deferred<'a, Result<OpenBox, Error>> {
        Box::pin(async move {
            let broken = |error: std::io::Error| Error::Setup {
                step: "control channel".into(),
                reason: error.to_string(),
            };
            let setup = setup::from_plan(plan, storage, self.base().as_deref())?;
            let (ours, theirs) = StdUnixStream::pair().map_err(broken)?;
            ours.set_nonblocking(true).map_err(broken)?;
            let ticket = self.launcher.open(setup, theirs.into())?;
            Ok(OpenBox {
                channel: UnixStream::from_std(ours).map_err(broken)?,
                keeper: Box::new(ticket),
                enforced: Enforced::default(),
            })
        })
    }
}

impl Keeper for launcher::Ticket {
    fn kill(&self) {
        launcher::Ticket::kill(self);
    }

    fn let_go(self: Box<Self>, last: Option<UnixStream>) {
        if let Some(channel) = last.filter(|_| self.is_of_one_run()) {
            // Its end comes with ours. Any earlier, taking the box down would be in our way.
            std::mem::forget(channel);
        }
        launcher::Ticket::let_go(*self);
    }

    fn closed(&mut self) -> Deferred<'_, Closing> {
        Box::pin(launcher::Ticket::closed(self))
    }
}
