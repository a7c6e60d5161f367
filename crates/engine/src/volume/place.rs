//! Where fumehood keeps what must not be forgotten.

use std::{env, path::PathBuf};

use super::VolumeError;
use crate::places::Directory;

/// The state directory: named by `FUMEHOOD_STATE_DIR`, else in `XDG_STATE_HOME`, else in the home
/// directory.
pub(super) fn state_dir() -> Result<PathBuf, VolumeError> {
    Directory::State.find(|name| env::var_os(name)).ok_or(VolumeError::NoPlace)
}
