//! What a case works with: the sandbox, a directory of its own, and the place it is at.
//!
//! One sandbox serves all cases of a process, as it would in a server.

use std::{
    any::Any,
    collections::HashMap,
    fs::{self, OpenOptions},
    net::{IpAddr, Ipv4Addr},
    os::{fd::OwnedFd, unix::fs::PermissionsExt as _},
    path::{Path, PathBuf},
    sync::{Arc, LazyLock, Mutex, PoisonError},
    time::Duration,
};

use fumehood::{
    BackendName, Check, Error, Layer, Outcome, Overlays, Request, Resolve, Resolving, Run, Sandbox,
    TableResolver,
    verify::{self, Finding, Row, Verification},
};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::{Place, engines, proof};

/// Longer than any case takes; a case that hangs fails instead.
const PATIENCE: Duration = Duration::from_secs(240);

/// The address of `near.test`.
pub const NEAR: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
/// The address of `far.test`.
pub const FAR: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 3));

/// Names that look as if they were services to beware of, and lead to [`NEAR`] here.
pub const SENSITIVE: [&str; 2] = ["api.openai.com", "metadata.google.internal"];

/// Every name that there is for boxes, and what was asked for. No name server is ever asked.
struct Names {
    table: TableResolver,
    asked: Mutex<Vec<String>>,
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(name.to_owned());
        self.table.resolve(name)
    }
}

static NAMES: LazyLock<Arc<Names>> =
    LazyLock::new(|| Arc::new(Names { table: names(), asked: Mutex::default() }));

/// Those of the attacks, and some more.
fn names() -> TableResolver {
    let near = ["allowed.test", "db.test", "registry.test"];
    let names = near.iter().chain(&SENSITIVE);
    names.fold(verify::names(), |table, name| table.with(name, &[NEAR]))
}

/// The sandbox and what it needs. Its cache is its own, so that nothing is found compiled.
struct House {
    sandbox: Sandbox,
    runtime: Runtime,
    directory: TempDir,
    /// Open in this process without close-on-exec. No program may ever see it.
    _stray: OwnedFd,
    /// Sandboxes whose gates do not look at some things.
    lenient: Mutex<HashMap<Vec<Check>, Sandbox>>,
}

static HOUSE: LazyLock<House> = LazyLock::new(|| {
    let directory = tempfile::Builder::new()
        .prefix("fumehood-tests-")
        .tempdir()
        .expect("a directory for the tests");
    // Boxes run under users of their own, who must get through to what is mounted.
    open_to_all(directory.path());
    let stray = stray_descriptor(directory.path());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let _inside = runtime.enter();
    let sandbox = sandbox(directory.path(), &[]);
    House { sandbox, runtime, directory, _stray: stray, lenient: Mutex::default() }
});

/// A sandbox whose gates do not look at some things.
fn sandbox(directory: &Path, gate_without: &[Check]) -> Sandbox {
    let mut builder = Sandbox::builder()
        .cache_dir(directory.join("cache"))
        .state_dir(directory.join("state"))
        .resolver(NAMES.clone())
        .gate_without(gate_without);
    for engine in engines::named() {
        builder = match engine.backend {
            BackendName::Podman => builder.podman_host(engine.host),
            _ => builder.docker_host(engine.host),
        };
    }
    builder.build().expect("a sandbox")
}

fn stray_descriptor(directory: &Path) -> OwnedFd {
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(directory.join("stray"))
        .expect("a file for the stray descriptor");
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).expect("clearing close-on-exec");
    file.into()
}

fn open_to_all(directory: &Path) {
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).expect("permissions");
}

/// Removes what all cases together left behind. The sandbox itself ends with the process.
pub(crate) fn clean_up() {
    let _ = fs::remove_dir_all(HOUSE.directory.path());
    proof::clean_up();
}

/// Runs a request to its end, or panics when it does not come to one.
pub(crate) fn attempt(request: Request) -> Result<Outcome, Error> {
    HOUSE.runtime.block_on(async {
        let ended = tokio::time::timeout(PATIENCE, HOUSE.sandbox.run(request)).await;
        ended.expect("the run comes to an end")
    })
}

/// The surroundings of one case at one place.
pub struct Scene {
    /// Where it is carried out.
    pub place: Place,
    directory: TempDir,
    kept: Mutex<Vec<Box<dyn Any + Send>>>,
    last: Mutex<Option<Outcome>>,
}

