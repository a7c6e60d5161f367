//! Where the socket of an engine is: what the caller's variables say, then the usual places.
//!
//! The order is that of the engines' own tools. A variable or a context that names something we
//! cannot use is an error and never a reason to take another daemon than the one that was meant.

use std::{
    env, fs,
    os::unix::fs::FileTypeExt as _,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::problem::EngineProblem;
use crate::BackendName;

/// What decides where sockets are.
#[derive(Clone, Debug, Default)]
pub(super) struct Surroundings {
    docker_host: Option<String>,
    docker_context: Option<String>,
    docker_config: Option<PathBuf>,
    container_host: Option<String>,
    runtime_dir: Option<PathBuf>,
    home: Option<PathBuf>,
    path: Vec<PathBuf>,
    uid: u32,
    /// Where the directories of the system begin.
    system: PathBuf,
}

impl Surroundings {
    /// Those of this process.
    pub(super) fn of_process() -> Surroundings {
        let text = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let directory =
            |name: &str| text(name).map(PathBuf::from).filter(|path| path.is_absolute());
        Surroundings {
            docker_host: text("DOCKER_HOST"),
            docker_context: text("DOCKER_CONTEXT"),
            docker_config: directory("DOCKER_CONFIG"),
            container_host: text("CONTAINER_HOST"),
            runtime_dir: directory("XDG_RUNTIME_DIR"),
            home: directory("HOME"),
            path: env::split_paths(&text("PATH").unwrap_or_default()).collect(),
            uid: rustix::process::geteuid().as_raw(),
            system: PathBuf::from("/"),
        }
    }
}

impl Surroundings {
    /// The same with another address for an engine.
    #[must_use]
    pub(super) fn naming(mut self, engine: BackendName, host: String) -> Surroundings {
        match engine {
            BackendName::Podman => self.container_host = Some(host),
            _ => self.docker_host = Some(host),
        }
        self
    }
}

/// The socket of an engine.
pub(super) fn socket(
    engine: BackendName,
    surroundings: &Surroundings,
) -> Result<PathBuf, EngineProblem> {
    if let Some((host, origin)) = named(engine, surroundings)? {
        return local(&host, &origin);
    }
    usual_places(engine, surroundings).into_iter().find(|path| is_socket(path)).ok_or_else(|| {
        if is_installed(engine, surroundings) {
            EngineProblem::NotRunning { engine, socket: None }
        } else {
            EngineProblem::NotInstalled { engine }
        }
    })
}

/// The address that the caller named, and where.
fn named(
    engine: BackendName,
    surroundings: &Surroundings,
) -> Result<Option<(String, String)>, EngineProblem> {
    if engine == BackendName::Podman {
        let host = surroundings.container_host.clone();
        return Ok(host.map(|host| (host, "CONTAINER_HOST".to_owned())));
    }
    if let Some(host) = &surroundings.docker_host {
        return Ok(Some((host.clone(), "DOCKER_HOST".to_owned())));
    }
    match context(surroundings) {
        None => Ok(None),
        Some(name) => {
            let host = host_of_context(surroundings, &name)
                .ok_or_else(|| EngineProblem::UnknownContext { name: name.clone() })?;
            Ok(Some((host, format!("the context {name}"))))
        }
    }
}

/// The path behind an address, if the daemon is on this machine.
fn local(host: &str, origin: &str) -> Result<PathBuf, EngineProblem> {
    match host.strip_prefix("unix://") {
        Some(path) if path.starts_with('/') => Ok(PathBuf::from(path)),
        _ => Err(EngineProblem::NotLocal { host: host.to_owned(), origin: origin.to_owned() }),
    }
}

#[derive(Deserialize)]
struct Config {
    #[serde(rename = "currentContext")]
    current_context: Option<String>,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(rename = "Name")]
    name: String,
    #[serde(rename = "Endpoints")]
    endpoints: Endpoints,
}

#[derive(Deserialize)]
struct Endpoints {
    docker: Option<Endpoint>,
}

#[derive(Deserialize)]
struct Endpoint {
    #[serde(rename = "Host")]
    host: Option<String>,
}

fn config_directory(surroundings: &Surroundings) -> Option<PathBuf> {
    let of_home = || surroundings.home.as_ref().map(|home| home.join(".docker"));
    surroundings.docker_config.clone().or_else(of_home)
}

/// The context in use, unless it is the default one.
fn context(surroundings: &Surroundings) -> Option<String> {
    let of_config = || {
        let file = config_directory(surroundings)?.join("config.json");
        read_json::<Config>(&file)?.current_context
    };
    let name = surroundings.docker_context.clone().or_else(of_config)?;
    (!name.is_empty() && name != "default").then_some(name)
}

fn host_of_context(surroundings: &Surroundings, name: &str) -> Option<String> {
    let all = fs::read_dir(config_directory(surroundings)?.join("contexts/meta")).ok()?;
    all.flatten().find_map(|entry| {
        let meta = read_json::<Meta>(&entry.path().join("meta.json"))?;
        if meta.name == name { meta.endpoints.docker?.host } else { None }
    })
}

