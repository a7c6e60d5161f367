//! What an attack is made with: a sandbox, a place for its files, and what it must not have.

use std::{
    any::Any,
    cell::RefCell,
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::{
    BackendName, Error, Helper, Layer, Outcome, Plan, PolicyChoice, Request, Run, Sandbox, TimeSpan,
};

/// Longer than any attack takes.
const PATIENCE: TimeSpan = TimeSpan::from_secs(20);

/// Why nothing can be said about an attack.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    /// The library refused it.
    #[error(transparent)]
    Sandbox(#[from] Error),
    /// Something could not be prepared.
    #[error(
        "{what} could not be prepared ({reason}): check the space and the permissions of the cache directory"
    )]
    Stage {
        /// What.
        what: &'static str,
        /// The system's reason.
        reason: io::Error,
    },
    /// Something that must be there is not.
    #[error("{0}")]
    Missing(&'static str),
    /// A limit of the attack is none.
    #[error("`{name}: {value}` is no limit: correct it in the catalogue")]
    NoLimit {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    },
    /// It took too long.
    #[error("{0} did not happen in time: try again when the machine is less busy")]
    Late(&'static str),
}

/// Says what was being prepared.
pub(super) trait Preparing<T> {
    fn preparing(self, what: &'static str) -> Result<T, Trouble>;
}

impl<T, E: Into<io::Error>> Preparing<T> for Result<T, E> {
    fn preparing(self, what: &'static str) -> Result<T, Trouble> {
        self.map_err(|reason| Trouble::Stage { what, reason: reason.into() })
    }
}

/// The command line program.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) program: PathBuf,
    pub(super) variables: Vec<(&'static str, String)>,
}

/// The surroundings of one attack.
pub(super) struct Stage<'a> {
    pub(super) sandbox: &'a Sandbox,
    pub(super) backend: BackendName,
    pub(super) image: Option<&'a str>,
    /// The command line program, where somebody knows it.
    pub(super) tool: Option<&'a Tool>,
    /// Where runs are recorded that are to be.
    pub(super) ledger: &'a Path,
    /// Layers that are left out.
    pub(super) without: &'a [Layer],
    /// A directory that belongs to this attack alone.
    pub(super) path: PathBuf,
    pub(super) kept: RefCell<Vec<Box<dyn Any>>>,
}

impl Stage<'_> {
    /// A new directory, which everybody may enter.
    pub(super) fn directory(&self, name: &str) -> Result<PathBuf, Trouble> {
        let path = self.path.join(name);
        fs::create_dir_all(&path)
            .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o755)))
            .preparing("a directory")?;
        Ok(path)
    }

    /// A new file, with directories above it.
    pub(super) fn file(&self, name: &str, content: &str) -> Result<PathBuf, Trouble> {
        let path = self.path.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).preparing("a directory")?;
        }
        fs::write(&path, content).preparing("a file")?;
        Ok(path)
    }

    /// Keeps something until the attack is over.
    pub(super) fn keep(&self, thing: impl Any) {
        self.kept.borrow_mut().push(Box::new(thing));
    }

    /// The attack program with these words, the first of which is the row.
    pub(super) fn attack<S: Into<String>>(&self, words: impl IntoIterator<Item = S>) -> Request {
        let mut request = Request::helper(Helper::Attacks, words);
        request.limits.timeout = Some(PATIENCE);
        request
    }

    /// The same request for this backend.
    fn here(&self, mut request: Request) -> Request {
        if self.backend.uses_images() {
            request.image = request.image.or_else(|| self.image.map(str::to_owned));
        }
        request.backend(self.backend)
    }

    /// Runs a request; it is not recorded.
    pub(super) async fn run(&self, request: Request) -> Result<Outcome, Error> {
        self.run_after(request, |_| {}).await
    }

    /// The same; it is recorded.
    pub(super) async fn run_recorded(&self, request: Request) -> Result<Outcome, Error> {
        self.sandbox.run_with(self.here(request), |_| {}).await
    }

    /// The same; something happens between the plan and the box.
    pub(super) async fn run_after(
        &self,
        request: Request,
        meanwhile: impl FnOnce(&Plan),
    ) -> Result<Outcome, Error> {
        let mut request = self.here(request);
        request.unrecorded = true;
        self.sandbox
            .run_with(request, |plan| {
                plan.run.without.extend_from_slice(self.without);
                meanwhile(plan);
            })
            .await
    }

    /// Starts a request, in a box with all its layers.
    pub(super) fn start(&self, request: Request) -> Result<Run, Error> {
        let mut request = self.here(request);
        request.unrecorded = true;
        self.sandbox.start(request)
    }

    /// True in a container.
    pub(super) fn is_engine(&self) -> bool {
        self.backend.uses_images()
    }
}

/// A request under a policy that says this besides its version.
pub(super) fn under(request: Request, policy: &str) -> Request {
    let text = format!("version: 1\n{policy}\n");
    request.policy(PolicyChoice::Text { name: "the policy of the attack".into(), text })
}

/// A request with limits, in the words that people write.
pub(super) fn limited(mut request: Request, words: &[(&str, &str)]) -> Result<Request, Trouble> {
    let limits = &mut request.limits;
    for (name, value) in words {
        let set = match *name {
            "memory" => value.parse().map(|value| limits.memory = Some(value)).is_ok(),
            "cpus" => value.parse().map(|value| limits.cpus = Some(value)).is_ok(),
            "pids" => value.parse().map(|value| limits.pids = Some(value)).is_ok(),
            "timeout" => value.parse().map(|value| limits.timeout = Some(value)).is_ok(),
            "grace" => value.parse().map(|value| limits.grace = Some(value)).is_ok(),
            "output" => value.parse().map(|value| limits.output = Some(value)).is_ok(),
            "disk" => value.parse().map(|value| limits.disk = Some(value)).is_ok(),
            "open_files" => value.parse().map(|value| limits.open_files = Some(value)).is_ok(),
            "file_size" => value.parse().map(|value| limits.file_size = Some(value)).is_ok(),
            _ => false,
        };
        if !set {
            return Err(Trouble::NoLimit { name: (*name).to_owned(), value: (*value).to_owned() });
        }
    }
    Ok(request)
}

/// Waits until something is so, for some seconds at most.
pub(super) async fn until(
    what: &'static str,
    patience: Duration,
    mut is_so: impl FnMut() -> bool,
) -> Result<(), Trouble> {
    let begun = Instant::now();
    while !is_so() {
        if begun.elapsed() > patience {
            return Err(Trouble::Late(what));
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}
