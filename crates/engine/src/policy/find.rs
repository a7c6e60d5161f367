//! Where policies are: upward from a directory, and in the user's configuration.

use std::{
    env,
    path::{Path, PathBuf},
};

use super::{
    PolicyError,
    read::{is_absence, unreadable},
};
use crate::places::Directory;

/// The name of a project's policy.
pub const FILE_NAME: &str = "sandbox.policy.yaml";

/// Deeper than any directory that people work in.
const MOST_LEVELS: usize = 256;

/// The policy of a project: in this directory, or the nearest one above it that has one.
pub fn find(from: &Path) -> Result<Option<PathBuf>, PolicyError> {
    let from = std::path::absolute(from).map_err(|error| unreadable(from, &error))?;
    for directory in from.ancestors().take(MOST_LEVELS) {
        let path = directory.join(FILE_NAME);
        match path.symlink_metadata() {
            Ok(about) => return trusted(&about, &from, path).map(Some),
            Err(error) if is_absence(&error) => {}
            // A policy that cannot be looked at might forbid what is about to be done.
            Err(error) => return Err(unreadable(&path, &error)),
        }
    }
    Ok(None)
}

/// A file in a shared directory such as /tmp decides nothing for other people. Whoever owns the
/// directory that one works in may.
#[cfg(unix)]
fn trusted(about: &std::fs::Metadata, from: &Path, path: PathBuf) -> Result<PathBuf, PolicyError> {
    use std::os::unix::fs::MetadataExt as _;

    let owner = about.uid();
    let me = rustix::process::geteuid().as_raw();
    let here = || from.metadata().is_ok_and(|directory| directory.uid() == owner);
    if owner == 0 || owner == me || here() { Ok(path) } else { Err(PolicyError::Foreign { path }) }
}

#[cfg(not(unix))]
fn trusted(_: &std::fs::Metadata, _: &Path, path: PathBuf) -> Result<PathBuf, PolicyError> {
    Ok(path)
}

/// The user's own policy, whether it exists or not: in `FUMEHOOD_CONFIG_DIR`, or in `fumehood` of
/// `XDG_CONFIG_HOME`, or of `~/.config`.
pub fn user_file() -> Option<PathBuf> {
    let directory = Directory::Config.find(|name| env::var_os(name))?;
    Some(directory.join("policy.yaml"))
}
