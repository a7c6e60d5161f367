//! Somewhere a case can be carried out: a backend under a user.

use std::collections::BTreeSet;

use fumehood::{BackendName, Enforced, Layer, Request, Strength};

use crate::{engines, scene};

/// A backend under the user of this process.
#[derive(Clone)]
pub struct Place {
    /// The first part of the names of its tests.
    pub name: &'static str,
    /// The backend.
    pub backend: BackendName,
    /// The image of its boxes, where they have one.
    pub image: Option<String>,
    /// Compilers and clients that the image has.
    pub programs: BTreeSet<String>,
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
        let plain = |backend: BackendName| (backend, None);
        let engines =
            engines::named().into_iter().map(|engine| (engine.backend, Some(engine.image)));
        [plain(BackendName::Native), plain(BackendName::Local)]
            .into_iter()
            .chain(engines)
            .map(|(backend, image)| {
                let name = match (backend, as_root) {
                    (BackendName::Native, true) => "native",
                    (BackendName::Native, false) => "native_as_user",
                    (BackendName::Docker, true) => "docker",
                    (BackendName::Docker, false) => "docker_as_user",
                    (BackendName::Podman, true) => "podman",
                    (BackendName::Podman, false) => "podman_as_user",
                    (BackendName::Local, true) => "local",
                    (BackendName::Local, false) => "local_as_user",
                };
                let isolates = backend != BackendName::Local;
                let programs = BTreeSet::new();
                let mut place =
                    Place { name, backend, image, programs, isolates, as_root, enforced: None };
                let first = scene::attempt(place.request(Request::command(["/bin/true"])));
                place.enforced = first.ok().map(|outcome| outcome.enforced);
                if place.image.is_some() {
                    place.programs = place.found_programs();
                }
                place
            })
            .collect()
    }

    /// Asks a box which compilers and clients there are. None where no box opens: then other cases fail.
    fn found_programs(&self) -> BTreeSet<String> {
        let ask = "for name in gcc g++ go rustc javac curl psql; do command -v $name > /dev/null && echo $name; done; true";
        let request = self.request(Request::command(["/bin/sh", "-c", ask]));
        scene::attempt(request).map_or_else(
            |_| BTreeSet::new(),
            |outcome| outcome.stdout.text().lines().map(str::to_owned).collect(),
        )
    }

    /// What tells the command line where the engine is.
    pub fn variables(&self) -> Option<(&'static str, String)> {
        let engine = engines::named().into_iter().find(|engine| engine.backend == self.backend)?;
        let name = match self.backend {
            BackendName::Podman => "CONTAINER_HOST",
            _ => "DOCKER_HOST",
        };
        Some((name, engine.host))
    }

    /// A request, to be carried out here.
    pub fn request(&self, mut request: Request) -> Request {
        request.image.clone_from(&self.image);
        request.backend(self.backend)
    }

    /// True if the kernel holds this layer here, as the first box reported it. Assumed where there
    /// was no box, so that nothing disappears from the list because everything is broken.
    pub fn enforces(&self, layer: Layer) -> bool {
        self.enforced.as_ref().is_none_or(|all| all.strength(layer) == Strength::Full)
    }
}
