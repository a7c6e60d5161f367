//! Why a request could not be carried out at all. What happens inside a box is an outcome instead.

use std::path::PathBuf;

use crate::{
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
    /// A mount's place inside the box is not allowed.
    #[error("the mount target {} is not allowed ({reason}): choose an absolute path such as /data", target.display())]
    MountTarget {
        /// The target.
        target: PathBuf,
        /// Why not.
        reason: &'static str,
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
