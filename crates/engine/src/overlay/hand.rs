//! The hand that writes to the workspace. It knows directories by descriptor and files by their
//! plain name in one, so that no link that was put there can lead it elsewhere.

use std::{
    fs::File,
    io::{self, Read as _},
};

use rustix::{
    fd::OwnedFd,
    fs::{
        AtFlags, Gid, Mode, OFlags, RenameFlags, SeekFrom, Stat, Uid, chownat, fchmod, fchown,
        fstat, ftruncate, mkdirat, openat, renameat, renameat_with, seek, symlinkat, unlinkat,
    },
    io::Errno,
};

use super::{
    apply::Step,
    record::{Entry, errno},
    tree::{Tree, kind, link_target, open_directory, open_file, permissions, stat_in},
};
use crate::{ChangeKind, FileKind};

/// Set-user-id and its relatives are never carried over.
const CARRIED: u32 = 0o777;

/// Writes to a workspace.
pub(super) struct Hand<'a> {
    upper: &'a Tree,
    lower: &'a Tree,
    id: &'a str,
    next: u64,
}

impl<'a> Hand<'a> {
    pub(super) fn new(upper: &'a Tree, lower: &'a Tree, id: &'a str) -> Hand<'a> {
        Hand { upper, lower, id, next: 0 }
    }

    /// Takes one step for one change.
    pub(super) fn carry_out(&mut self, step: Step, entry: &Entry) -> Result<(), Errno> {
        match step {
            Step::Open => self.open_to_owner(entry),
            Step::Delete => self.delete(entry),
            Step::MakeDirectory => self.make_directory(entry),
            Step::Place => self.place(entry),
        }
    }

    fn open_to_owner(&self, entry: &Entry) -> Result<(), Errno> {
        let directory = self.lower.directory(entry.path())?;
        let mode = permissions(&fstat(&directory)?);
        if mode & 0o700 == 0o700 {
            return Ok(());
        }
        fchmod(&directory, Mode::from_raw_mode(mode | 0o700))
    }

    fn delete(&self, entry: &Entry) -> Result<(), Errno> {
        let (parent, name) = self.lower.parent(entry.path())?;
        self.check_again(entry, &parent, name)?;
        let flags = if entry.ends_directory() { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        unlinkat(&parent, name, flags)
    }

    fn make_directory(&self, entry: &Entry) -> Result<(), Errno> {
        let (parent, name) = self.lower.parent(entry.path())?;
        if entry.lower.is_some() {
            self.check_again(entry, &parent, name)?;
            unlinkat(&parent, name, AtFlags::empty())?;
        }
        mkdirat(&parent, name, Mode::from_raw_mode(0o700))?;
        let (above, _) = self.upper.parent(entry.path())?;
        let owner = stat_in(&above, name)?.ok_or(Errno::NOENT)?;
        if let Some((uid, gid)) = owner_to_give(&owner) {
            fchown(open_directory(&parent, name)?, Some(uid), Some(gid))?;
        }
        Ok(())
    }

    /// Writes a file or a link under another name, and renames it.
    fn place(&mut self, entry: &Entry) -> Result<(), Errno> {
        let (parent, name) = self.lower.parent(entry.path())?;
        let (above, _) = self.upper.parent(entry.path())?;
        let draft = self.draft(&above, &parent, name, entry)?;
        let renamed = if entry.lower.is_none() || entry.ends_directory() {
            rename_to_free_place(&parent, &draft, name)
        } else {
            self.check_again(entry, &parent, name)
                .and_then(|()| renameat(&parent, &draft, &parent, name))
        };
        if renamed.is_err() {
            let _ = unlinkat(&parent, &draft, AtFlags::empty());
        }
        renamed
    }

    /// Writes the new content beside its place. Gives the name.
    fn draft(
        &mut self,
        above: &OwnedFd,
        parent: &OwnedFd,
        name: &[u8],
        entry: &Entry,
    ) -> Result<String, Errno> {
        let owner = stat_in(above, name)?.ok_or(Errno::NOENT)?;
        loop {
            let draft = format!(".fumehood-{}-{}", self.id, self.next);
            self.next += 1;
            let written = match entry.change.file {
                FileKind::Symlink => write_link(above, parent, name, &draft, &owner),
                _ => write_file(above, parent, name, &draft, &owner, entry.change.mode),
            };
            match written {
                // Left by somebody who was killed.
                Err(Errno::EXIST) => {}
                Err(errno) => {
                    let _ = unlinkat(parent, &draft, AtFlags::empty());
                    return Err(errno);
                }
                Ok(()) => return Ok(draft),
            }
        }
    }

    /// Once more, right before a file goes: it was the same a moment ago.
    fn check_again(&self, entry: &Entry, parent: &OwnedFd, name: &[u8]) -> Result<(), Errno> {
        let now = stat_in(parent, name)?.ok_or(Errno::NOENT)?;
        match &entry.lower {
            // Its permissions may have been changed by us, and only an empty one can be removed.
            Some(stamp) if stamp.kind == FileKind::Directory => match kind(&now) {
                FileKind::Directory => Ok(()),
                _ => Err(Errno::STALE),
            },
            Some(stamp) if stamp.still_holds(parent, name, &now) => Ok(()),
            _ => Err(Errno::STALE),
        }
    }

    /// Gives a directory the permissions that it has in the upper layer.
    pub(super) fn set_directory_mode(&self, entry: &Entry) -> Result<(), Errno> {
        let change = &entry.change;
        if change.file != FileKind::Directory || change.kind == ChangeKind::Deleted {
            return Ok(());
        }
        let directory = self.lower.directory(entry.path())?;
        let special = permissions(&fstat(&directory)?) & !CARRIED;
        fchmod(&directory, Mode::from_raw_mode(change.mode & CARRIED | special))
    }
}

/// Renames where nothing may be. File systems that cannot promise it are asked before.
fn rename_to_free_place(parent: &OwnedFd, draft: &str, name: &[u8]) -> Result<(), Errno> {
    match renameat_with(parent, draft, parent, name, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL) if stat_in(parent, name)?.is_none() => {
            renameat(parent, draft, parent, name)
        }
        renamed => renamed,
    }
}

/// With root, files go to whom they belonged in the box's view. Without, they are ours anyway.
fn owner_to_give(owner: &Stat) -> Option<(Uid, Gid)> {
    rustix::process::geteuid()
        .is_root()
        .then(|| (Uid::from_raw(owner.st_uid), Gid::from_raw(owner.st_gid)))
}

fn write_link(
    above: &OwnedFd,
    parent: &OwnedFd,
    name: &[u8],
    draft: &str,
    owner: &Stat,
) -> Result<(), Errno> {
    symlinkat(link_target(above, name)?.as_slice(), parent, draft)?;
    match owner_to_give(owner) {
        Some((uid, gid)) => chownat(parent, draft, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW),
        None => Ok(()),
    }
}

fn write_file(
    above: &OwnedFd,
    parent: &OwnedFd,
    name: &[u8],
    draft: &str,
    owner: &Stat,
    mode: u32,
) -> Result<(), Errno> {
    let from = File::from(open_file(above, name)?);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let to = File::from(openat(parent, draft, flags, Mode::from_raw_mode(0o600))?);
    copy(&from, &to, owner.st_size as u64)?;
    if let Some((uid, gid)) = owner_to_give(owner) {
        fchown(&to, Some(uid), Some(gid))?;
    }
    fchmod(&to, Mode::from_raw_mode(mode & CARRIED))
}

/// Copies content, and leaves holes where there are holes: a program can make a file look as large
/// as its limit allows without having written anything.
fn copy(from: &File, mut to: &File, size: u64) -> Result<(), Errno> {
    let mut at = 0;
    while at < size {
        let data = match seek(from, SeekFrom::Data(at)) {
            Err(Errno::NXIO) => break,
            found => found?,
        };
        let hole = seek(from, SeekFrom::Hole(data))?;
        seek(from, SeekFrom::Start(data))?;
        seek(to, SeekFrom::Start(data))?;
        let copied =
            io::copy(&mut from.take(hole - data), &mut to).map_err(|error| errno(&error))?;
        if copied == 0 {
            return Err(Errno::IO);
        }
        at = hole;
    }
    ftruncate(to, size)
}
