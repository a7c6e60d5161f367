//! Why a request could not be carried out at all. What happens inside a box is an outcome instead.

use std::path::PathBuf;

use crate::{
    ArchiveError, VolumeError,
    language::{ExpandError, UnknownLanguage},
    toolchain::MissingToolchain,
};

/// Why a request could not be carried out. Each message is one sentence with the next step.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The language is not known.
    #[error(transparent)]
    UnknownLanguage(#[from] UnknownLanguage),
    /// No toolchain for the language is installed.
    #[error(transparent)]
    MissingToolchain(#[from] MissingToolchain),
    /// A language's command could not be filled in.
    #[error(transparent)]
    Expand(#[from] ExpandError),
    /// A volume could not be used.
    #[error(transparent)]
    Volume(#[from] VolumeError),
    /// An archive could not be unpacked.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The workspace could not be shown as a copy, or its changes not be kept.
    #[error(transparent)]
    Overlay(#[from] crate::OverlayError),
    /// There is no code to run.
    #[error("the code is empty: give a file, --code TEXT, or code on standard input")]
    EmptyCode,
    /// There is no command to run.
    #[error("the command is empty: name a program, for example `fumehood exec -- ls -l`")]
    EmptyCommand,
    /// A path of the request is not there or not usable.
    #[error("{what} {} cannot be used ({reason}): check the path", path.display())]
    Path {
        /// What the path was for.
        what: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// A file of the request cannot be put into the workspace.
    #[error("the file {} cannot be put into the workspace ({reason}): {remedy}", crate::escape_controls(&path.to_string_lossy()))]
    File {
        /// Its path in the workspace.
        path: PathBuf,
        /// Why not.
        reason: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A mount's place inside the box is not allowed.
    #[error("the mount target {} is not allowed ({reason}): choose an absolute path such as /data", target.display())]
    MountTarget {
        /// The target.
        target: PathBuf,
        /// Why not.
        reason: &'static str,
    },
    /// The policy cannot be read, is wrong, or does not allow what was asked for.
    #[error(transparent)]
    Policy(#[from] crate::policy::PolicyError),
    /// A variable was asked for that the policy denies.
    #[error(
        "the variable {name} is denied by `{rule}` ({origin}): leave it out, or change the policy"
    )]
    DeniedVariable {
        /// The variable.
        name: String,
        /// The rule.
        rule: String,
        /// Where it stands.
        origin: String,
    },
    /// A volume was asked for where the policy lets nothing be mounted that can be written.
    #[error(
        "the volume {name} can be written, and the ceiling for mounts is `{most}` ({origin}): leave it out, or raise the ceiling"
    )]
    VolumeRefused {
        /// The volume.
        name: String,
        /// What may be mounted.
        most: String,
        /// Where the policy says so.
        origin: String,
    },
    /// The run may not go unrecorded.
    #[error(
        "the policy wants every run in the ledger ({origin}): leave out --no-ledger, or change the policy"
    )]
    RecordRequired {
        /// Where the policy says so.
        origin: String,
    },
    /// The run must be recorded, and there is no ledger.
    #[error(
        "the policy wants every run in the ledger, and this sandbox keeps none: give it one with `SandboxBuilder::ledger`, or set `ledger.enabled`"
    )]
    NoLedger,
    /// The ledger cannot be used.
    #[error(transparent)]
    Ledger(std::sync::Arc<crate::ledger::LedgerError>),
    /// The proxy of this machine cannot be used.
    #[error(transparent)]
    Proxy(#[from] fumehood_gate::ProxyError),
    /// More paths are covered than a box can hold.
    #[error(
        "the policy denies or protects {count} paths of what is mounted, and a box can cover {most}: name the directories they are in"
    )]
    TooMuchCovered {
        /// How many there are.
        count: usize,
        /// How many there may be.
        most: usize,
    },
    /// A string holds a NUL or is too long to be passed to a program.
    #[error("{what} cannot be passed to a program ({reason}): shorten or clean it")]
    Unpassable {
        /// Which part of the request.
        what: &'static str,
        /// Why not.
        reason: &'static str,
    },
    /// A file of fumehood's own could not be read or written.
    #[error("{} could not be {verb} ({reason}): check its permissions and free space, or set FUMEHOOD_CACHE_DIR", path.display())]
    Storage {
        /// What was attempted.
        verb: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// Nothing says where fumehood's own files are.
    #[error(
        "nobody knows where {what} is kept, since HOME is not set: set {variable} to an absolute path"
    )]
    NoPlace {
        /// What is kept there.
        what: &'static str,
        /// The variable that would say so.
        variable: &'static str,
    },
    /// The box could not be built.
    #[error(
        "the box could not be built: {step} failed ({reason}); `fumehood doctor` shows what this machine lacks"
    )]
    Setup {
        /// The step that failed.
        step: String,
        /// The system's reason.
        reason: String,
    },
    /// The policy requires a layer that cannot be had.
    #[error(
        "the policy requires the layer `{layer}`, which does not hold in full here ({detail}): nothing was run; `fumehood doctor` says what to do about it"
    )]
    NotEnforced {
        /// The layer.
        layer: crate::Layer,
        /// What holds instead.
        detail: String,
    },
    /// A container engine cannot open the box.
    #[error("the {backend} backend cannot be used here ({problem}): {}", problem.remedy())]
    Engine {
        /// Which backend.
        backend: crate::BackendName,
        /// Why not.
        problem: crate::EngineProblem,
    },
    /// None of several backends can serve the request.
    #[error("{first}{}", after(.others))]
    NoBackend {
        /// Why the first cannot.
        first: Box<Error>,
        /// Why those after it cannot.
        others: Vec<crate::PassedOver>,
    },
    /// There is no backend to try.
    #[error(
        "executor.order is empty, so there is nothing to run it with: name at least one backend there, for example native"
    )]
    NothingToTry,
    /// The backend cannot be used on this machine.
    #[error("the {backend} backend cannot be used here ({reason}): {remedy}")]
    Unavailable {
        /// Which backend.
        backend: crate::BackendName,
        /// Why not.
        reason: String,
        /// What to do.
        remedy: String,
    },
}

fn after(others: &[crate::PassedOver]) -> String {
    others.iter().map(|other| format!("; {other}")).collect()
}

impl Error {
    /// True where another backend may serve the same request.
    pub(crate) fn is_of_the_backend(&self) -> bool {
        matches!(
            self,
            Error::MissingToolchain(_)
                | Error::Setup { .. }
                | Error::NotEnforced { .. }
                | Error::Engine { .. }
                | Error::Unavailable { .. }
        )
    }

    /// What is wrong, without what to do about it.
    pub(crate) fn brief(&self) -> String {
        match self {
            Error::Engine { problem, .. } => problem.to_string(),
            Error::Unavailable { reason, .. } => reason.clone(),
            _ => self.to_string(),
        }
    }

    /// The error for a request that no backend can serve.
    pub(crate) fn no_backend(failed: Vec<(crate::BackendName, Error)>) -> Error {
        let mut failed = failed.into_iter();
        let Some((_, first)) = failed.next() else { return Error::NothingToTry };
        let others = failed
            .map(|(backend, error)| crate::PassedOver { backend, reason: error.brief() })
            .collect();
        Error::NoBackend { first: Box::new(first), others }
    }
}
