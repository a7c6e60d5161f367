//! A directory of the host that the box sees as a copy: the kernel's overlay file system, with the
//! directory below and the storage of the changes above.
//!
//! Both layers are attached to hidden places of the new root while the overlay is made, since the
//! kernel wants paths, and detached again: nothing in the box leads to them but the overlay.

use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, Mode, mkdirat, unlinkat},
    mount::{MountAttrFlags, UnmountFlags, unmount},
    process::{chdir, fchdir},
};

use super::root::{attach, file_system};
use crate::failure::{Failure, Step};

const LOWER: &str = "overlay-lower";
const STORAGE: &str = "overlay-storage";

/// How the layers are put together. Nothing that a file says of itself is followed to another
/// place, every changed file is stored whole, and nothing is synced: storage of a run that the
/// machine did not survive is of no use.
const OPTIONS: &[(&str, &str)] = &[
    ("lowerdir", LOWER),
    ("upperdir", "overlay-storage/upper"),
    ("workdir", "overlay-storage/work"),
    ("userxattr", ""),
    ("redirect_dir", "nofollow"),
    ("metacopy", "off"),
    ("index", "off"),
    ("xino", "off"),
    ("volatile", ""),
];

/// An overlay of these detached mounts, itself not yet mounted anywhere.
pub(super) fn make(root: &OwnedFd, lower: &OwnedFd, storage: &OwnedFd) -> Result<OwnedFd, Failure> {
    let layers = [(lower, LOWER), (storage, STORAGE)];
    for (tree, name) in layers {
        mkdirat(root, name, Mode::from_raw_mode(0o700)).step_on("creating", name)?;
        attach(tree, root, name).step_on("mounting", name)?;
    }
    // The options name the layers as seen from here.
    fchdir(root).step("entering the root")?;
    let quiet = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    let overlay = file_system("overlay", OPTIONS, quiet)?;
    for (_, name) in layers {
        unmount(name, UnmountFlags::DETACH).step_on("detaching", name)?;
        unlinkat(root, name, AtFlags::REMOVEDIR).step_on("removing", name)?;
    }
    chdir(c"/").step("leaving the root")?;
    Ok(overlay)
}
