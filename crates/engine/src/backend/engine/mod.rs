//! Containers of Docker and Podman, through the API that both speak.
//!
//! The engine makes the container, `fumehood-init` is its process 1 and applies the layers that a
//! process can apply to itself; from then on a box is a box. Three requests open one: create,
//! attach, start. None is needed to close it: init exits, and the engine removes what has ended.

mod create;
mod defaults;
mod find;
mod given;
mod health;
mod identity;
mod image;
mod keeper;
mod owner;
mod problem;
mod stream;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

use bollard::{
    errors::Error as EngineError,
    query_parameters::{AttachContainerOptionsBuilder, ListImagesOptions},
};
use fumehood_core::protocol::{BoxOrder, frame};
use tokio::{sync::Mutex, task::JoinHandle};

use self::{
    create::Ground, find::Surroundings, health::Connection, keeper::Container, owner::Owner,
};
use super::{Backend, Deferred, OpenBox, embedded, etc};
use crate::{
    BackendName, BoxPlan, Enforced, Error, Identity, Mount,
    image::{ImageRegistry, own_name, remember_use, short_reference},
};

pub use self::{defaults::EngineDefaults, problem::EngineProblem};

/// Files of the box that come from us and not from the image: who is who, and no names of the
/// host's network.
const OUR_FILES: &[&str] = &["/etc/passwd", "/etc/group", "/etc/hosts", "/etc/resolv.conf"];

/// How long a process that ends waits for the removal of what dead ones left. The next one goes
/// on with it.
const SWEEP: Duration = Duration::from_secs(10);

/// A backend on an engine. Nothing is looked for before the first box.
pub(crate) struct Engine {
    name: BackendName,
    cache: PathBuf,
    /// Its address, where the caller or the configuration names one.
    host: OnceLock<String>,
    surroundings: OnceLock<Surroundings>,
    connection: Mutex<Option<Arc<Connection>>>,
    /// The removal of what dead processes left.
    sweep: Mutex<Option<JoinHandle<()>>>,
}

impl Engine {
    /// The engine with this name. `host` is its address where the caller names one.
    pub(crate) fn new(name: BackendName, cache: &Path, host: Option<String>) -> Engine {
        Engine {
            name,
            cache: cache.to_owned(),
            host: host.map_or_else(OnceLock::new, OnceLock::from),
            surroundings: OnceLock::new(),
            connection: Mutex::new(None),
            sweep: Mutex::new(None),
        }
    }

    /// Its address, unless it was named before.
    pub(crate) fn listens_at(&self, host: &str) {
        let _ = self.host.set(host.to_owned());
    }

    /// Waits until what dead processes left is removed, but not for ever.
    pub(crate) async fn swept(&self) {
        if let Some(sweep) = self.sweep.lock().await.take() {
            let _ = tokio::time::timeout(SWEEP, sweep).await;
        }
    }

    /// What decides where it is. Looked at when it is first needed, since most runs need none.
    fn surroundings(&self) -> &Surroundings {
        self.surroundings.get_or_init(|| {
            let surroundings = Surroundings::of_process();
            match self.host.get() {
                Some(host) => surroundings.naming(self.name, host.clone()),
                None => surroundings,
            }
        })
    }

    /// Which engine it is.
    pub(crate) fn name(&self) -> BackendName {
        self.name
    }

    /// Where fumehood keeps what it may forget.
    pub(crate) fn cache(&self) -> &Path {
        &self.cache
    }

    /// What speaks to the engine, for everything that is not a box.
    pub(crate) async fn client(&self) -> Result<bollard::Docker, Error> {
        Ok(self.connect().await?.client.clone())
    }

    /// Who the program is, for a box with these mounts.
    pub(crate) fn identity(&self, mounts: &[Mount]) -> Identity {
        let rootless = find::socket(self.name, self.surroundings())
            .is_ok_and(|socket| identity::is_rootless(&socket));
        identity::identity(self.name, rootless, mounts)
    }

