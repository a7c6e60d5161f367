//! The entry to the library: settings, and the way from a request to its outcome.

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use fumehood_gate::{Check, Resolve};

use crate::{
    BackendName, Bytes, Error, Examination, ImageError, Images, Layer, LimitOverrides, Outcome,
    Plan, Request, Run, VolumeError, Volumes,
    backend::{Backend, Engine, EngineDefaults, Local, Native},
    config::ExecutorSettings,
    doctor,
    places::Directory,
    policy::Policy,
    resolve::{self, BaseRoot, Machine},
    run::{self, Outside, Records},
    select::Attempts,
    toolchain::{Environment, Toolchains},
};

/// Settings of a [`Sandbox`].
pub struct SandboxBuilder {
    cache_dir: Option<PathBuf>,
    state_dir: Option<PathBuf>,
    ledger: Option<LedgerPlace>,
    limits: LimitOverrides,
    keep_ready: u8,
    docker_host: Option<String>,
    podman_host: Option<String>,
    resolver: Option<Arc<dyn Resolve>>,
    gate_without: Vec<Check>,
}

impl fmt::Debug for SandboxBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SandboxBuilder")
            .field("cache_dir", &self.cache_dir)
            .field("state_dir", &self.state_dir)
            .field("ledger", &self.ledger)
            .field("limits", &self.limits)
            .field("keep_ready", &self.keep_ready)
            .field("docker_host", &self.docker_host)
            .field("podman_host", &self.podman_host)
            .finish_non_exhaustive()
    }
}

/// Where runs are recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerPlace {
    /// The directory; absent, `ledger` in the state directory.
    pub directory: Option<PathBuf>,
    /// How large a file of it grows; absent, 64 MiB.
    pub rotate_at: Option<Bytes>,
}

impl Default for SandboxBuilder {
    fn default() -> Self {
        SandboxBuilder {
            cache_dir: None,
            state_dir: None,
            ledger: None,
            limits: LimitOverrides::default(),
            keep_ready: 2,
            docker_host: None,
            podman_host: None,
            resolver: None,
            gate_without: Vec::new(),
        }
    }
}

impl SandboxBuilder {
    /// Where compiled programs and what is known of toolchains are kept.
    #[must_use]
    pub fn cache_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.cache_dir = Some(directory.into());
        self
    }

    /// Where volumes, the ledger, and the changes of overlay workspaces are kept.
    #[must_use]
    pub fn state_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.state_dir = Some(directory.into());
        self
    }

    /// Records every run. A library records nothing unless it is told to; the command line does.
    #[must_use]
    pub fn ledger(mut self, place: LedgerPlace) -> Self {
        self.ledger = Some(place);
        self
    }

    /// Limits where neither the policy nor the request says otherwise.
    #[must_use]
    pub fn default_limits(mut self, limits: LimitOverrides) -> Self {
        self.limits = limits;
        self
    }

    /// How many boxes are kept prepared ahead of need. Two by default; none for a program that
    /// runs a single request.
    #[must_use]
    pub fn keep_ready(mut self, boxes: u8) -> Self {
        self.keep_ready = boxes;
        self
    }

    /// The address of Docker, such as `unix:///run/docker.sock`, instead of what the environment
    /// says.
    #[must_use]
    pub fn docker_host(mut self, host: impl Into<String>) -> Self {
        self.docker_host = Some(host.into());
        self
    }

    /// The address of Podman, instead of what the environment says.
    #[must_use]
    pub fn podman_host(mut self, host: impl Into<String>) -> Self {
        self.podman_host = Some(host.into());
        self
    }

    /// How the names that boxes dial are looked up, instead of as this machine does it. The
    /// proxies of the environment are not used then, since they would look them up themselves.
    #[must_use]
    pub fn resolver(mut self, resolver: Arc<dyn Resolve>) -> Self {
        self.resolver = Some(resolver);
        self
    }

    /// Gates that do not look at some things, to show what that is good for.
    #[doc(hidden)]
    #[must_use]
    pub fn gate_without(mut self, checks: &[Check]) -> Self {
        self.gate_without.extend_from_slice(checks);
        self
    }

    /// Starts what every run needs and looks for toolchains; a first box is prepared meanwhile.
    pub fn build(self) -> Result<Sandbox, Error> {
        let cache_dir = self.cache_dir.map_or_else(|| Directory::Cache.of_process(), Ok)?;
        // The launcher makes its first box while we look at the machine.
        let native = Native::start(self.keep_ready)?;
        // It goes on with what was found the last time, while we see whether that still holds.
        let prepare = |toolchains: &Toolchains| native.prepare(BaseRoot::new(toolchains));
        let environment = Environment::from_process();
        let toolchains = Toolchains::load_expecting(&cache_dir, &environment, |expected| {
            // Should it fail, it fails again below, if it still is what is wanted.
            let _ = prepare(expected);
        });
        let base = BaseRoot::new(&toolchains);
        native.prepare(base.clone())?;
        let state_dir = self.state_dir;
        let docker = Engine::new(BackendName::Docker, &cache_dir, self.docker_host);
        let podman = Engine::new(BackendName::Podman, &cache_dir, self.podman_host);
        let inner = Inner {
            native,
            docker: Arc::new(docker),
            podman: Arc::new(podman),
            local: Local,
            cache_dir,
            state_dir,
            records: OnceLock::new(),
            limits: OnceLock::new(),
            executor: OnceLock::new(),
            engines: OnceLock::new(),
            toolchains,
            base,
            outside: Outside::new(self.resolver, self.gate_without),
        };
        let sandbox = Sandbox { inner: Arc::new(inner) };
        sandbox.default_limits(self.limits);
        match self.ledger {
            Some(place) => sandbox.keep_ledger(place).map(|()| sandbox),
            None => Ok(sandbox),
        }
    }
}

