//! What a caller wants.

use std::{collections::BTreeMap, path::PathBuf};

use crate::{BackendName, LimitOverrides, Mount, Network};

/// What is to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// Source code in a known language.
    Code {
        /// Name or alias of the language.
        language: String,
        /// The source.
        source: Vec<u8>,
        /// The file name the source had, if it came from a file.
        file_name: Option<String>,
        /// Arguments for the program.
        args: Vec<String>,
    },
    /// A command, as for `execvp`.
    Command {
        /// Program and arguments; never empty in a valid request.
        argv: Vec<String>,
    },
}

/// Where the program's standard input comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StdinSource {
    /// End of file at once.
    #[default]
    Empty,
    /// These bytes.
    Bytes(Vec<u8>),
    /// Fed by the caller while it runs.
    Live,
}

/// How the workspace is mounted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkspaceMode {
    /// The program may not change it.
    ReadOnly,
    /// The program changes a copy; the caller looks at the changes and applies them or not.
    Overlay,
    /// Changes go to the directory itself.
    #[default]
    ReadWrite,
}

/// A directory of the caller that becomes `/workspace`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// The directory.
    pub directory: PathBuf,
    /// How it is mounted.
    pub mode: WorkspaceMode,
}

/// What a caller wants to run, and how. Everything but the program has a default.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What to run.
    pub program: Program,
    /// Its standard input.
    pub stdin: StdinSource,
    /// Variables for the program, on top of the clean environment of a box.
    pub env: BTreeMap<String, String>,
    /// The directory that becomes `/workspace`; absent, the workspace is empty and private.
    pub workspace: Option<Workspace>,
    /// Further mounts.
    pub mounts: Vec<Mount>,
    /// Limits that differ from the defaults.
    pub limits: LimitOverrides,
    /// The network, as far as there is one.
    pub network: Network,
    /// The backend that must run it; absent, the default.
    pub backend: Option<BackendName>,
}

impl Request {
    fn new(program: Program) -> Request {
        Request {
            program,
            stdin: StdinSource::Empty,
            env: BTreeMap::new(),
            workspace: None,
            mounts: Vec::new(),
            limits: LimitOverrides::default(),
            network: Network::None,
            backend: None,
        }
    }

    /// A request to run source code.
    pub fn code(language: impl Into<String>, source: impl Into<Vec<u8>>) -> Request {
        Request::new(Program::Code {
            language: language.into(),
            source: source.into(),
            file_name: None,
            args: Vec::new(),
        })
    }

    /// A request to run a command.
    pub fn command<S: Into<String>>(argv: impl IntoIterator<Item = S>) -> Request {
        Request::new(Program::Command { argv: argv.into_iter().map(Into::into).collect() })
    }

    /// The program's standard input.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Request {
        self.stdin = StdinSource::Bytes(bytes.into());
        self
    }

    /// A variable for the program.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Request {
        self.env.insert(name.into(), value.into());
        self
    }

    /// The directory that becomes `/workspace`.
    #[must_use]
    pub fn workspace(mut self, directory: impl Into<PathBuf>, mode: WorkspaceMode) -> Request {
        self.workspace = Some(Workspace { directory: directory.into(), mode });
        self
    }

    /// A further mount.
    #[must_use]
    pub fn mount(mut self, mount: Mount) -> Request {
        self.mounts.push(mount);
        self
    }

    /// Limits that differ from the defaults.
    #[must_use]
    pub fn limits(mut self, limits: LimitOverrides) -> Request {
        self.limits = limits;
        self
    }

    /// The backend that must run it.
    #[must_use]
    pub fn backend(mut self, backend: BackendName) -> Request {
        self.backend = Some(backend);
        self
    }

    /// The network of the box.
    #[must_use]
    pub fn network(mut self, network: Network) -> Request {
        self.network = network;
        self
    }
}
