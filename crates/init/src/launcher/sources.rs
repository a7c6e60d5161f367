//! Host files and directories, opened as detached mounts that only the box will ever attach.

use fumehood_core::protocol::BindMount;
use rustix::{
    fd::{AsFd as _, BorrowedFd, OwnedFd},
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
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let source = match openat2(CWD, bind.source.as_str(), flags, Mode::empty(), resolve) {
        Err(Errno::NOENT) if bind.optional => return Ok(None),
        opened => opened.step_on("opening", &bind.source)?,
    };
    let tree = open_tree(
        &source,
        c"",
        OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_EMPTY_PATH
            | OpenTreeFlags::AT_RECURSIVE,
    )
    .step_on("copying the mount of", &bind.source)?;
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
    set_attributes(tree.as_fd(), attributes)
        .step_on("setting mount attributes of", &bind.source)?;
    Ok(Some(tree))
}

/// Sets the attributes of a mount and of all mounts in it. Some file systems cannot shift owners:
/// where one of those is mounted somewhere inside, only the mount itself does, and files of the
/// others belong to nobody.
fn set_attributes(tree: BorrowedFd<'_>, attributes: MountAttributes<'_>) -> Result<(), Errno> {
    match mount_setattr(tree, attributes, true) {
        Err(Errno::INVAL) if attributes.shift_owners.is_some() => {
            mount_setattr(tree, MountAttributes { shift_owners: None, ..attributes }, true)?;
            mount_setattr(tree, attributes, false)
        }
        done => done,
    }
}