/// Runs requests. Cheap to clone; one launcher serves all boxes of all clones.
#[derive(Clone)]
pub struct Sandbox {
    pub(crate) inner: Arc<Inner>,
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox").field("cache_dir", &self.inner.cache_dir).finish()
    }
}

pub(crate) struct Inner {
    native: Native,
    docker: Arc<Engine>,
    podman: Arc<Engine>,
    local: Local,
    pub(crate) cache_dir: PathBuf,
    /// Where state is kept, if not in the usual place.
    pub(crate) state_dir: Option<PathBuf>,
    pub(crate) records: OnceLock<Records>,
    limits: OnceLock<LimitOverrides>,
    executor: OnceLock<ExecutorSettings>,
    engines: OnceLock<EngineDefaults>,
    toolchains: Toolchains,
    base: BaseRoot,
    pub(crate) outside: Outside,
}

impl Inner {
    /// The engine of a backend whose boxes are containers.
    pub(crate) fn engine(&self, name: BackendName) -> &Arc<Engine> {
        if name == BackendName::Podman { &self.podman } else { &self.docker }
    }

    pub(crate) fn backend(&self, name: BackendName) -> &dyn Backend {
        match name {
            BackendName::Native => &self.native,
            BackendName::Docker | BackendName::Podman => &**self.engine(name),
            BackendName::Local => &self.local,
        }
    }

    /// What a backend would do for a request.
    pub(crate) fn resolve(
        &self,
        request: &Request,
        backend: BackendName,
    ) -> Result<(Plan, Policy), Error> {
        let Inner { toolchains, base, cache_dir, state_dir, limits, engines, .. } = self;
        let (state, unset) = (state_dir.as_deref(), LimitOverrides::default());
        let limits = limits.get().unwrap_or(&unset);
        let engine = backend.uses_images().then(|| &**self.engine(backend));
        let plain = EngineDefaults::default();
        let engines = engines.get().unwrap_or(&plain);
        let cache = cache_dir;
        let machine = Machine { base, toolchains, engine, cache, state, limits, engines };
        resolve::resolve(request, backend, &machine)
    }

    /// The backends that may carry out a request.
    fn attempts(&self, request: &Request) -> Attempts {
        let plain = ExecutorSettings::default();
        Attempts::new(self.executor.get().unwrap_or(&plain).candidates(request.backend))
    }

    /// The volumes that plans speak of.
    pub(crate) fn volumes(&self) -> Result<Volumes, VolumeError> {
        Volumes::of(self.state_dir.as_deref())
    }
}

impl Sandbox {
    /// A sandbox with default settings.
    pub fn new() -> Result<Sandbox, Error> {
        Sandbox::builder().build()
    }

    /// A sandbox with other settings.
    pub fn builder() -> SandboxBuilder {
        SandboxBuilder::default()
    }

    /// Records every run from now on, as [`SandboxBuilder::ledger`] does. Said twice, the first
    /// holds. For programs that learn where only when the sandbox is there already.
    pub fn keep_ledger(&self, place: LedgerPlace) -> Result<(), Error> {
        let directory = match (place.directory, &self.inner.state_dir) {
            (Some(directory), _) => directory,
            (None, Some(state)) => state.join("ledger"),
            (None, None) => Directory::State.of_process()?.join("ledger"),
        };
        let _ = self.inner.records.set(Records::new(directory, place.rotate_at));
        Ok(())
    }

