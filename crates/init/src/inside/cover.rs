//! Paths that the plan hides or protects, covered by mounts of their own on top of everything else.
//!
//! A mount holds whatever way leads to the path: other names through /proc, hard links (which
//! cannot cross mounts), and renamed parents (the mount moves along).

use alloc::{format, string::String};

use fumehood_core::protocol::{Cover, CoverKind};
use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{FileType, Mode, OFlags, fchmod, fstat, openat},
    io::Errno,
    mount::{MountAttrFlags, OpenTreeFlags, open_tree},
};

use super::root::{Root, attach_on, file_system};
use crate::{
    failure::{Failure, Step},
    sys::{MountAttributes, mount_setattr},
};

/// Covers paths, in the order given.
pub(super) fn apply(root: &Root, covers: &[Cover]) -> Result<(), Failure> {
    if covers.is_empty() {
        return Ok(());
    }
    with_blinds(root, covers, |blinds| {
        covers.iter().try_for_each(|cover| {
            let path = &cover.path;
            let target = match (root.find(path, OFlags::empty()), cover.kind) {
                (Ok(target), _) => target,
                // What is hidden was there when the plan was made. It may have been moved away only
                // for the moment, to come back when nothing covers it.
                (Err(Errno::NOENT | Errno::NOTDIR), CoverKind::Pinned | CoverKind::Protected) => {
                    return Ok(());
                }
                // A link cannot be covered. What it leads to has a path of its own.
                (Err(Errno::LOOP), CoverKind::Pinned | CoverKind::Protected) => return Ok(()),
                (Err(errno), _) => {
                    return Err(errno).step_on("finding what is to be covered:", path);
                }
            };
            let tree = match cover.kind {
                CoverKind::Pinned => itself(&target),
                CoverKind::Protected => itself(&target).and_then(read_only),
                CoverKind::Hidden => blind(&target, blinds),
            };
            tree.and_then(|tree| attach_on(&tree, &target)).step_on("covering", path)
        })
    })
}

/// What was covered, for the report.
pub(super) fn summary(covers: &[Cover]) -> String {
    let count = |kind| covers.iter().filter(|cover| cover.kind == kind).count();
    format!("{} hidden, {} protected", count(CoverKind::Hidden), count(CoverKind::Protected))
}

fn itself(target: &OwnedFd) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::AT_EMPTY_PATH | OpenTreeFlags::AT_RECURSIVE;
    open_tree(target, c"", copy() | flags)
}

fn read_only(tree: OwnedFd) -> Result<OwnedFd, Errno> {
    let attributes =
        MountAttributes { read_only: true, no_devices: true, no_exec: false, shift_owners: None };
    mount_setattr(tree.as_fd(), attributes, true).map(|()| tree)
}

fn copy() -> OpenTreeFlags {
    OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC
}

/// The name of the file that covers files.
const FILE: &str = "hidden";

/// A copy of what covers a target of this kind: a directory on a directory, a file on the rest.
fn blind(target: &OwnedFd, blinds: Option<&OwnedFd>) -> Result<OwnedFd, Errno> {
    let blinds = blinds.ok_or(Errno::NOENT)?;
    if FileType::from_raw_mode(fstat(target)?.st_mode).is_dir() {
        open_tree(blinds, c"", copy() | OpenTreeFlags::AT_EMPTY_PATH)
    } else {
        open_tree(blinds, FILE, copy())
    }
}

/// Makes a directory and a file that nobody without special rights can open, for as long as they
/// are being copied.
fn with_blinds(
    root: &Root,
    covers: &[Cover],
    use_them: impl FnOnce(Option<&OwnedFd>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if covers.iter().all(|cover| cover.kind != CoverKind::Hidden) {
        return use_them(None);
    }
    let quiet = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let tree = file_system("tmpfs", &[("size", "4k"), ("nr_inodes", "8"), ("mode", "0")], quiet)?;
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    let step = "what covers hidden paths";
    let file = openat(&tree, FILE, flags, Mode::empty()).step(step)?;
    fchmod(&file, Mode::empty()).step(step)?;
    drop(file);
    let tree = read_only(tree).step(step)?;
    root.with_mounted(&tree, |mounted| use_them(Some(mounted)))
}