impl Scene {
    pub(crate) fn new(place: Place) -> Scene {
        let directory = tempfile::tempdir_in(HOUSE.directory.path()).expect("a directory");
        open_to_all(directory.path());
        Scene { place, directory, kept: Mutex::default(), last: Mutex::default() }
    }

    /// A directory that belongs to this case alone.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A new directory in it.
    pub fn directory(&self, name: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(&path).expect("a directory");
        path
    }

    /// A new file in it.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, content).expect("a file");
        path
    }

    /// Keeps something until the case is over.
    pub fn keep(&self, thing: impl Any + Send) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(thing));
    }

    /// The sandbox of this process.
    pub fn sandbox(&self) -> &'static Sandbox {
        &HOUSE.sandbox
    }

    /// Makes an attack of the catalogue here, and its twin.
    pub fn attack(&self, row: &'static Row) -> Finding {
        self.with_verification(async |verification| verification.one(row, true).await)
    }

    /// Does something with the attacks on the boxes of this place.
    pub fn with_verification<T>(&self, what: impl AsyncFnOnce(&Verification) -> T) -> T {
        let verification = {
            let _inside = HOUSE.runtime.enter();
            proof::verification(&self.place)
        };
        self.block_on(what(&verification.0))
    }

    /// The overlays of the sandbox.
    pub fn overlays(&self) -> Overlays {
        let state = HOUSE.directory.path().join("state");
        Overlays::new(Some(&state)).expect("a place for overlays")
    }

    /// Runs a request here.
    #[track_caller]
    pub fn run(&self, request: Request) -> Outcome {
        match self.try_run(request) {
            Ok(outcome) => outcome,
            Err(error) => panic!("no outcome: {error}"),
        }
    }

    /// Runs a request here that may be refused.
    pub fn try_run(&self, request: Request) -> Result<Outcome, Error> {
        let result = attempt(self.place.request(request));
        if let Ok(outcome) = &result {
            self.remember(outcome);
        }
        result
    }

    /// Runs a request in a box that lacks some layers.
    #[track_caller]
    pub fn run_without(&self, request: Request, layers: &[Layer]) -> Outcome {
        match self.try_run_without(request, layers) {
            Ok(outcome) => outcome,
            Err(error) => panic!("no outcome: {error}"),
        }
    }

    /// The same for a request that may be refused.
    pub fn try_run_without(&self, request: Request, layers: &[Layer]) -> Result<Outcome, Error> {
        let request = self.place.request(request);
        let result = self.block_on(HOUSE.sandbox.run_without(request, layers));
        if let Ok(outcome) = &result {
            self.remember(outcome);
        }
        result
    }

    /// Runs a request here whose gate does not look at some things.
    #[track_caller]
    pub fn run_unchecked(&self, request: Request, checks: &[Check]) -> Outcome {
        let sandbox = {
            let mut lenient = HOUSE.lenient.lock().unwrap_or_else(PoisonError::into_inner);
            let _inside = HOUSE.runtime.enter();
            let make = || sandbox(HOUSE.directory.path(), checks);
            lenient.entry(checks.to_vec()).or_insert_with(make).clone()
        };
        match self.block_on(sandbox.run(self.place.request(request))) {
            Ok(outcome) => {
                self.remember(&outcome);
                outcome
            }
            Err(error) => panic!("no outcome: {error}"),
        }
    }

    /// The names that gates have looked up outside, of all cases so far.
    pub fn asked(&self) -> Vec<String> {
        NAMES.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Starts a request here.
    #[track_caller]
    pub fn start(&self, request: Request) -> Run {
        let _inside = HOUSE.runtime.enter();
        match HOUSE.sandbox.start(self.place.request(request)) {
            Ok(run) => run,
            Err(error) => panic!("not started: {error}"),
        }
    }

    /// Waits for something that takes time.
    pub fn block_on<T>(&self, what: impl Future<Output = T>) -> T {
        HOUSE.runtime.block_on(async {
            tokio::time::timeout(PATIENCE, what).await.expect("it comes to an end")
        })
    }

    fn remember(&self, outcome: &Outcome) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome.clone());
    }

    /// The last outcome as text, for whoever has to find out what went wrong.
    pub(crate) fn last_outcome(&self) -> Option<String> {
        const ENOUGH: usize = 1000;
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let mut outcome = last.clone()?;
        for stream in [&mut outcome.stdout, &mut outcome.stderr] {
            stream.0.truncate(ENOUGH);
        }
        serde_json::to_string_pretty(&outcome).ok()
    }
}
