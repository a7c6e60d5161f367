//! Where overlays are kept: below the state directory, closed to everybody else.

use std::{
    env, fs,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

use super::{
    error::{OverlayError, Reason},
    record::errno,
};
use crate::places::Directory;

/// The state directory: the one given, else `FUMEHOOD_STATE_DIR`, `XDG_STATE_HOME/fumehood` or
/// `~/.local/state/fumehood`.
pub(crate) fn state_dir(given: Option<&Path>) -> Result<PathBuf, OverlayError> {
    given
        .map(Path::to_owned)
        .or_else(|| Directory::State.find(|name| env::var_os(name)))
        .ok_or(OverlayError::NoStateDirectory)
}

/// The directory of all overlays in a state directory.
pub(super) fn overlays(state: &Path) -> PathBuf {
    state.join("overlays")
}

/// Makes the directory of all overlays if it is not there. The path that is given back has no
/// symbolic link in it, and nobody else can write to the directory.
pub(super) fn make(state: &Path) -> Result<PathBuf, OverlayError> {
    let path = overlays(state);
    let failed = |verb| {
        let path = path.clone();
        move |error: std::io::Error| OverlayError::Storage {
            verb,
            path,
            reason: Reason(errno(&error)),
        }
    };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&path).map_err(failed("created"))?;
    let real = fs::canonicalize(&path).map_err(failed("found"))?;
    check(&real)?;
    Ok(real)
}

/// Whether the directory of all overlays can be trusted.
pub(super) fn check(path: &Path) -> Result<(), OverlayError> {
    let unsafe_because =
        |reason| OverlayError::UnsafeStateDirectory { path: path.to_owned(), reason };
    let found = fs::symlink_metadata(path).map_err(|error| OverlayError::Storage {
        verb: "found",
        path: path.to_owned(),
        reason: Reason(errno(&error)),
    })?;
    if !found.is_dir() {
        return Err(unsafe_because("it is not a directory"));
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(unsafe_because("it belongs to another user"));
    }
    if found.mode() & 0o022 != 0 {
        return Err(unsafe_because("others may write to it"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn overlays_are_closed_to_others() {
        let home = tempfile::tempdir().unwrap();
        let path = make(&home.path().join("a/b")).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(
            make(&home.path().join("a/b")),
            Err(OverlayError::UnsafeStateDirectory { .. })
        ));
    }
}
