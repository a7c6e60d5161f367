//! What a caller wants.

use std::{collections::BTreeMap, path::PathBuf};

use crate::{
    Dataset, LimitOverrides, Mount, Network, VolumeMount, VolumeName,
    config::BackendChoice,
    policy::{GitAccess, HostPattern, NetMode, PolicyText, ProfileName, Spoken},
};

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
    /// A program that fumehood brings into the box itself.
    Helper {
        /// Which one.
        helper: Helper,
        /// Its arguments.
        args: Vec<String>,
    },
}

/// A program of fumehood's own that runs in boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Helper {
    /// Tries connections and prints what became of each.
    Probe,
    /// Tries what hostile code tries, and prints what each attempt got.
    Attacks,
}

impl Helper {
    /// The name of its file.
    pub fn name(self) -> &'static str {
        match self {
            Helper::Probe => "fumehood-probe",
            Helper::Attacks => "fumehood-attacks",
        }
    }
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
///
/// In the order of looseness.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
)]
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

impl WorkspaceMode {
    /// The name on the command line and in policies.
    pub fn name(self) -> &'static str {
        match self {
            WorkspaceMode::ReadOnly => "ro",
            WorkspaceMode::Overlay => "overlay",
            WorkspaceMode::ReadWrite => "rw",
        }
    }
}

impl std::fmt::Display for WorkspaceMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A directory of the caller that becomes `/workspace`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// The directory.
    pub directory: PathBuf,
    /// How it is mounted; absent, as the policy says.
    pub mode: Option<WorkspaceMode>,
}

/// Where the policy of a request comes from. Whatever it is, the request's own wishes come on top
/// of it, as far as its ceiling allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyChoice {
    /// A built-in profile.
    Profile(ProfileName),
    /// The user's file, and the nearest `sandbox.policy.yaml` upward from this directory.
    Discover {
        /// Where the search begins.
        from: PathBuf,
        /// The profile where there is no such file.
        otherwise: ProfileName,
    },
    /// The user's file, and this file.
    File(PathBuf),
    /// This text, as if it were a file.
    Text {
        /// What it is called in messages.
        name: String,
        /// The text.
        text: String,
    },
}

impl Default for PolicyChoice {
    fn default() -> Self {
        PolicyChoice::Profile(ProfileName::Default)
    }
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
    /// Small files that are put into the private workspace, by their path in it.
    pub files: BTreeMap<PathBuf, Vec<u8>>,
    /// Further mounts.
    pub mounts: Vec<Mount>,
    /// Named volumes, kept between runs.
    pub volumes: Vec<VolumeMount>,
    /// A directory that appears read-only as `/deps`.
    pub deps: Option<PathBuf>,
    /// A directory, or an archive that is unpacked, that appears read-only as `/candidate`.
    pub candidate: Option<PathBuf>,
    /// What appears read-only below `/datasets`.
    pub datasets: Vec<Dataset>,
    /// What a worktree's git directory is mounted as; absent, as the policy says.
    pub git: Option<GitAccess>,
    /// Limits that differ from the defaults.
    pub limits: LimitOverrides,
    /// The network; absent, as the policy says.
    pub network: Option<NetMode>,
    /// Hosts that can be reached beside those of the policy. With none of them and no network
    /// named, the policy alone decides.
    pub allow: Vec<HostPattern>,
    /// Whether names are answered; absent, as the policy says.
    pub dns: Option<bool>,
    /// The policy that it must obey.
    pub policy: PolicyChoice,
    /// A policy of the request's own, on top of that one and as far as its ceiling allows.
    pub overrides: Option<PolicyText>,
    /// How the caller speaks, so that refusals name what was said.
    pub spoken: Spoken,
    /// What somebody asks for through the caller: a model, a stranger. It is laid on top of
    /// everything else, tightens freely, and loosens only below a ceiling that somebody has set.
    pub guest: Option<PolicyText>,
    /// Whether the ledger is to be left out, as far as the policy allows that.
    pub unrecorded: bool,
    /// The backend that must run it; absent, as the sandbox is configured.
    pub backend: Option<BackendChoice>,
    /// The image of the box; absent, the one of the language. Only for backends with images.
    pub image: Option<String>,
    /// The runtime that an engine is to use, such as `runsc`; absent, its default.
    pub runtime: Option<String>,
}