    /// Limits where neither the policy nor a request says otherwise. Said twice, the first holds.
    pub fn default_limits(&self, limits: LimitOverrides) {
        if limits != LimitOverrides::default() {
            let _ = self.inner.limits.set(limits);
        }
    }

    /// Which backends carry out requests that name none, and in which order they are tried. Said
    /// twice, the first holds.
    pub fn choose_backends(&self, executor: ExecutorSettings) {
        let _ = self.inner.executor.set(executor);
    }

    /// What holds for engines and their containers where a request says nothing. Said twice, the
    /// first holds.
    pub fn configure_engines(&self, defaults: EngineDefaults) {
        for backend in [BackendName::Docker, BackendName::Podman] {
            if let Some(host) = &defaults.engine(backend).host.value {
                self.inner.engine(backend).listens_at(host.as_str());
            }
        }
        let _ = self.inner.engines.set(defaults);
    }

    /// The images of a backend whose boxes are containers.
    pub fn images(&self, backend: BackendName) -> Result<Images, ImageError> {
        if !backend.uses_images() {
            return Err(ImageError::NoImages { backend });
        }
        Ok(Images::of(Arc::clone(self.inner.engine(backend))))
    }

    /// The policy that a request would have to obey.
    pub fn policy(&self, request: &Request) -> Result<Policy, Error> {
        let unset = LimitOverrides::default();
        resolve::policy(request, self.inner.limits.get().unwrap_or(&unset))
    }

    /// What would be done for a request, without doing it. Backends that cannot make a plan are
    /// passed over; whether the one that can also opens a box is only seen by running it.
    pub fn plan(&self, request: &Request) -> Result<Plan, Error> {
        let attempt = self.inner.attempts(request).next(&self.inner, request)?;
        let mut plan = attempt.plan;
        plan.policy = Some(attempt.policy.digest());
        Ok(plan)
    }

    /// The volumes of this sandbox.
    pub fn volumes(&self) -> Result<Volumes, Error> {
        Ok(self.inner.volumes()?)
    }

    /// Runs a request to its end.
    pub async fn run(&self, request: Request) -> Result<Outcome, Error> {
        self.run_without(request, &[]).await
    }

    /// Runs a request with layers of isolation left out, to show what they are good for.
    #[doc(hidden)]
    pub async fn run_without(&self, request: Request, without: &[Layer]) -> Result<Outcome, Error> {
        self.run_with(request, |plan| plan.run.without.extend_from_slice(without)).await
    }

    /// Runs a request whose plan somebody has a look at before it is carried out.
    pub(crate) async fn run_with(
        &self,
        request: Request,
        look: impl FnOnce(&mut Plan),
    ) -> Result<Outcome, Error> {
        let mut attempts = self.inner.attempts(&request);
        let mut attempt = attempts.next(&self.inner, &request)?;
        look(&mut attempt.plan);
        run::to_end(&self.inner, attempt, attempts, request).await
    }

    /// Starts a request and gives a handle to what happens. Must be called inside a tokio runtime.
    pub fn start(&self, request: Request) -> Result<Run, Error> {
        let mut attempts = self.inner.attempts(&request);
        let attempt = attempts.next(&self.inner, &request)?;
        Ok(run::start(Arc::clone(&self.inner), attempt, attempts, request))
    }

    /// Looks at what this machine can give. `refresh` forgets what is remembered of toolchains and
    /// engines.
    pub async fn examine(&self, refresh: bool) -> Examination {
        let environment = Environment::from_process();
        let toolchains = if refresh {
            Toolchains::refresh(&self.inner.cache_dir, &environment)
        } else {
            Toolchains::load(&self.inner.cache_dir, &environment)
        };
        doctor::examine(self, &toolchains, refresh).await
    }

    /// Waits, for some seconds at most, until containers that dead processes left are removed. Only
    /// where an engine was used is there anything to wait for.
    pub async fn tidied_up(&self) {
        self.inner.docker.swept().await;
        self.inner.podman.swept().await;
    }

    /// Leaves ending all boxes and cleaning up to the launcher, which does so by itself when this
    /// process is gone. For programs that end now.
    pub fn detach(self) {
        self.inner.native.detach();
    }

    /// Ends the launcher and waits until nothing is left, whoever else still holds a clone.
    pub async fn close(self) {
        self.inner.native.stop();
    }
}
