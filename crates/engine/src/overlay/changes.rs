//! From the upper layer of an overlay to the list of what was changed.
//!
//! The walk keeps its own list of directories to visit, so that a tree of any depth costs neither
//! stack nor open files. It also makes everything in the upper layer readable to its owner, after
//! writing down the permissions that the program gave: the record is what counts from then on.

use std::{collections::HashSet, fs::File, io::Read as _};

use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{AtFlags, Mode, Stat, chmodat, fgetxattr},
    io::Errno,
};

use super::{
    error::{OverlayError, Reason},
    record::{Entry, errno},
    stamp::{Moment, Stamp},
    tree::{
        MOST_PATH, TOP, Tree, join, kind, link_target, names, open_file, order, permissions,
        stat_in,
    },
};
use crate::{Change, ChangeKind, FileKind, FilePath};

/// The most changes that are kept, and the most bytes of all their paths.
pub(super) const MOST_CHANGES: usize = 200_000;
const MOST_PATH_BYTES: usize = 64 << 20;

/// The permissions that count as a change. Those that lend rights are never applied.
const COMPARED: u32 = 0o777;

/// What was found in an upper layer.
pub(super) struct Found {
    /// The changes, in the order of paths: a directory comes right before what is in it.
    pub(super) entries: Vec<Entry>,
    /// The space that they take.
    pub(super) bytes: u64,
}

/// Why the walk could not be finished.
pub(super) enum WalkError {
    /// A file could not be read.
    Unreadable(FilePath, Errno),
    /// There are more changes than can be kept.
    TooMany,
}

impl WalkError {
    pub(super) fn of_overlay(self, id: &str) -> OverlayError {
        match self {
            WalkError::Unreadable(path, errno) => {
                OverlayError::Unreadable { path, reason: Reason(errno) }
            }
            WalkError::TooMany => OverlayError::TooMany { most: MOST_CHANGES, id: id.to_owned() },
        }
    }
}

/// A directory to visit.
struct Visit {
    path: Vec<u8>,
    side: Side,
}

/// In which layers a directory is.
#[derive(Clone, Copy)]
enum Side {
    /// In both. If covered, nothing of the lower one shines through.
    Both { covered: bool },
    /// Only in the upper one: everything in it was added.
    Upper,
    /// Only in the lower one: everything in it was deleted.
    Lower,
}

struct Walk<'a> {
    upper: &'a Tree,
    lower: &'a Tree,
    /// When the overlay was made.
    opened: Moment,
    found: Found,
    path_bytes: usize,
    waiting: Vec<Visit>,
}

/// Compares the layers. `top` is the upper layer's own directory as the program left it.
pub(super) fn find(
    upper: &Tree,
    lower: &Tree,
    top: &Stat,
    opened: Moment,
) -> Result<Found, WalkError> {
    let found = Found { entries: Vec::new(), bytes: 0 };
    let mut walk = Walk { upper, lower, opened, found, path_bytes: 0, waiting: Vec::new() };
    let before = stat_in(lower.top(), TOP).map_err(|errno| unreadable(TOP, errno))?;
    walk.compare(upper.top(), lower.top(), TOP, TOP, top, before, false)?;
    while let Some(Visit { path, side }) = walk.waiting.pop() {
        match side {
            Side::Both { covered } => walk.both(&path, covered)?,
            Side::Upper => walk.upper_only(&path)?,
            Side::Lower => walk.lower_only(&path)?,
        }
    }
    walk.found.entries.sort_by(|a, b| order(a.path(), b.path()));
    Ok(walk.found)
}

