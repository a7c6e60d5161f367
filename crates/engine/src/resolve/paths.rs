//! Paths that a caller names: they must be there, and they must not undo the box.

use std::{
    env, fs, io,
    path::{Component, Path, PathBuf},
};

use crate::{BackendName, Error, Mount, MountSource};

/// Where dependencies are in a box.
pub(super) const DEPS: &str = "/deps";
/// Where a candidate is in a box.
pub(super) const CANDIDATE: &str = "/candidate";
/// Where data sets are in a box, each under its name.
pub(super) const DATASETS: &str = "/datasets";

/// Places in a box that are the box's own.
const RESERVED: &[&str] = &[
    "/proc",
    "/dev",
    "/sys",
    "/etc",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/fumehood",
    "/program",
    "/code",
];

/// The real path of a workspace.
pub(super) fn workspace(directory: &Path) -> Result<PathBuf, Error> {
    let refused = |reason: &str| Error::Path {
        what: "the workspace",
        path: directory.to_owned(),
        reason: reason.to_owned(),
    };
    let real = fs::canonicalize(directory).map_err(|error| refused(&plain(&error)))?;
    if !real.is_dir() {
        return Err(refused("it is not a directory"));
    }
    if real == Path::new("/") {
        return Err(refused("it is the whole machine; use a project directory"));
    }
    let home = env::var_os("HOME").and_then(|home| fs::canonicalize(home).ok());
    if home.is_some_and(|home| home.starts_with(&real)) {
        return Err(refused("your home directory is in it; use a project directory"));
    }
    Ok(real)
}

/// A mount with the real path of its source, if both ends are allowed.
pub(super) fn mount(mount: &Mount) -> Result<Mount, Error> {
    let target = target(&mount.target)?;
    let source = match &mount.source {
        MountSource::Scratch => MountSource::Scratch,
        MountSource::Overlay { lower } => {
            return Err(Error::Path {
                what: "the overlay of",
                path: lower.clone(),
                reason: "only the workspace can be an overlay".into(),
            });
        }
        MountSource::Host(path) => MountSource::Host(real("the mount source", path)?),
    };
    Ok(Mount { target, source, ..mount.clone() })
}

/// The real path of something that must be there.
pub(super) fn real(what: &'static str, path: &Path) -> Result<PathBuf, Error> {
    fs::canonicalize(path).map_err(|error| Error::Path {
        what,
        path: path.to_owned(),
        reason: plain(&error),
    })
}

/// The refusal of a backend that has no mounts.
pub(super) fn cannot_mount(backend: BackendName) -> Error {
    Error::Unavailable {
        backend,
        reason: "it cannot mount anything".into(),
        remedy: "leave out --mount, --volume, --deps, --candidate and --dataset, \
                 or use the native backend"
            .into(),
    }
}

/// A place in a box that a caller may have, written plainly.
pub(super) fn target(target: &Path) -> Result<PathBuf, Error> {
    let refused = |reason| Error::MountTarget { target: target.to_owned(), reason };
    if !target.is_absolute() {
        return Err(refused("it is not absolute"));
    }
    let mut clean = PathBuf::from("/");
    for component in target.components() {
        match component {
            Component::RootDir => {}
            Component::Normal(name) => clean.push(name),
            _ => return Err(refused("it has `..` in it")),
        }
    }
    if clean == Path::new("/") || RESERVED.iter().any(|reserved| clean.starts_with(reserved)) {
        return Err(refused("that place is the box's own"));
    }
    if [DEPS, CANDIDATE, DATASETS].iter().any(|given| clean.starts_with(given)) {
        return Err(refused("use --deps, --candidate or --dataset for that place"));
    }
    Ok(clean)
}

/// The reason without the error number, which helps nobody here.
fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_that_would_undo_the_box_are_refused() {
        for bad in ["data", "/", "//", "/proc/x", "/usr/lib", "/a/../etc", "/etc/passwd", "/code"] {
            assert!(target(Path::new(bad)).is_err(), "{bad}");
        }
        for given in ["/deps", "/candidate/x", "/datasets/iris"] {
            let message = target(Path::new(given)).unwrap_err().to_string();
            assert!(message.contains("--dataset"), "{message}");
        }
        assert_eq!(target(Path::new("//data//x/")).unwrap(), Path::new("/data/x"));
        assert!(target(Path::new("/workspace/sub")).is_ok());
    }

    #[test]
    fn the_whole_machine_is_no_workspace() {
        assert!(workspace(Path::new("/")).is_err());
        assert!(workspace(Path::new("/definitely/not/there")).is_err());
        assert!(workspace(Path::new("/etc/hostname")).is_err());
    }
}
