//! Request and machine, resolved: every mount, limit and variable. Nothing after this decides.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use serde::{Deserialize, Serialize};

use crate::{
    Bytes, Digest, Layer, Limits, VolumeName, config::BackendChoice, egress::Egress,
    ledger::Recording, nearest,
};

/// Something that opens boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackendName {
    /// Linux's own isolation.
    Native,
    /// A container of Docker.
    Docker,
    /// A container of Podman.
    Podman,
    /// No isolation at all; only when asked for.
    Local,
}

impl BackendName {
    /// Every backend.
    pub const ALL: &'static [BackendName] =
        &[BackendName::Native, BackendName::Docker, BackendName::Podman, BackendName::Local];

    /// The name used on the command line and in outcomes.
    pub fn name(self) -> &'static str {
        match self {
            BackendName::Native => "native",
            BackendName::Docker => "docker",
            BackendName::Podman => "podman",
            BackendName::Local => "local",
        }
    }

    /// True for backends whose boxes are containers made from images.
    pub fn uses_images(self) -> bool {
        matches!(self, BackendName::Docker | BackendName::Podman)
    }
}

impl fmt::Display for BackendName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A backend name that is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown backend `{given}`; the backends are {}{}", words.join(", "), hint(.given, .words))]
pub struct UnknownBackend {
    /// The name as given.
    pub given: String,
    /// The names that are known there.
    pub words: &'static [&'static str],
}

fn hint(given: &str, words: &[&'static str]) -> String {
    match nearest(given, words.iter().copied()).first() {
        Some(name) => format!(" (did you mean `{name}`?)"),
        None => String::new(),
    }
}

impl FromStr for BackendName {
    type Err = UnknownBackend;

    fn from_str(given: &str) -> Result<Self, UnknownBackend> {
        BackendName::ALL
            .iter()
            .copied()
            .find(|backend| backend.name() == given)
            .ok_or_else(|| UnknownBackend { given: given.to_owned(), words: BackendChoice::NAMES })
    }
}

/// Whether a mounted place can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Read and execute.
    ReadOnly,
    /// Read, execute and write; new files belong to the caller.
    ReadWrite,
}

/// Where a mount's content comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MountSource {
    /// A file or directory of the host. The path has no symbolic links in it.
    Host(PathBuf),
    /// The box's own writable space, bounded by the disk limit.
    Scratch,
    /// A directory of the host that stays as it is: what the program changes is kept beside it.
    /// Where is not part of the plan.
    Overlay {
        /// The directory. The path has no symbolic links in it.
        lower: PathBuf,
    },
}

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// The path inside the box.
    pub target: PathBuf,
    /// What is there.
    pub source: MountSource,
    /// How.
    pub access: Access,
    /// Whether what belongs to the caller belongs to the program inside. Off for what belongs to
    /// the system.
    pub owned: bool,
}

impl Mount {
    /// A host path mounted read-only.
    pub fn read_only(source: impl Into<PathBuf>, target: impl Into<PathBuf>) -> Mount {
        Mount {
            target: target.into(),
            source: MountSource::Host(source.into()),
            access: Access::ReadOnly,
            owned: true,
        }
    }

    /// A part of the system, read-only at its own path.
    pub fn system(path: impl Into<PathBuf>) -> Mount {
        let path = path.into();
        Mount {
            target: path.clone(),
            source: MountSource::Host(path),
            access: Access::ReadOnly,
            owned: false,
        }
    }

    /// Private writable space.
    pub fn scratch(target: impl Into<PathBuf>) -> Mount {
        Mount {
            target: target.into(),
            source: MountSource::Scratch,
            access: Access::ReadWrite,
            owned: true,
        }
    }

    /// A host directory that the program sees as a copy of its own.
    pub fn overlay(lower: impl Into<PathBuf>, target: impl Into<PathBuf>) -> Mount {
        Mount {
            target: target.into(),
            source: MountSource::Overlay { lower: lower.into() },
            access: Access::ReadWrite,
            owned: true,
        }
    }

    /// A host path mounted writable.
    pub fn read_write(source: impl Into<PathBuf>, target: impl Into<PathBuf>) -> Mount {
        Mount {
            target: target.into(),
            source: MountSource::Host(source.into()),
            access: Access::ReadWrite,
            owned: true,
        }
    }
}

/// The network of a box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// None at all.
    #[default]
    None,
    /// The box's own loopback: servers and clients inside the box reach each other.
    Localhost,
}

/// Who the program is inside its box.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The user inside.
    pub uid: u32,
    /// The group inside.
    pub gid: u32,
}

/// A small file that is put into a box before the program starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedFile {
    /// Where.
    pub path: PathBuf,
    /// Permission bits.
    pub mode: u32,
    /// What is in it.
    #[serde(skip)]
    pub content: Vec<u8>,
    /// Digest of what is in it.
    pub digest: Digest,
}

impl PlannedFile {
    /// A file with this content.
    pub fn new(path: impl Into<PathBuf>, mode: u32, content: Vec<u8>) -> PlannedFile {
        let digest = Digest::of(&content);
        PlannedFile { path: path.into(), mode, content, digest }
    }
}

/// A program with its arguments, variables and directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Program and arguments. The program is looked up in the `PATH` of `env`, inside the box.
    pub argv: Vec<String>,
    /// The whole environment.
    pub env: BTreeMap<String, String>,
    /// The working directory inside the box.
    pub cwd: PathBuf,
}

/// A symbolic link in the root of a box.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Where.
    pub path: PathBuf,
    /// What it points to.
    pub target: PathBuf,
}

