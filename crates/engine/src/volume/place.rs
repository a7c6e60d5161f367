//! Where fumehood keeps what must not be forgotten.

use std::{env, path::PathBuf};

use super::VolumeError;

/// The state directory: named by `FUMEHOOD_STATE_DIR`, else in `XDG_STATE_HOME`, else in the home
/// directory.
pub(super) fn state_dir() -> Result<PathBuf, VolumeError> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    absolute("FUMEHOOD_STATE_DIR")
        .or_else(|| absolute("XDG_STATE_HOME").map(|state| state.join("fumehood")))
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state/fumehood")))
        .ok_or(VolumeError::NoPlace)
}
