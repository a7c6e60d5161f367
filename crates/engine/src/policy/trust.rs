//! What a policy may say that was found and not named. It comes with the code, and the code may be a
//! stranger's: it must not reach for what lies outside of its own directory.

use std::{
    fs,
    path::{Component, Path},
};

use fumehood_core::{policy::Document, source::Origin};

use super::PolicyError;

/// Refuses a document that mounts something from outside of its directory.
pub(super) fn check(document: &Document, directory: &Path) -> Result<(), PolicyError> {
    let fs = &document.fs;
    let mounts = fs.mounts.iter().map(|mount| (&mount.value.source, &mount.origin));
    let single = [&fs.deps, &fs.candidate].into_iter().flatten();
    let given = single.chain(fs.datasets.values()).map(|path| (&path.value, &path.origin));
    for (path, origin) in mounts.chain(given) {
        if !is_inside(path, directory) {
            return Err(reaches(path, origin));
        }
    }
    Ok(())
}

fn is_inside(path: &Path, directory: &Path) -> bool {
    match (fs::canonicalize(path), fs::canonicalize(directory)) {
        (Ok(path), Ok(directory)) => path.starts_with(directory),
        // What is not there is refused later, with a better reason, unless it hides where it leads.
        _ => path.starts_with(directory) && !path.components().any(|c| c == Component::ParentDir),
    }
}

fn reaches(path: &Path, origin: &Origin) -> PolicyError {
    PolicyError::Reaches { path: path.to_owned(), origin: origin.to_string() }
}
