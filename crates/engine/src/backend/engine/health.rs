//! Whether an engine can be used: its socket, the right to open it, an answer, the version of its
//! API. Each step that fails has its own name and remedy.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use bollard::{API_DEFAULT_VERSION, ClientVersion, Docker};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::UnixStream,
    time::timeout,
};

use super::{
    find::{self, Surroundings},
    identity,
    problem::EngineProblem,
};
use crate::BackendName;

/// How long an engine may take to say that it is there. One that is off says so at once; one that
/// starts a hundred containers needs its time.
const ANSWER: Duration = Duration::from_secs(5);
/// How long it may take for anything else, in seconds. Starting a container is slow at times.
const SECONDS: u64 = 60;
/// The most that an engine says about being there.
const LONGEST_ANSWER: usize = 16 << 10;

/// The oldest API that has all we ask for: private cgroup namespaces came last.
const OLDEST: ClientVersion = ClientVersion { major_version: 1, minor_version: 41 };

/// An engine that answered.
pub(super) struct Connection {
    pub(super) client: Docker,
    pub(super) rootless: bool,
    engine: BackendName,
    api: String,
    socket: PathBuf,
}

impl Connection {
    /// Its name, version and address, for people. Podman looks at all it has to know its version.
    pub(super) async fn description(&self) -> String {
        let asked = timeout(ANSWER, self.client.version()).await;
        let version = asked.ok().and_then(Result::ok).and_then(|version| version.version);
        let version = version.map_or_else(String::new, |version| format!(" {version}"));
        let Connection { engine, api, socket, .. } = self;
        format!("{engine}{version}, API {api}, at {}", socket.display())
    }
}

/// Finds an engine and makes sure that it answers.
pub(super) async fn connect(
    engine: BackendName,
    surroundings: &Surroundings,
) -> Result<Connection, EngineProblem> {
    let socket = find::socket(engine, surroundings)?;
    let asked = timeout(ANSWER, ping(engine, &socket)).await;
    let api = asked.map_err(|_| EngineProblem::NoAnswer { engine, socket: socket.clone() })??;
    let older = usable(&api)?;
    let version = older.as_ref().unwrap_or(API_DEFAULT_VERSION);
    let client = Docker::connect_with_unix(&socket.to_string_lossy(), SECONDS, version).map_err(
        |error| EngineProblem::NotAnEngine { socket: socket.clone(), message: error.to_string() },
    )?;
    Ok(Connection { client, rootless: identity::is_rootless(&socket), engine, api, socket })
}

/// Asks whether anybody is there. The answer names the newest version of the API. By hand, since
/// the system's own reason for a socket that does not open is the clearest.
async fn ping(engine: BackendName, socket: &Path) -> Result<String, EngineProblem> {
    let path: PathBuf = socket.to_owned();
    let mut stream = match UnixStream::connect(socket).await {
        Ok(stream) => stream,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(EngineProblem::Permission { engine, socket: path });
        }
        Err(_) => return Err(EngineProblem::NotRunning { engine, socket: Some(path) }),
    };
    let strange = |message: String| EngineProblem::NotAnEngine { socket: path.clone(), message };
    let failed = |error: io::Error| strange(error.to_string());
    let question = b"GET /_ping HTTP/1.0\r\nHost: engine\r\n\r\n";
    stream.write_all(question).await.map_err(failed)?;
    let mut answer = Vec::new();
    // The head says it all, and not everybody hangs up.
    while !answer.windows(4).any(|end| end == b"\r\n\r\n") && answer.len() < LONGEST_ANSWER {
        if stream.read_buf(&mut answer).await.map_err(failed)? == 0 {
            break;
        }
    }
    let answer = String::from_utf8_lossy(&answer);
    let mut lines = answer.lines();
    let status = lines.next().unwrap_or_default();
    if status.split(' ').nth(1) != Some("200") {
        return Err(strange(if status.is_empty() { "no answer".into() } else { status.into() }));
    }
    let version = lines.take_while(|line| !line.is_empty()).find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("Api-Version").then(|| value.trim().to_owned())
    });
    version.ok_or_else(|| strange("it does not name the version of its API".into()))
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

    /// What is made of an answer.
    async fn answered(answer: &'static str) -> Result<String, EngineProblem> {
        let directory = tempfile::tempdir().unwrap();
        let socket = directory.path().join("socket");
        let listener = tokio::net::UnixListener::bind(&socket).unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut question = [0; 256];
            let _ = stream.read(&mut question).await;
            let _ = stream.write_all(answer.as_bytes()).await;
        });
        ping(BackendName::Docker, &socket).await
    }

    #[tokio::test]
    async fn only_an_engine_is_taken_for_one() {
        let engine = "HTTP/1.0 200 OK\r\nApi-Version: 1.44\r\n\r\nOK";
        assert_eq!(answered(engine).await, Ok("1.44".to_owned()));
        for other in [
            "",
            "SSH-2.0\r\n",
            "HTTP/1.0 200 OK\r\n\r\nApi-Version: 1.44",
            "HTTP/1.0 404 No\r\n\r\n",
        ] {
            let refused = answered(other).await;
            assert!(
                matches!(refused, Err(EngineProblem::NotAnEngine { .. })),
                "{other}: {refused:?}"
            );
        }
    }

    #[tokio::test]
    async fn every_way_to_be_unreachable_has_a_name() {
        let directory = tempfile::tempdir().unwrap();
        let socket = directory.path().join("socket");
        let ping = async || ping(BackendName::Docker, &socket).await;
        assert!(matches!(ping().await, Err(EngineProblem::NotRunning { .. })), "nothing is there");
        drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
        assert!(matches!(ping().await, Err(EngineProblem::NotRunning { .. })), "nobody listens");
    }
}