    /// What the engine is, and the first of our images that it has. `refresh` forgets what is
    /// known of it.
    pub(crate) async fn examine(&self, refresh: bool) -> Result<(String, String), Error> {
        if refresh {
            self.forget().await;
        }
        let connection = self.connect().await?;
        let listed = connection.client.list_images(None::<ListImagesOptions>).await;
        let images = listed.map_err(|error| self.failed("find an image for", "", error))?;
        let mut tags: Vec<String> = images.into_iter().flat_map(|image| image.repo_tags).collect();
        tags.retain(|tag| image::is_ours(self.name, tag));
        tags.sort();
        match tags.into_iter().next() {
            Some(tag) => Ok((connection.description().await, tag)),
            None => Err(self.problem(EngineProblem::MissingImage {
                engine: self.name,
                image: short_reference(ImageRegistry::builtin().name_for(None)),
            })),
        }
    }

    async fn forget(&self) {
        *self.connection.lock().await = None;
    }

    /// The connection, made on first use. Orphans are looked for then, behind our back.
    async fn connect(&self) -> Result<Arc<Connection>, Error> {
        let mut known = self.connection.lock().await;
        if let Some(connection) = &*known {
            return Ok(Arc::clone(connection));
        }
        let connected = health::connect(self.name, self.surroundings()).await;
        let connection = Arc::new(connected.map_err(|problem| self.problem(problem))?);
        let sweep = keeper::sweep(connection.client.clone(), Owner::this_process());
        *self.sweep.lock().await = Some(tokio::spawn(sweep));
        *known = Some(Arc::clone(&connection));
        Ok(connection)
    }

    fn ground(&self, plan: &BoxPlan, connection: &Connection) -> Result<Ground, Error> {
        let store =
            |name: &str, content: &[u8], mode| embedded::stored(name, content, mode, &self.cache);
        let files: Result<Vec<_>, Error> = etc::files(plan.identity.uid, plan.identity.gid)
            .into_iter()
            .filter(|(path, _)| OUR_FILES.contains(path))
            .map(|(path, content)| {
                let name = path.rsplit('/').next().unwrap_or(path);
                Ok((path.to_owned(), store(name, content.as_bytes(), 0o444)?))
            })
            .collect();
        Ok(Ground {
            engine: self.name,
            rootless: connection.rootless,
            init: embedded::init_program(&self.cache)?,
            files: files?,
            blind: store("hidden", b"", 0o000)?,
            labels: Owner::this_process().labels(plan),
            most_processes: most_processes(),
            has_ipv6: Path::new("/proc/net/if_inet6").exists(),
            is_directory: |path| Some(path.symlink_metadata().ok()?.is_dir()),
        })
    }

    /// Makes the container. An engine that was restarted since the last box is asked again.
    async fn create(
        &self,
        plan: &BoxPlan,
        image: &str,
    ) -> Result<(Arc<Connection>, String, BoxOrder), Error> {
        let mut again = true;
        loop {
            let connection = self.connect().await?;
            let (body, order) = create::container(plan, &self.ground(plan, &connection)?)?;
            match connection.client.create_container(None, body).await {
                Ok(created) => return Ok((connection, created.id, order)),
                Err(error @ EngineError::DockerResponseServerError { .. }) => {
                    return Err(self.creation_failed(plan, image, error));
                }
                Err(error) => {
                    self.forget().await;
                    if !std::mem::take(&mut again) {
                        return Err(self.failed("create", image, error));
                    }
                }
            }
        }
    }

