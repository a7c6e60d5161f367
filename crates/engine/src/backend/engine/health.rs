//! Whether an engine can be used: its socket, the right to open it, an answer, the version of its
//! API. Each step that fails has its own name and remedy.

use std::{
    io,
    os::unix::net::UnixStream as StdUnixStream,
    path::{Path, PathBuf},
    time::Duration,
};

use bollard::{API_DEFAULT_VERSION, ClientVersion, Docker};

use super::{
    find::{self, Surroundings},
    identity,
    problem::EngineProblem,
};
use crate::BackendName;

/// How long an engine may take to say that it is there.
const ANSWER: Duration = Duration::from_millis(1500);
/// How long it may then take to say who it is. Podman looks at all it has for that, which takes
/// seconds where it has much to do.
const INTRODUCTION: Duration = Duration::from_secs(30);
/// How long it may take for anything else, in seconds. Starting a container is slow at times.
const SECONDS: u64 = 60;

/// The oldest API that has all we ask for: private cgroup namespaces came last.
const OLDEST: ClientVersion = ClientVersion { major_version: 1, minor_version: 41 };

/// An engine that answered.
pub(super) struct Connection {
    pub(super) client: Docker,
    pub(super) rootless: bool,
    /// Its name, version and address, for people.
    pub(super) description: String,
}

/// Finds an engine and makes sure that it answers.
pub(super) async fn connect(
    engine: BackendName,
    surroundings: &Surroundings,
) -> Result<Connection, EngineProblem> {
    let socket = find::socket(engine, surroundings)?;
    knock(engine, &socket)?;
    let no_answer = || EngineProblem::NoAnswer { engine, socket: socket.clone() };
    let strange = |error: bollard::errors::Error| EngineProblem::NotAnEngine {
        socket: socket.clone(),
        message: error.to_string(),
    };
    let client = Docker::connect_with_unix(&socket.to_string_lossy(), SECONDS, API_DEFAULT_VERSION)
        .map_err(strange)?;
    let there = tokio::time::timeout(ANSWER, client.ping()).await;
    there.map_err(|_| no_answer())?.map_err(strange)?;
    let asked = tokio::time::timeout(INTRODUCTION, client.version()).await;
    let version = asked.map_err(|_| no_answer())?.map_err(strange)?;
    let api = version.api_version.clone().unwrap_or_default();
    let client = match usable(&api)? {
        Some(older) => {
            let path = socket.to_string_lossy();
            Docker::connect_with_unix(&path, SECONDS, &older).map_err(strange)?
        }
        None => client,
    };
    let name = version.version.unwrap_or_default();
    Ok(Connection {
        client,
        rootless: identity::is_rootless(&socket),
        description: format!("{engine} {name}, API {api}, at {}", socket.display()),
    })
}

/// Opens the socket and closes it again: the system's own reason is the clearest.
fn knock(engine: BackendName, socket: &Path) -> Result<(), EngineProblem> {
    let path: PathBuf = socket.to_owned();
    match StdUnixStream::connect(socket) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(EngineProblem::Permission { engine, socket: path })
        }
        Err(_) => Err(EngineProblem::NotRunning { engine, socket: Some(path) }),
    }
}

/// The version to speak where it is older than ours, if it is not too old.
fn usable(api: &str) -> Result<Option<ClientVersion>, EngineProblem> {
    let too_old = || EngineProblem::TooOld {
        found: if api.is_empty() { "unknown".to_owned() } else { api.to_owned() },
        needed: OLDEST.to_string(),
    };
    let number = |text: &str| text.parse::<usize>().ok();
    let (major, minor) = api.split_once('.').ok_or_else(too_old)?;
    let version = match (number(major), number(minor)) {
        (Some(major_version), Some(minor_version)) => {
            ClientVersion { major_version, minor_version }
        }
        _ => return Err(too_old()),
    };
    if version < OLDEST {
        return Err(too_old());
    }
    Ok((version < *API_DEFAULT_VERSION).then_some(version))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::net::UnixListener};

    use super::*;

    #[test]
    fn versions_are_spoken_or_refused() {
        let older = usable("1.41").unwrap().unwrap();
        assert_eq!((older.major_version, older.minor_version), (1, 41));
        assert!(usable("1.999").unwrap().is_none(), "ours is spoken");
        for bad in ["1.40", "", "1", "x.y"] {
            assert!(matches!(usable(bad), Err(EngineProblem::TooOld { .. })), "{bad}");
        }
    }

    #[test]
    fn every_way_to_be_unreachable_has_a_name() {
        let directory = tempfile::tempdir().unwrap();
        let socket = directory.path().join("socket");
        let knock = || knock(BackendName::Docker, &socket);
        assert!(matches!(knock(), Err(EngineProblem::NotRunning { .. })), "nothing is there");
        let listener = UnixListener::bind(&socket).unwrap();
        assert_eq!(knock(), Ok(()));
        drop(listener);
        assert!(matches!(knock(), Err(EngineProblem::NotRunning { .. })), "nobody listens");
        fs::remove_file(&socket).unwrap();
    }
}
