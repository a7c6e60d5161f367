//! Every setting with its type, its default and the place it came from.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, LazyLock},
};

use super::{
    BackendChoice, EngineHost, EngineNetwork, Fallback, ImageName, LanguageName, RuntimeName,
    Tmpfs, VariableName, Volume,
    names::{AbsolutePath, VariableValue},
    written::Count,
};
use crate::{
    BackendName, Bytes, Cores, LimitOverrides, TimeSpan, policy::ProfileName, source::Origin,
};

/// What stands for a place where nobody said anything.
static DEFAULT: LazyLock<Arc<str>> = LazyLock::new(|| Arc::from("default"));

/// A value and where it came from: a line of a file, a variable, a flag, or nowhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Configured<T> {
    /// The value.
    pub value: T,
    /// Where it came from.
    pub origin: Origin,
}

impl<T> Configured<T> {
    /// A value that nobody chose.
    fn preset(value: T) -> Configured<T> {
        Configured { value, origin: Origin { name: Arc::clone(&DEFAULT), place: None } }
    }

    /// True if nobody chose it.
    pub fn is_default(&self) -> bool {
        is_default(&self.origin)
    }
}

/// True for the origin of values that nobody chose.
pub(super) fn is_default(origin: &Origin) -> bool {
    origin.place.is_none() && origin.name == *DEFAULT
}

impl<T: Default> Default for Configured<T> {
    fn default() -> Self {
        Configured::preset(T::default())
    }
}

/// The whole configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// What carries out runs.
    pub executor: ExecutorSettings,
    /// Limits where neither the policy nor the caller sets one.
    pub limits: LimitSettings,
    /// Docker.
    pub docker: EngineSettings,
    /// Podman.
    pub podman: EngineSettings,
    /// The record of outcomes.
    pub ledger: LedgerSettings,
    /// Policies.
    pub policy: PolicySettings,
    /// Images by language.
    pub images: Configured<BTreeMap<LanguageName, ImageName>>,
}

/// What carries out runs.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutorSettings {
    /// Which one.
    pub kind: Configured<BackendChoice>,
    /// Which are tried, in which order.
    pub order: Configured<Vec<BackendName>>,
    /// What is done where none of them works.
    pub fallback: Configured<Fallback>,
}

impl Default for ExecutorSettings {
    fn default() -> Self {
        use BackendName::{Docker, Native, Podman};
        ExecutorSettings {
            kind: Configured::preset(BackendChoice::Auto),
            order: Configured::preset(vec![Native, Podman, Docker]),
            fallback: Configured::preset(Fallback::None),
        }
    }
}

/// Limits; what is absent is left to the policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitSettings {
    /// Memory of all processes together.
    pub memory: Configured<Option<Bytes>>,
    /// Processor cores.
    pub cpus: Configured<Option<Cores>>,
    /// Processes and threads.
    pub pids: Configured<Option<Count>>,
    /// Wall time.
    pub timeout: Configured<Option<TimeSpan>>,
    /// Time between the polite signal and the final one.
    pub grace: Configured<Option<TimeSpan>>,
    /// Standard output and error together.
    pub output: Configured<Option<Bytes>>,
    /// Writable space.
    pub disk: Configured<Option<Bytes>>,
    /// Open files of one process.
    pub open_files: Configured<Option<Count>>,
    /// Size of one file.
    pub file_size: Configured<Option<Bytes>>,
}

impl LimitSettings {
    /// The same as a request has them.
    pub fn overrides(&self) -> LimitOverrides {
        LimitOverrides {
            memory: self.memory.value,
            cpus: self.cpus.value,
            pids: self.pids.value.map(Count::get),
            timeout: self.timeout.value,
            grace: self.grace.value,
            output: self.output.value,
            disk: self.disk.value,
            open_files: self.open_files.value.map(Count::get),
            file_size: self.file_size.value,
        }
    }
}

/// A container engine and its boxes.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineSettings {
    /// Where it listens; absent to look where it usually does.
    pub host: Configured<Option<EngineHost>>,
    /// The image of boxes whose language has none of its own.
    pub image: Configured<Option<ImageName>>,
    /// The OCI runtime; absent for that of the engine.
    pub runtime: Configured<Option<RuntimeName>>,
    /// The network of boxes.
    pub network: Configured<EngineNetwork>,
    /// Whether the image cannot be written.
    pub readonly: Configured<bool>,
    /// Further directories in memory.
    pub tmpfs: Configured<Vec<Tmpfs>>,
    /// Directories of the host.
    pub volumes: Configured<Vec<Volume>>,
    /// Variables.
    pub env: Configured<BTreeMap<VariableName, VariableValue>>,
}

impl Default for EngineSettings {
    fn default() -> Self {
        EngineSettings {
            host: Configured::default(),
            image: Configured::default(),
            runtime: Configured::default(),
            network: Configured::preset(EngineNetwork::None),
            readonly: Configured::preset(true),
            tmpfs: Configured::default(),
            volumes: Configured::default(),
            env: Configured::default(),
        }
    }
}

/// The record of outcomes.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerSettings {
    /// Whether it is kept.
    pub enabled: Configured<bool>,
    /// Where; absent for the state directory.
    pub directory: Configured<Option<AbsolutePath>>,
    /// How large one of its files gets.
    pub rotate_at: Configured<Bytes>,
}

impl LedgerSettings {
    /// Where it is kept, if that was said.
    pub fn directory(&self) -> Option<PathBuf> {
        self.directory.value.as_ref().map(|directory| PathBuf::from(directory.as_str()))
    }
}

impl Default for LedgerSettings {
    fn default() -> Self {
        LedgerSettings {
            enabled: Configured::preset(true),
            directory: Configured::default(),
            rotate_at: Configured::preset(Bytes::mib(64)),
        }
    }
}

/// Policies.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicySettings {
    /// The profile that is used where no policy file says otherwise.
    pub profile: Configured<ProfileName>,
}

impl Default for PolicySettings {
    fn default() -> Self {
        PolicySettings { profile: Configured::preset(ProfileName::Default) }
    }
}