impl Walk<'_> {
    fn both(&mut self, path: &[u8], covered: bool) -> Result<(), WalkError> {
        let failed = |errno| unreadable(path, errno);
        let upper = self.upper.directory(path).map_err(failed)?;
        let lower = self.lower.directory(path).map_err(failed)?;
        let covered = covered || is_opaque(&upper);
        let mut seen = HashSet::new();
        for name in names(&upper).map_err(failed)? {
            let child = join(path, &name);
            let Some(stat) = stat_in(&upper, &name).map_err(failed)? else { continue };
            let before = stat_in(&lower, &name).map_err(failed)?;
            if is_whiteout(&upper, &name, &stat) {
                if let Some(before) = before {
                    self.deleted(&lower, &name, child, &before)?;
                }
            } else {
                self.compare(&upper, &lower, &name, &child, &stat, before, covered)?;
            }
            seen.insert(name);
        }
        if covered {
            for name in names(&lower).map_err(failed)? {
                if !seen.contains(&name)
                    && let Some(before) = stat_in(&lower, &name).map_err(failed)?
                {
                    self.deleted(&lower, &name, join(path, &name), &before)?;
                }
            }
        }
        Ok(())
    }

    fn upper_only(&mut self, path: &[u8]) -> Result<(), WalkError> {
        let failed = |errno| unreadable(path, errno);
        let upper = self.upper.directory(path).map_err(failed)?;
        for name in names(&upper).map_err(failed)? {
            let Some(stat) = stat_in(&upper, &name).map_err(failed)? else { continue };
            if !is_whiteout(&upper, &name, &stat) {
                self.added(&upper, &name, join(path, &name), &stat)?;
            }
        }
        Ok(())
    }

    fn lower_only(&mut self, path: &[u8]) -> Result<(), WalkError> {
        let failed = |errno| unreadable(path, errno);
        let lower = self.lower.directory(path).map_err(failed)?;
        for name in names(&lower).map_err(failed)? {
            if let Some(before) = stat_in(&lower, &name).map_err(failed)? {
                self.deleted(&lower, &name, join(path, &name), &before)?;
            }
        }
        Ok(())
    }

    /// A file of the upper layer that may have been there before.
    #[allow(clippy::too_many_arguments, reason = "both layers of one file, and where it is")]
    fn compare(
        &mut self,
        upper: &OwnedFd,
        lower: &OwnedFd,
        name: &[u8],
        path: &[u8],
        stat: &Stat,
        before: Option<Stat>,
        covered: bool,
    ) -> Result<(), WalkError> {
        let Some(before) = before else {
            return self.added(upper, name, path.to_vec(), stat);
        };
        self.count(stat);
        self.make_readable(upper, name, path, stat)?;
        let (now, then) = (kind(stat), kind(&before));
        let same_mode = now == FileKind::Symlink
            || permissions(stat) & COMPARED == permissions(&before) & COMPARED;
        let same = now == then
            && same_mode
            && match now {
                FileKind::Directory => true,
                FileKind::File => {
                    stat.st_size == before.st_size && same_content(upper, lower, name)
                }
                FileKind::Symlink => link_target(upper, name).ok() == link_target(lower, name).ok(),
                FileKind::Special => stat.st_rdev == before.st_rdev,
            };
        if !same {
            let kind = if now == then { ChangeKind::Modified } else { ChangeKind::TypeChanged };
            let stamp = Stamp::take(lower, name, &before);
            self.add(change(path.to_vec(), kind, stat), Some(stamp))?;
        }
        match (now, then) {
            (FileKind::Directory, FileKind::Directory) => self.visit(path, Side::Both { covered }),
            (FileKind::Directory, _) => self.visit(path, Side::Upper),
            (_, FileKind::Directory) => self.visit(path, Side::Lower),
            _ => {}
        }
        Ok(())
    }

    fn added(
        &mut self,
        upper: &OwnedFd,
        name: &[u8],
        path: Vec<u8>,
        stat: &Stat,
    ) -> Result<(), WalkError> {
        self.count(stat);
        self.make_readable(upper, name, &path, stat)?;
        if kind(stat) == FileKind::Directory {
            self.visit(&path, Side::Upper);
        }
        self.add(change(path, ChangeKind::Added, stat), None)
    }

    fn deleted(
        &mut self,
        lower: &OwnedFd,
        name: &[u8],
        path: Vec<u8>,
        before: &Stat,
    ) -> Result<(), WalkError> {
        if kind(before) == FileKind::Directory {
            self.visit(&path, Side::Lower);
        }
        let stamp = Stamp::take(lower, name, before);
        self.add(change(path, ChangeKind::Deleted, before), Some(stamp))
    }

    fn add(&mut self, change: Change, lower: Option<Stamp>) -> Result<(), WalkError> {
        self.path_bytes += change.path.as_bytes().len();
        if self.found.entries.len() >= MOST_CHANGES || self.path_bytes > MOST_PATH_BYTES {
            return Err(WalkError::TooMany);
        }
        let disturbed = lower
            .as_ref()
            .is_some_and(|stamp| stamp.kind != FileKind::Directory && stamp.changed > self.opened);
        self.found.entries.push(Entry { change, lower, disturbed });
        Ok(())
    }

    /// What lies too deep for a path stays out of the list.
    fn visit(&mut self, path: &[u8], side: Side) {
        if path.len() <= MOST_PATH {
            self.waiting.push(Visit { path: path.to_vec(), side });
        }
    }

    fn count(&mut self, stat: &Stat) {
        self.found.bytes += stat.st_blocks as u64 * 512;
    }

    fn make_readable(
        &self,
        upper: &OwnedFd,
        name: &[u8],
        path: &[u8],
        stat: &Stat,
    ) -> Result<(), WalkError> {
        let needed = match kind(stat) {
            FileKind::Directory => 0o700,
            FileKind::File => 0o400,
            FileKind::Symlink | FileKind::Special => return Ok(()),
        };
        let mode = permissions(stat);
        if mode & needed == needed {
            return Ok(());
        }
        // Not a link, and the box is gone: the name means what it meant a moment ago.
        chmodat(upper, name, Mode::from_raw_mode(mode | needed), AtFlags::empty())
            .map_err(|errno| unreadable(path, errno))
    }
}

