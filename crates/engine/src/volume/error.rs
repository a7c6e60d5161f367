//! Why a volume could not be used, listed or removed.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::VolumeName;

/// Why a volume could not be used, listed or removed.
#[derive(Debug, thiserror::Error)]
pub enum VolumeError {
    /// Nothing says where volumes are.
    #[error("there is no place for volumes (HOME is not set): set FUMEHOOD_STATE_DIR")]
    NoPlace,
    /// A directory of the volumes' own could not be used.
    #[error("{} could not be {verb} ({reason}): check its permissions and free space, or set FUMEHOOD_STATE_DIR", path.display())]
    Storage {
        /// What was attempted.
        verb: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// A run uses the volume.
    #[error("the volume {name} is in use: wait for the run to end, or end it, and try again")]
    InUse {
        /// The volume.
        name: VolumeName,
    },
    /// There is no such volume.
    #[error("there is no volume {name}{}: `fumehood volume ls` lists them", meant(.nearest))]
    Unknown {
        /// What was asked for.
        name: VolumeName,
        /// What was probably meant.
        nearest: Option<String>,
    },
}

fn meant(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

pub(super) fn storage(verb: &'static str, path: &Path, error: &io::Error) -> VolumeError {
    VolumeError::Storage { verb, path: path.to_owned(), reason: error.to_string() }
}
