//! Somewhere a case can be carried out: a backend under a user.

use fumehood::{BackendName, Enforced, Layer, Request, Strength};

use crate::scene;

/// A backend under the user of this process.
#[derive(Clone)]
pub struct Place {
    /// The first part of the names of its tests.
    pub name: &'static str,
    /// The backend.
    pub backend: BackendName,
    /// Programs are kept away from the machine.
    pub isolates: bool,
    /// This process is root's.
    pub as_root: bool,
    /// What a first box said of itself; absent where none could be opened.
    enforced: Option<Enforced>,
}

impl Place {
    /// Every place that this user can try. A backend that should work and does not is still a
    /// place: its cases fail.
    pub fn all() -> Vec<Place> {
        let as_root = rustix::process::geteuid().is_root();
        BackendName::ALL
            .iter()
            .map(|backend| {
                let (name, isolates) = match (backend, as_root) {
                    (BackendName::Native, true) => ("native", true),
                    (BackendName::Native, false) => ("native_as_user", true),
                    (BackendName::Local, true) => ("local", false),
                    (BackendName::Local, false) => ("local_as_user", false),
                };
                let first = Request::command(["/bin/true"]).backend(*backend);
                let enforced = scene::attempt(first).ok().map(|outcome| outcome.enforced);
                Place { name, backend: *backend, isolates, as_root, enforced }
            })
            .collect()
    }

    /// True if the kernel holds this layer here, as the first box reported it. Assumed where there
    /// was no box, so that nothing disappears from the list because everything is broken.
    pub fn enforces(&self, layer: Layer) -> bool {
        self.enforced.as_ref().is_none_or(|all| all.strength(layer) == Strength::Full)
    }
}
