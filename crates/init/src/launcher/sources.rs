//! Host files and directories, opened as detached mounts that only the box will ever attach.

use fumehood_core::protocol::{BindMount, OverlayMount};
use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat2},
    io::Errno,
    mount::{OpenTreeFlags, open_tree},
};

use super::identity::OwnerShifts;
use crate::{
    failure::{Failure, Step},
    sys::{MountAttributes, mount_setattr},
};

/// A copy of the mount tree at a path, with the attributes it will have in the box. `None` for an
/// optional path that is not there.
///
/// The path is opened without following any symbolic link: it was free of them when the plan was
/// made, so one that is there now was put there to lead us elsewhere.
pub(super) fn open_detached(
    bind: &BindMount,
    shifts: &mut OwnerShifts,
) -> Result<Option<OwnedFd>, Failure> {
    let source = match open_source(&bind.source) {
        Err(Errno::NOENT) if bind.optional => return Ok(None),
        opened => opened.step_on("opening", &bind.source)?,
    };
    let shift_owners = if bind.owned {
        let owner = fstat(&source).step_on("looking at", &bind.source)?;
        shifts.of(owner.st_uid, owner.st_gid)?
    } else {
        None
    };
    let attributes = MountAttributes {
        read_only: !bind.writable,
        no_devices: !bind.source.starts_with("/dev/"),
        no_exec: false,
        shift_owners,
    };
    detach(&source, &bind.source, attributes, true).map(Some)
}

/// The lower directory of an overlay and the storage of its changes. In both, what belongs to the
/// owner of the lower directory belongs to the box's user.
///
/// Only the directories themselves: an overlay does not see what is mounted below them.
pub(super) fn open_layers(
    overlay: &OverlayMount,
    shifts: &mut OwnerShifts,
) -> Result<[OwnedFd; 2], Failure> {
    let lower = open_source(&overlay.lower).step_on("opening", &overlay.lower)?;
    let storage = open_source(&overlay.storage).step_on("opening", &overlay.storage)?;
    let owner = fstat(&lower).step_on("looking at", &overlay.lower)?;
    let shift_owners = shifts.of(owner.st_uid, owner.st_gid)?;
    let attributes =
        MountAttributes { read_only: true, no_devices: true, no_exec: false, shift_owners };
    Ok([
        detach(&lower, &overlay.lower, attributes, false)?,
        detach(
            &storage,
            &overlay.storage,
            MountAttributes { read_only: false, ..attributes },
            false,
        )?,
    ])
}

fn open_source(path: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    openat2(CWD, path, flags, Mode::empty(), resolve)
}

/// A copy of the mount at a source, with all mounts below it if `recursive`.
fn detach(
    source: &OwnedFd,
    path: &str,
    attributes: MountAttributes<'_>,
    recursive: bool,
) -> Result<OwnedFd, Failure> {
    let mut flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH;
    flags.set(OpenTreeFlags::AT_RECURSIVE, recursive);
    let tree = open_tree(source, c"", flags).step_on("copying the mount of", path)?;
    set_attributes(tree.as_fd(), attributes, recursive)
        .step_on("setting mount attributes of", path)?;
    Ok(tree)
}

/// Sets the attributes of a mount and of all mounts in it. Some file systems cannot shift owners:
/// where one of those is mounted somewhere inside, only the mount itself does, and files of the
/// others belong to nobody.
fn set_attributes(
    tree: BorrowedFd<'_>,
    attributes: MountAttributes<'_>,
    recursive: bool,
) -> Result<(), Errno> {
    match mount_setattr(tree, attributes, recursive) {
        Err(Errno::INVAL) if recursive && attributes.shift_owners.is_some() => {
            mount_setattr(tree, MountAttributes { shift_owners: None, ..attributes }, true)?;
            mount_setattr(tree, attributes, false)
        }
        done => done,
    }
}
