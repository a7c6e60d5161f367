//! Whether the workspace is still what it was, for every path that is to be applied.

use std::collections::{BTreeSet, HashSet};

use rustix::{fd::OwnedFd, fs::Stat, io::Errno};

use super::{
    changes::same_content,
    error::Conflict,
    record::Entry,
    tree::{Tree, join, kind, link_target, names, permissions, split, stat_in},
};
use crate::{ChangeKind, FileKind, FilePath};

/// How a change stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It can be applied.
    Ready,
    /// The workspace is already like that.
    Already,
}

/// Looks at the workspace before anything is written.
pub(super) struct Check<'a> {
    upper: &'a Tree,
    lower: &'a Tree,
    /// Directories that will be made.
    made: HashSet<&'a [u8]>,
    /// Paths that will be deleted.
    deleted: HashSet<&'a [u8]>,
}

impl<'a> Check<'a> {
    pub(super) fn new(
        entries: &'a [Entry],
        chosen: &BTreeSet<usize>,
        upper: &'a Tree,
        lower: &'a Tree,
    ) -> Check<'a> {
        let entries = || chosen.iter().map(|index| &entries[*index]);
        let made = entries().filter(|entry| entry.makes_directory()).map(Entry::path).collect();
        let deleted = entries()
            .filter(|entry| entry.change.kind == ChangeKind::Deleted)
            .map(Entry::path)
            .collect();
        Check { upper, lower, made, deleted }
    }

    /// How one change stands.
    pub(super) fn look(&self, entry: &Entry) -> Result<Standing, (FilePath, Conflict)> {
        let conflict = |conflict| Err((entry.change.path.clone(), conflict));
        let (above, name) = split(entry.path());
        let parent = match self.lower.directory(above) {
            Ok(parent) => parent,
            Err(_) if self.made.contains(above) => return Ok(Standing::Ready),
            Err(Errno::NOENT | Errno::NOTDIR) if entry.change.kind == ChangeKind::Deleted => {
                return Ok(Standing::Already);
            }
            Err(Errno::NOENT | Errno::NOTDIR) => return conflict(Conflict::Vanished),
            Err(_) => return conflict(Conflict::Elsewhere),
        };
        let Ok(now) = stat_in(&parent, name) else { return conflict(Conflict::Elsewhere) };
        match (now, &entry.lower) {
            (None, None) => Ok(Standing::Ready),
            (None, Some(_)) if entry.change.kind == ChangeKind::Deleted => Ok(Standing::Already),
            (None, Some(_)) => conflict(Conflict::Vanished),
            (Some(now), before) => {
                if self.is_already(entry, &parent, name, &now) {
                    return Ok(Standing::Already);
                }
                match before {
                    None => conflict(Conflict::Appeared),
                    Some(_) if entry.disturbed => conflict(Conflict::ChangedMeanwhile),
                    Some(stamp) if !stamp.still_holds(&parent, name, &now) => {
                        conflict(Conflict::Changed)
                    }
                    Some(stamp) if stamp.kind == FileKind::Directory => {
                        self.look_inside(entry).map(|()| Standing::Ready)
                    }
                    Some(_) => Ok(Standing::Ready),
                }
            }
        }
    }

    /// A directory that goes must not hold what nobody knew of.
    fn look_inside(&self, entry: &Entry) -> Result<(), (FilePath, Conflict)> {
        if entry.change.file == FileKind::Directory && entry.change.kind == ChangeKind::Modified {
            return Ok(());
        }
        let inside = self.lower.directory(entry.path()).and_then(names);
        let Ok(inside) = inside else {
            return Err((entry.change.path.clone(), Conflict::Elsewhere));
        };
        for name in inside {
            let path = join(entry.path(), &name);
            if !self.deleted.contains(path.as_slice()) {
                return Err((FilePath::new(path), Conflict::Appeared));
            }
        }
        Ok(())
    }

    /// Whether the workspace has what the program made: somebody applied it before, or made the
    /// same.
    fn is_already(&self, entry: &Entry, parent: &OwnedFd, name: &[u8], now: &Stat) -> bool {
        let change = &entry.change;
        if change.kind == ChangeKind::Deleted || kind(now) != change.file {
            return false;
        }
        let same_mode = permissions(now) & 0o777 == change.mode & 0o777;
        let Ok((above, _)) = self.upper.parent(entry.path()) else { return false };
        match change.file {
            // Its permissions are set anyway.
            FileKind::Directory => same_mode,
            FileKind::File => {
                same_mode && now.st_size as u64 == change.size && same_content(parent, &above, name)
            }
            FileKind::Symlink => link_target(parent, name).ok() == link_target(&above, name).ok(),
            FileKind::Special => false,
        }
    }
}

impl Entry {
    /// Whether a directory is there afterwards that was not there before.
    pub(super) fn makes_directory(&self) -> bool {
        self.change.file == FileKind::Directory
            && matches!(self.change.kind, ChangeKind::Added | ChangeKind::TypeChanged)
    }

    /// Whether a directory goes.
    pub(super) fn ends_directory(&self) -> bool {
        self.lower.as_ref().is_some_and(|stamp| stamp.kind == FileKind::Directory)
            && matches!(self.change.kind, ChangeKind::Deleted | ChangeKind::TypeChanged)
    }
}
