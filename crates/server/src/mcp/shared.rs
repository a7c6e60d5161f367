//! What all sessions of a server have in common.

use std::{path::PathBuf, sync::Arc, thread};

use fumehood::{BackendChoice, PolicyChoice, Request, Sandbox, policy::PolicyText};
use tokio::sync::Semaphore;

use super::{ToolNames, WorkspaceChoice, kept::Kept, private::Private};

/// How a server behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// How the names of tools are spelt.
    pub names: ToolNames,
    /// Which directory runs have as their workspace.
    pub workspace: WorkspaceChoice,
    /// How many characters of each output stream an answer holds.
    pub output: usize,
    /// The policy of all runs.
    pub policy: PolicyChoice,
    /// What is laid on top of that policy, as far as its ceiling allows.
    pub overrides: Option<PolicyText>,
    /// The backend of all runs.
    pub backend: Option<BackendChoice>,
}

impl Options {
    /// Characters of each output stream, unless said otherwise.
    pub const OUTPUT: usize = 30_000;
}

/// A sandbox, how it is used, and the last outcomes.
#[derive(Debug)]
pub struct Shared {
    pub(super) sandbox: Sandbox,
    pub(super) options: Options,
    pub(super) kept: Kept,
    pub(super) private: Private,
    /// Runs beyond these wait. A machine is not faster for being asked fifty times at once.
    pub(super) turns: Semaphore,
}

impl Shared {
    /// For a server that uses this sandbox.
    pub fn new(sandbox: Sandbox, options: Options) -> Arc<Shared> {
        let cores = thread::available_parallelism().map_or(2, usize::from);
        let turns = Semaphore::new((2 * cores).max(4));
        Arc::new(Shared { sandbox, options, kept: Kept::default(), private: Private::new(), turns })
    }

    /// A request as the options want it.
    pub(super) fn configured(&self, mut request: Request) -> Request {
        request.policy = self.options.policy.clone();
        request.overrides.clone_from(&self.options.overrides);
        request.backend = self.options.backend;
        request
    }

    /// The directory that outlives all sessions, if there is one.
    pub(super) fn directory(&self) -> Option<&PathBuf> {
        match &self.options.workspace {
            WorkspaceChoice::Directory(directory) => Some(directory),
            WorkspaceChoice::Fresh | WorkspaceChoice::Session => None,
        }
    }
}