/// The container that a box is, for backends whose boxes are containers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Container {
    /// The image whose content is the root of the box.
    pub image: String,
    /// The runtime that the engine is to use, such as `runsc`; absent, its default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// Further directories in memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tmpfs: Vec<Tmpfs>,
}

/// A directory in memory with a size of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tmpfs {
    /// Where it is in the box.
    pub path: PathBuf,
    /// How much fits.
    pub size: Bytes,
}

/// One box and the program in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoxPlan {
    /// The container, where the box is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
    /// Everything that is in the box besides its own /proc, /dev and /tmp, in mount order.
    pub mounts: Vec<Mount>,
    /// Symbolic links of the root, as the host has them.
    pub links: Vec<Link>,
    /// Small files, written before the program starts.
    pub files: Vec<PlannedFile>,
    /// Paths in the box that are hidden: what is there cannot be read, and nothing can take its
    /// place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masked: Vec<PathBuf>,
    /// Paths in the box that stay as they are, although what they are in can be written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protected: Vec<PathBuf>,
    /// What is run.
    pub command: Command,
    /// Who runs it.
    pub identity: Identity,
    /// What it may use.
    pub limits: Limits,
    /// Its network.
    pub network: Network,
    /// What its gate lends it connections to, if it has a gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub egress: Option<Egress>,
    /// Layers that must hold in full, or nothing is run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<Layer>,
    /// Layers left out. Only tests of the layers set this.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<Layer>,
}

impl BoxPlan {
    /// A box with nothing in it but its own /proc, /dev and /tmp.
    pub fn new(command: Command, identity: Identity, limits: Limits) -> BoxPlan {
        BoxPlan {
            container: None,
            mounts: Vec::new(),
            links: Vec::new(),
            files: Vec::new(),
            masked: Vec::new(),
            protected: Vec::new(),
            command,
            identity,
            limits,
            network: Network::None,
            egress: None,
            required: Vec::new(),
            without: Vec::new(),
        }
    }

    /// Where the program sees that copy.
    pub fn overlay_target(&self) -> Option<&Path> {
        let is_overlay = |mount: &&Mount| matches!(mount.source, MountSource::Overlay { .. });
        self.mounts.iter().find(is_overlay).map(|mount| mount.target.as_path())
    }

    /// The directory that the program sees as a copy, if there is one.
    pub fn overlay_lower(&self) -> Option<&Path> {
        self.mounts.iter().find_map(|mount| match &mount.source {
            MountSource::Overlay { lower } => Some(lower.as_path()),
            MountSource::Host(_) | MountSource::Scratch => None,
        })
    }
}

/// What a toolchain needs once before its first compilation: a directory that a trusted source of
/// ours fills, and that compilations then share read-only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedPrepare {
    /// The box that fills it.
    pub in_box: BoxPlan,
    /// Where that box has the directory.
    pub target: PathBuf,
    /// The directory of the host that keeps it.
    pub store: PathBuf,
}

/// A compile step: a box whose outputs are kept under a key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedCompile {
    /// The box that compiles.
    pub in_box: BoxPlan,
    /// Paths of the results inside that box.
    pub outputs: Vec<PathBuf>,
    /// Names the result: a digest of source, toolchain and flags.
    pub key: Digest,
    /// The directory of the host that holds the result.
    pub store: PathBuf,
}

/// Something that the request might lead one to expect and that the plan leaves out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// What the workspace's `.git` file names is not mounted.
    GitLeftOut {
        /// What the file names, as far as it could be read.
        named: String,
        /// Why it is not mounted.
        reason: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::GitLeftOut { named, reason } => write!(
                f,
                "git will not work in the box: {} is not mounted ({reason})",
                crate::escape_controls(named)
            ),
        }
    }
}

/// Everything that will be done for one request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The backend that carries it out.
    pub backend: BackendName,
    /// Digest of the policy it obeys.
    pub policy: Option<Digest>,
    /// What the toolchain needs once, if anything.
    pub prepare: Option<PlannedPrepare>,
    /// The compile step, if the language has one.
    pub compile: Option<PlannedCompile>,
    /// The run itself.
    pub run: BoxPlan,
    /// Named volumes that it uses; they cannot be removed meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volumes: Vec<VolumeName>,
    /// What was left out, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// What the ledger gets of it.
    pub record: PlannedRecord,
}

/// What the ledger gets of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedRecord {
    /// Whether it gets anything.
    pub wanted: bool,
    /// Whether nothing is run where it cannot be written.
    pub required: bool,
    /// What of the request is recorded as it is.
    pub as_it_is: Recording,
}

impl Default for PlannedRecord {
    fn default() -> Self {
        PlannedRecord { wanted: true, required: false, as_it_is: Recording::default() }
    }
}

impl Plan {
    /// A plan of one box and nothing before it.
    pub fn new(backend: BackendName, run: BoxPlan) -> Plan {
        Plan {
            backend,
            policy: None,
            prepare: None,
            compile: None,
            run,
            volumes: Vec::new(),
            notes: Vec::new(),
            record: PlannedRecord::default(),
        }
    }

    /// The digest of the plan's canonical form.
    pub fn digest(&self) -> Digest {
        // Plans hold only strings, numbers and lists, which always serialize.
        Digest::of(&serde_json::to_vec(self).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_backend_is_found_by_its_name_and_named_in_the_refusal() {
        for backend in BackendName::ALL {
            assert_eq!(backend.name().parse(), Ok(*backend));
        }
        let refusal = "podmn".parse::<BackendName>().unwrap_err().to_string();
        assert_eq!(
            refusal,
            "unknown backend `podmn`; the backends are native, docker, podman, local (did you mean `podman`?)"
        );
    }
}