impl Request {
    fn new(program: Program) -> Request {
        Request {
            program,
            stdin: StdinSource::Empty,
            env: BTreeMap::new(),
            workspace: None,
            files: BTreeMap::new(),
            mounts: Vec::new(),
            volumes: Vec::new(),
            deps: None,
            candidate: None,
            datasets: Vec::new(),
            git: None,
            limits: LimitOverrides::default(),
            network: None,
            allow: Vec::new(),
            dns: None,
            policy: PolicyChoice::default(),
            overrides: None,
            spoken: Spoken::default(),
            guest: None,
            unrecorded: false,
            backend: None,
            image: None,
            runtime: None,
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

    /// A request to run a program of fumehood's own in a box.
    pub fn helper<S: Into<String>>(helper: Helper, args: impl IntoIterator<Item = S>) -> Request {
        let args = args.into_iter().map(Into::into).collect();
        Request::new(Program::Helper { helper, args })
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
        self.workspace = Some(Workspace { directory: directory.into(), mode: Some(mode) });
        self
    }

    /// A small file that is put into the private workspace.
    #[must_use]
    pub fn file(mut self, path: impl Into<PathBuf>, content: impl Into<Vec<u8>>) -> Request {
        self.files.insert(path.into(), content.into());
        self
    }

    /// The policy that it must obey.
    #[must_use]
    pub fn policy(mut self, policy: PolicyChoice) -> Request {
        self.policy = policy;
        self
    }

    /// A further mount.
    #[must_use]
    pub fn mount(mut self, mount: Mount) -> Request {
        self.mounts.push(mount);
        self
    }

    /// A named volume at a place in the box; made when it is first used.
    #[must_use]
    pub fn volume(mut self, name: VolumeName, target: impl Into<PathBuf>) -> Request {
        self.volumes.push(VolumeMount { name, target: target.into() });
        self
    }

    /// The directory that becomes `/deps`.
    #[must_use]
    pub fn deps(mut self, directory: impl Into<PathBuf>) -> Request {
        self.deps = Some(directory.into());
        self
    }

    /// The directory or archive that becomes `/candidate`.
    #[must_use]
    pub fn candidate(mut self, path: impl Into<PathBuf>) -> Request {
        self.candidate = Some(path.into());
        self
    }

    /// A data set, below `/datasets`.
    #[must_use]
    pub fn dataset(mut self, dataset: Dataset) -> Request {
        self.datasets.push(dataset);
        self
    }

    /// What a worktree's git directory is mounted as.
    #[must_use]
    pub fn git(mut self, access: GitAccess) -> Request {
        self.git = Some(access);
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
    pub fn backend(mut self, backend: impl Into<BackendChoice>) -> Request {
        self.backend = Some(backend.into());
        self
    }

    /// The image of the box.
    #[must_use]
    pub fn image(mut self, image: impl Into<String>) -> Request {
        self.image = Some(image.into());
        self
    }

    /// The runtime that an engine is to use.
    #[must_use]
    pub fn runtime(mut self, runtime: impl Into<String>) -> Request {
        self.runtime = Some(runtime.into());
        self
    }

    /// The network of the box.
    #[must_use]
    pub fn network(mut self, network: impl Into<NetMode>) -> Request {
        self.network = Some(network.into());
        self
    }

    /// A host that can be reached, as far as the policy allows that.
    #[must_use]
    pub fn allow(mut self, host: HostPattern) -> Request {
        self.allow.push(host);
        self
    }
}

impl From<Network> for NetMode {
    fn from(network: Network) -> NetMode {
        match network {
            Network::None => NetMode::None,
            Network::Localhost => NetMode::Localhost,
        }
    }
}
