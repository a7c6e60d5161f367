//! Why a box could not be built: the step, and what the kernel said.

use alloc::{format, string::String};

use fumehood_core::protocol::OVERLAY_STEP;
use rustix::io::Errno;

/// A step of building a box that failed. Nothing is run after one.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) step: String,
    pub(crate) errno: i32,
}

impl Failure {
    /// A step of making an overlay, by which the supervisor knows what to advise.
    pub(crate) fn of_overlay(self) -> Failure {
        Failure { step: format!("{OVERLAY_STEP} {}", self.step), errno: self.errno }
    }
}

/// Names the step on the way up.
pub(crate) trait Step<T> {
    fn step(self, step: &str) -> Result<T, Failure>;
    fn step_on(self, step: &str, object: &str) -> Result<T, Failure>;
}

impl<T> Step<T> for Result<T, Errno> {
    fn step(self, step: &str) -> Result<T, Failure> {
        self.map_err(|errno| Failure { step: step.into(), errno: errno.raw_os_error() })
    }

    fn step_on(self, step: &str, object: &str) -> Result<T, Failure> {
        self.map_err(|errno| Failure {
            step: format!("{step} {object}"),
            errno: errno.raw_os_error(),
        })
    }
}