fn change(path: Vec<u8>, kind: ChangeKind, stat: &Stat) -> Change {
    let file = super::tree::kind(stat);
    let size = if file == FileKind::Directory { 0 } else { stat.st_size as u64 };
    Change { path: FilePath::new(path), kind, file, mode: permissions(stat), size }
}

fn unreadable(path: &[u8], errno: Errno) -> WalkError {
    WalkError::Unreadable(FilePath::new(path), errno)
}

/// How the kernel marks in an upper layer that something of the lower one is gone.
fn is_whiteout(directory: &OwnedFd, name: &[u8], stat: &Stat) -> bool {
    match kind(stat) {
        FileKind::Special => {
            stat.st_rdev == 0
                && rustix::fs::FileType::from_raw_mode(stat.st_mode)
                    == rustix::fs::FileType::CharacterDevice
        }
        FileKind::File if stat.st_size == 0 => open_file(directory, name)
            .is_ok_and(|file| attribute(&file, "overlay.whiteout").is_some()),
        _ => false,
    }
}

/// How the kernel marks that a directory has nothing to do with the lower one of its name.
fn is_opaque(directory: &OwnedFd) -> bool {
    attribute(directory, "overlay.opaque").is_some_and(|value| value == b"y")
}

/// The kernel's note on a file: `user.` in a user namespace, `trusted.` outside of one.
fn attribute(file: &OwnedFd, name: &str) -> Option<Vec<u8>> {
    ["user", "trusted"].iter().find_map(|space| {
        let mut value = [0u8; 16];
        let length = fgetxattr(file, format!("{space}.{name}"), &mut value[..]).ok()?;
        Some(value[..length].to_vec())
    })
}

/// Whether two files of the same length hold the same. One that cannot be read does not.
pub(super) fn same_content(one: impl AsFd, other: impl AsFd, name: &[u8]) -> bool {
    let compare = || -> Result<bool, Errno> {
        let mut one = File::from(open_file(one, name)?);
        let mut other = File::from(open_file(other, name)?);
        let (mut left, mut right) = (vec![0u8; 64 << 10], vec![0u8; 64 << 10]);
        loop {
            let count = one.read(&mut left).map_err(|error| errno(&error))?;
            if count == 0 {
                return Ok(other.read(&mut right[..1]).map_err(|error| errno(&error))? == 0);
            }
            if other.read_exact(&mut right[..count]).is_err() || left[..count] != right[..count] {
                return Ok(false);
            }
        }
    };
    compare().unwrap_or(false)
}