    async fn open(&self, plan: &BoxPlan) -> Result<OpenBox, Error> {
        let runtime = plan.container.as_ref().and_then(|container| container.runtime.clone());
        if let Some(runtime) = runtime.filter(|_| self.name == BackendName::Podman) {
            // It would take another one and not say so.
            return Err(self.problem(EngineProblem::RuntimeNotTaken { runtime }));
        }
        let image = image_of(plan);
        let (connection, id, order) = self.create(plan, image).await?;
        let client = &connection.client;
        // From here on it is removed whatever happens.
        let keeper = Container::new(self.name, client.clone(), &id);
        let all = AttachContainerOptionsBuilder::default()
            .stream(true)
            .stdin(true)
            .stdout(true)
            .stderr(true)
            .build();
        let attached = client.attach_container(&id, Some(all)).await;
        let attached = attached.map_err(|error| self.failed("attach to", image, error))?;
        let mut first = Vec::new();
        frame::append(&mut first, &order.encode());
        let channel = stream::join(attached, first).map_err(|error| Error::Setup {
            step: "control channel".into(),
            reason: error.to_string(),
        })?;
        let started = client.start_container(&id, None).await;
        started.map_err(|error| self.creation_failed(plan, image, error))?;
        self.remember_use(image);
        Ok(OpenBox { channel, keeper: Box::new(keeper), enforced: Enforced::default() })
    }

    /// Notes that one of our images is in use, without keeping anybody waiting.
    fn remember_use(&self, image: &str) {
        if let Some(name) = own_name(image) {
            let (cache, backend) = (self.cache.clone(), self.name);
            tokio::task::spawn_blocking(move || remember_use(&cache, backend, name));
        }
    }

    fn problem(&self, problem: EngineProblem) -> Error {
        Error::Engine { backend: self.name, problem }
    }

    /// What an engine says when it cannot make or start a container, in our words where they help
    /// more.
    fn creation_failed(&self, plan: &BoxPlan, image: &str, error: EngineError) -> Error {
        let runtime = plan.container.as_ref().and_then(|container| container.runtime.clone());
        match (&error, runtime) {
            (EngineError::DockerResponseServerError { message, .. }, Some(runtime))
                if message.contains("runtime") && message.contains(&runtime) =>
            {
                self.problem(EngineProblem::MissingRuntime { engine: self.name, runtime })
            }
            _ => self.failed("start", image, error),
        }
    }

    fn failed(&self, step: &'static str, image: &str, error: EngineError) -> Error {
        let engine = self.name;
        self.problem(match error {
            EngineError::DockerResponseServerError { status_code: 404, message }
                if message.to_lowercase().contains("image") =>
            {
                EngineProblem::MissingImage { engine, image: image.to_owned() }
            }
            EngineError::DockerResponseServerError { message, .. }
                if message.contains("bind source path does not exist") =>
            {
                let path = message.rsplit(": ").next().unwrap_or(&message).to_owned();
                EngineProblem::OtherFiles { path }
            }
            EngineError::DockerResponseServerError { message, .. } => {
                EngineProblem::Refused { step, message: message.trim().to_owned() }
            }
            _ => EngineProblem::Gone { engine, step },
        })
    }
}

fn image_of(plan: &BoxPlan) -> &str {
    plan.container.as_ref().map_or("", |container| container.image.as_str())
}

/// The most processes that the user of a container may have on the whole machine; the container
/// itself is bounded by its cgroup. No more than we have ourselves can be given.
fn most_processes() -> i64 {
    const ENOUGH: u64 = 16 << 10;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nproc);
    limit.maximum.unwrap_or(ENOUGH).min(ENOUGH).cast_signed()
}

impl Backend for Engine {
    fn open<'a>(
        &'a self,
        plan: &'a BoxPlan,
        _storage: Option<&'a Path>,
    ) -> Deferred<'a, Result<OpenBox, Error>> {
        Box::pin(Engine::open(self, plan))
    }

    fn content<'a>(&'a self, plan: &'a BoxPlan) -> Deferred<'a, Result<Option<String>, Error>> {
        Box::pin(async move {
            let connection = self.connect().await?;
            let image = image_of(plan);
            let found = connection.client.inspect_image(image).await;
            // Any 404 here is about the image.
            let found = found.map_err(|error| self.failed("find the image of", image, error))?;
            Ok(found.id)
        })
    }
}
