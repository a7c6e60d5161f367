//! Why an engine cannot be used, each reason with the next step.

use std::path::PathBuf;

use crate::{BackendName, image::own_name};

/// Why an engine cannot open a box.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineProblem {
    /// There is neither a socket nor a program.
    #[error("{engine} is not installed")]
    NotInstalled {
        /// The engine.
        engine: BackendName,
    },
    /// Nobody listens.
    #[error("{engine} is not running{}", at(.socket))]
    NotRunning {
        /// The engine.
        engine: BackendName,
        /// Where it should listen, if that is known.
        socket: Option<PathBuf>,
    },
    /// The socket is there and closed to this user.
    #[error("this user may not open {}", socket.display())]
    Permission {
        /// The engine.
        engine: BackendName,
        /// The socket.
        socket: PathBuf,
    },
    /// It listens and does not answer.
    #[error("{engine} does not answer at {}", socket.display())]
    NoAnswer {
        /// The engine.
        engine: BackendName,
        /// The socket.
        socket: PathBuf,
    },
    /// What listens there is not an engine.
    #[error("what answers at {} is not a container engine ({message})", socket.display())]
    NotAnEngine {
        /// The socket.
        socket: PathBuf,
        /// What was understood of the answer.
        message: String,
    },
    /// It is older than what we need.
    #[error("its API has version {found}, and {needed} is needed")]
    TooOld {
        /// Its newest version.
        found: String,
        /// The oldest that will do.
        needed: String,
    },
    /// The daemon is on another machine.
    #[error("{origin} names `{host}`, which is not a socket of this machine")]
    NotLocal {
        /// The address.
        host: String,
        /// Who named it.
        origin: String,
    },
    /// The context in use is not there.
    #[error("the context `{name}` does not exist or names no address")]
    UnknownContext {
        /// Its name.
        name: String,
    },
    /// The image is not there.
    #[error("it has no image `{image}`")]
    MissingImage {
        /// The engine.
        engine: BackendName,
        /// The image.
        image: String,
    },
    /// The runtime is not there.
    #[error("it has no runtime `{runtime}`")]
    MissingRuntime {
        /// The engine.
        engine: BackendName,
        /// The runtime.
        runtime: String,
    },
    /// It takes no runtime by name.
    #[error("its API does not take the runtime `{runtime}`")]
    RuntimeNotTaken {
        /// The runtime.
        runtime: String,
    },
    /// It does not see the files that it is to mount.
    #[error("it does not see {path}, so it runs elsewhere than we do")]
    OtherFiles {
        /// What it does not see.
        path: String,
    },
    /// It refused to make or to start the container.
    #[error("it could not {step} the container: {message}")]
    Refused {
        /// What was asked.
        step: &'static str,
        /// Its own words.
        message: String,
    },
    /// It went away in between.
    #[error("the connection broke while it was to {step} the container")]
    Gone {
        /// The engine.
        engine: BackendName,
        /// What was asked.
        step: &'static str,
    },
}

fn at(socket: &Option<PathBuf>) -> String {
    socket.as_ref().map_or_else(String::new, |path| format!(" at {}", path.display()))
}

impl EngineProblem {
    /// What to do about it.
    pub fn remedy(&self) -> String {
        match self {
            EngineProblem::NotInstalled { engine: BackendName::Podman } => {
                "type `apt-get install podman`, then start its socket with `systemctl --user enable --now podman.socket`".into()
            }
            EngineProblem::NotInstalled { .. } => {
                "type `apt-get install docker.io`, or use --backend native".into()
            }
            EngineProblem::NotRunning { engine: BackendName::Podman, .. } => {
                "type `systemctl --user start podman.socket`, or `podman system service --time 0 &`".into()
            }
            EngineProblem::NotRunning { .. } => {
                "type `systemctl start docker` as root, or set DOCKER_HOST to where it listens".into()
            }
            EngineProblem::Permission { engine: BackendName::Podman, .. } => {
                "start one of your own with `systemctl --user start podman.socket`".into()
            }
            EngineProblem::Permission { .. } => {
                "type `usermod -aG docker $USER` as root and log in again".into()
            }
            EngineProblem::NoAnswer { engine, .. } | EngineProblem::Gone { engine, .. } => {
                format!("look at its log with `journalctl -u {engine}`, and restart it")
            }
            EngineProblem::NotAnEngine { .. } => {
                "correct DOCKER_HOST or CONTAINER_HOST, or take it away".into()
            }
            EngineProblem::TooOld { .. } => "install a newer version of it".into(),
            EngineProblem::NotLocal { .. } => {
                "set DOCKER_HOST or CONTAINER_HOST to unix:///PATH of a daemon on this machine".into()
            }
            EngineProblem::UnknownContext { .. } => {
                "type `docker context ls` and `docker context use NAME`".into()
            }
            EngineProblem::MissingImage { engine, image } => match own_name(image) {
                Some(name) => format!(
                    "type `fumehood image build {name} --backend {engine}`, or name another with --image"
                ),
                None => format!(
                    "type `fumehood image pull {image} --backend {engine}` or `{engine} build -t {image} .`, or name another with --image"
                ),
            },
            EngineProblem::MissingRuntime { engine, .. } => {
                format!("type `{engine} info` to see which there are, or leave out --runtime")
            }
            EngineProblem::RuntimeNotTaken { runtime } => {
                format!("start its service with `podman --runtime {runtime} system service`, and leave out --runtime")
            }
            EngineProblem::OtherFiles { .. } => {
                "set FUMEHOOD_CACHE_DIR to a directory that it shares with us, and give it no other paths".into()
            }
            EngineProblem::Refused { .. } => "`fumehood doctor` shows what it can do".into(),
        }
    }
}
