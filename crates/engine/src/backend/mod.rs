//! What differs between ways to isolate: how a box is opened. Everything after that is the same.

mod common;
mod embedded;
mod engine;
mod etc;
mod local;
#[cfg(target_os = "linux")]
mod native;

use std::{future::Future, path::Path, pin::Pin};

use tokio::net::UnixStream;

use crate::{BoxPlan, Enforced, Error};

pub(crate) use embedded::helper_program;
pub(crate) use engine::Engine;
pub use engine::{EngineDefaults, EngineProblem};
pub(crate) use local::Local;
#[cfg(target_os = "linux")]
pub(crate) use native::Native;

/// A future that can be kept in a box, for traits used as objects.
pub(crate) type Deferred<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Something that opens boxes.
pub(crate) trait Backend: Send + Sync {
    /// Opens a box. Its init is building or ready; what it says arrives on the channel.
    ///
    /// The storage takes what the program changes in an overlay; it is there if and only if the
    /// plan has one.
    fn open<'a>(
        &'a self,
        plan: &'a BoxPlan,
        storage: Option<&'a Path>,
    ) -> Deferred<'a, Result<OpenBox, Error>>;

    /// What names the content of a box's root where the plan names only a place that can change,
    /// such as the tag of an image.
    fn content<'a>(&'a self, _plan: &'a BoxPlan) -> Deferred<'a, Result<Option<String>, Error>> {
        Box::pin(async { Ok(None) })
    }
}

/// A box that was opened.
pub(crate) struct OpenBox {
    /// The control channel to its init.
    pub(crate) channel: UnixStream,
    /// What keeps the box; dropping it ends the box.
    pub(crate) keeper: Box<dyn Keeper>,
    /// What the backend applies from outside, besides what init reports.
    pub(crate) enforced: Enforced,
}

/// What a backend knows about one of its boxes.
pub(crate) trait Keeper: Send {
    /// Ends every process of the box at once, even if init does not answer.
    fn kill(&self);

    /// Leaves the rest to the backend: init is about to exit by itself. What was made for the box
    /// is gone soon after, and at the latest when the sandbox is closed. The channel is given
    /// where this was the last box of a run.
    fn let_go(self: Box<Self>, last: Option<UnixStream>);

    /// Waits until the box and everything that was made for it is gone.
    fn closed(&mut self) -> Deferred<'_, Closing>;
}

/// How a box went.
#[derive(Clone, Debug, Default)]
pub(crate) struct Closing {
    /// Why it could not be opened, if so.
    pub(crate) failure: Option<(String, i32)>,
    /// Why it ended before its program told how, where the backend knows.
    pub(crate) reason: Option<String>,
    /// What was counted from outside.
    pub(crate) usage: fumehood_core::protocol::BoxUsage,
}
