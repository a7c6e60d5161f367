//! Which changes a caller wants to have applied, and which of them are left out.

use std::{
    collections::{BTreeSet, HashSet},
    fmt,
    path::{Component, Path, PathBuf},
};

use super::{
    error::OverlayError,
    guard::{is_guarded, names_guarded},
    record::{Entry, Record},
    tree::{Cover, TOP, above, host_path, is_in},
};
use crate::{ChangeKind, FileKind, FilePath};

/// Why a change was not applied, although nothing is in its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// It can make other programs run something, and was not named.
    Guarded,
    /// It is a device, a pipe or a socket.
    Special,
    /// Its path is longer than the system takes.
    TooDeep,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LeftOut::Guarded => "it can make other programs run something; name it to apply it",
            LeftOut::Special => "a device, pipe or socket cannot be applied",
            LeftOut::TooDeep => "its path is too long to be applied",
        })
    }
}

/// What is to be applied.
pub(super) struct Selection {
    /// Places in the list of changes, in its order.
    pub(super) chosen: BTreeSet<usize>,
    /// What was asked for and is left out.
    pub(super) left_out: Vec<(FilePath, LeftOut)>,
}

/// Chooses everything, or what is at and below these paths with the directories it needs.
pub(super) fn select(record: &Record, paths: &[PathBuf]) -> Result<Selection, OverlayError> {
    let entries = record.entries.as_deref().unwrap_or_default();
    let workspace = host_path(record.lower.as_bytes());
    let mut named = Vec::new();
    for path in paths {
        let inside = in_workspace(path, workspace)?;
        if !entries.iter().any(|entry| is_in(entry.path(), &inside)) {
            return Err(OverlayError::NotChanged { path: path.clone() });
        }
        named.push(inside);
    }
    let asked = |entry: &Entry| named.is_empty() || named.iter().any(|p| is_in(entry.path(), p));
    let wanted: Vec<bool> = entries.iter().map(asked).collect();
    let ended: HashSet<&[u8]> = entries
        .iter()
        .filter(|entry| entry.ends_directory() && asked(entry))
        .map(Entry::path)
        .collect();
    let obstacles: Vec<Option<LeftOut>> =
        entries.iter().map(|entry| obstacle(entry, &named, &ended, &record.guarded)).collect();
    let reasons = reasons(entries, &wanted, &obstacles);
    let mut selection = Selection { chosen: BTreeSet::new(), left_out: Vec::new() };
    let mut staying = Cover::default();
    for (index, entry) in entries.iter().enumerate().filter(|(index, _)| wanted[*index]) {
        let whole = entry.ends_directory() || entry.makes_directory();
        let stays_with = staying.is_below(entry.path(), whole && reasons[index].is_some());
        match reasons[index] {
            None if !stays_with => drop(selection.chosen.insert(index)),
            // Of a directory that stays, what is in it is told only if it is the reason.
            Some(reason) if !stays_with || obstacles[index].is_some() => {
                selection.left_out.push((entry.change.path.clone(), reason));
            }
            _ => {}
        }
    }
    add_directories(entries, &mut selection.chosen);
    Ok(selection)
}

/// Why each of the wanted changes is left out, if it is: for itself, because it would fill a
/// directory that may not be made, or because it ends a directory in which something stays.
fn reasons(
    entries: &[Entry],
    wanted: &[bool],
    obstacles: &[Option<LeftOut>],
) -> Vec<Option<LeftOut>> {
    let mut reasons = vec![None; entries.len()];
    let mut blocked = Cover::default();
    // The directories that end and that the path at hand is in.
    let mut ending: Vec<usize> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let blocks = obstacles[index].is_some() && entry.change.kind == ChangeKind::TypeChanged;
        let is_blocked = blocked.is_below(entry.path(), blocks);
        if !wanted[index] {
            continue;
        }
        while ending.last().is_some_and(|last| !is_in(entry.path(), entries[*last].path())) {
            ending.pop();
        }
        reasons[index] = obstacles[index].or_else(|| is_blocked.then_some(LeftOut::Guarded));
        if reasons[index].is_some() {
            for above in ending.iter().rev() {
                // Those above one that stays are known to stay.
                if reasons[*above].is_some() {
                    break;
                }
                reasons[*above] = reasons[index];
            }
        }
        if entry.ends_directory() {
            ending.push(index);
        }
    }
    reasons
}

/// Why a change is left out, if it is. What is guarded has to be named, or the directory that goes
/// with everything in it.
fn obstacle(
    entry: &Entry,
    named: &[Vec<u8>],
    ended: &HashSet<&[u8]>,
    guarded: &[String],
) -> Option<LeftOut> {
    let allowed = |path: &Vec<u8>| {
        names_guarded(path, entry, guarded)
            || (ended.contains(path.as_slice()) && is_in(entry.path(), path))
    };
    entry.never_applied().or_else(|| {
        (is_guarded(entry, guarded) && !named.iter().any(allowed)).then_some(LeftOut::Guarded)
    })
}

/// Directories that were made for what is chosen.
fn add_directories(entries: &[Entry], chosen: &mut BTreeSet<usize>) {
    let mut needed = HashSet::new();
    for index in chosen.iter() {
        for path in above(entries[*index].path()) {
            // What is above a known directory is known too.
            if !needed.insert(path) {
                break;
            }
        }
    }
    for (index, entry) in entries.iter().enumerate() {
        let made = entry.change.file == FileKind::Directory
            && matches!(entry.change.kind, ChangeKind::Added | ChangeKind::TypeChanged);
        if made && needed.contains(entry.path()) {
            chosen.insert(index);
        }
    }
}

/// A path of the caller, relative to the workspace.
fn in_workspace(path: &Path, workspace: &Path) -> Result<Vec<u8>, OverlayError> {
    let outside = || OverlayError::OutsideWorkspace {
        path: path.to_owned(),
        workspace: workspace.to_owned(),
    };
    let relative = match path.is_absolute() {
        true => path.strip_prefix(workspace).map_err(|_| outside())?,
        false => path,
    };
    let mut clean = PathBuf::new();
    for component in relative.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) => clean.push(name),
            _ => return Err(outside()),
        }
    }
    let clean = clean.into_os_string().into_encoded_bytes();
    Ok(if clean.is_empty() { TOP.to_vec() } else { clean })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_in_the_workspace() {
        let clean = |path: &str| in_workspace(Path::new(path), Path::new("/w"));
        assert_eq!(clean("./a//b/").unwrap(), b"a/b");
        assert_eq!(clean("/w/a").unwrap(), b"a");
        assert_eq!(clean(".").unwrap(), TOP);
        for bad in ["../a", "a/../../b", "/etc", "/wx"] {
            assert!(matches!(clean(bad), Err(OverlayError::OutsideWorkspace { .. })), "{bad}");
        }
    }
}
