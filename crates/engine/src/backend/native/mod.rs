//! Linux's own isolation: no daemon, no image, no root needed.

mod launcher;
mod setup;

use std::os::unix::net::UnixStream as StdUnixStream;

use tokio::net::UnixStream;

use self::launcher::Launcher;
use super::{Backend, Closing, Deferred, Keeper, OpenBox};
use crate::{BoxPlan, Enforced, Error};

/// The native backend. One launcher process makes all its boxes.
pub(crate) struct Native {
    launcher: Launcher,
}

impl Native {
    /// Starts the launcher, which prepares a first box at once. After that it keeps this many
    /// boxes ready.
    pub(crate) fn start(keep_ready: u8) -> Result<Native, Error> {
        Ok(Native { launcher: Launcher::start(keep_ready)? })
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
    fn open<'a>(&'a self, plan: &'a BoxPlan) -> Deferred<'a, Result<OpenBox, Error>> {
        Box::pin(async move {
            let broken = |error: std::io::Error| Error::Setup {
                step: "control channel".into(),
                reason: error.to_string(),
            };
            let setup = setup::from_plan(plan)?;
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

    fn let_go(self: Box<Self>) {
        launcher::Ticket::let_go(*self);
    }

    fn closed(&mut self) -> Deferred<'_, Closing> {
        Box::pin(launcher::Ticket::closed(self))
    }
}