fn read_json<T: serde::de::DeserializeOwned>(file: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// Where sockets are when nobody says anything. Root's daemon comes first, except for Podman,
/// whose users have one each.
fn usual_places(engine: BackendName, surroundings: &Surroundings) -> Vec<PathBuf> {
    let system = |path: &str| surroundings.system.join(path);
    let of_user = system(&format!("run/user/{}", surroundings.uid));
    let runtime = surroundings.runtime_dir.clone().unwrap_or(of_user);
    let home = |path: &str| surroundings.home.as_ref().map(|home| home.join(path));
    if engine == BackendName::Podman {
        let (own, shared) = (runtime.join("podman/podman.sock"), system("run/podman/podman.sock"));
        return if surroundings.uid == 0 { vec![shared, own] } else { vec![own, shared] };
    }
    let mut places =
        vec![system("var/run/docker.sock"), system("run/docker.sock"), runtime.join("docker.sock")];
    places.extend(home(".docker/run/docker.sock"));
    places.extend(home(".docker/desktop/docker.sock"));
    places
}

fn is_socket(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.file_type().is_socket())
}

/// True if the engine's own program is there.
fn is_installed(engine: BackendName, surroundings: &Surroundings) -> bool {
    surroundings.path.iter().any(|directory| directory.join(engine.name()).is_file())
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    struct Machine {
        directory: tempfile::TempDir,
        sockets: Vec<UnixListener>,
    }

    impl Machine {
        fn new(sockets: &[&str]) -> Machine {
            let mut machine =
                Machine { directory: tempfile::tempdir().unwrap(), sockets: Vec::new() };
            for socket in sockets {
                let path = machine.path(socket);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                machine.sockets.push(UnixListener::bind(path).unwrap());
            }
            machine
        }

        fn path(&self, path: &str) -> PathBuf {
            self.directory.path().join(path)
        }

        fn write(&self, path: &str, text: &str) {
            fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
            fs::write(self.path(path), text).unwrap();
        }

        fn surroundings(&self) -> Surroundings {
            Surroundings {
                home: Some(self.path("home")),
                path: vec![self.path("bin")],
                uid: 1000,
                system: self.path(""),
                ..Surroundings::default()
            }
        }
    }

    #[test]
    fn variables_come_before_contexts_and_contexts_before_usual_places() {
        let machine = Machine::new(&["var/run/docker.sock", "run/podman/podman.sock"]);
        let mut surroundings = machine.surroundings();
        let docker = |surroundings: &Surroundings| socket(BackendName::Docker, surroundings);
        assert_eq!(docker(&surroundings), Ok(machine.path("var/run/docker.sock")));
        machine.write("home/.docker/config.json", r#"{"auths": {}, "currentContext": "mine"}"#);
        assert_eq!(
            docker(&surroundings),
            Err(EngineProblem::UnknownContext { name: "mine".into() })
        );
        machine.write(
            "home/.docker/contexts/meta/0123/meta.json",
            r#"{"Name": "mine", "Metadata": {}, "Endpoints": {"docker": {"Host": "unix:///of/context"}}}"#,
        );
        assert_eq!(docker(&surroundings), Ok("/of/context".into()));
        surroundings.docker_context = Some("default".into());
        assert_eq!(docker(&surroundings), Ok(machine.path("var/run/docker.sock")));
        surroundings.docker_host = Some("unix:///of/variable".into());
        assert_eq!(docker(&surroundings), Ok("/of/variable".into()));
        surroundings.container_host = Some("unix:///of/podman".into());
        assert_eq!(socket(BackendName::Podman, &surroundings), Ok("/of/podman".into()));
    }

    #[test]
    fn users_have_a_podman_of_their_own() {
        let machine = Machine::new(&["run/podman/podman.sock", "run/user/1000/podman/podman.sock"]);
        let mut surroundings = machine.surroundings();
        let podman = |surroundings: &Surroundings| socket(BackendName::Podman, surroundings);
        assert_eq!(podman(&surroundings), Ok(machine.path("run/user/1000/podman/podman.sock")));
        surroundings.uid = 0;
        assert_eq!(podman(&surroundings), Ok(machine.path("run/podman/podman.sock")));
    }

    #[test]
    fn a_daemon_elsewhere_is_never_replaced_by_one_here() {
        let machine = Machine::new(&["var/run/docker.sock"]);
        for host in ["tcp://10.0.0.1:2376", "ssh://host", "unix://relative", ""] {
            let surroundings =
                Surroundings { docker_host: Some(host.into()), ..machine.surroundings() };
            let found = socket(BackendName::Docker, &surroundings);
            assert!(matches!(found, Err(EngineProblem::NotLocal { .. })), "{host}: {found:?}");
        }
    }

    #[test]
    fn an_engine_that_is_off_is_not_an_engine_that_is_missing() {
        let machine = Machine::new(&[]);
        let docker = || socket(BackendName::Docker, &machine.surroundings()).unwrap_err();
        assert_eq!(docker(), EngineProblem::NotInstalled { engine: BackendName::Docker });
        machine.write("bin/docker", "");
        let off = EngineProblem::NotRunning { engine: BackendName::Docker, socket: None };
        assert_eq!(docker(), off);
        // A file is not a socket.
        machine.write("var/run/docker.sock", "");
        assert_eq!(docker(), off);
    }
}
