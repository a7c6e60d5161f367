//! `mount_setattr`, which rustix does not have.

use linux_raw_sys::general as nr;
use rustix::{
    fd::{AsRawFd, BorrowedFd},
    io::Errno,
};

use super::raw::syscall;

/// What to change about a mount.
#[derive(Clone, Copy)]
pub(crate) struct MountAttributes<'a> {
    pub(crate) read_only: bool,
    pub(crate) no_devices: bool,
    pub(crate) no_exec: bool,
    /// A user namespace whose mapping shifts the owners of files.
    pub(crate) shift_owners: Option<BorrowedFd<'a>>,
}

#[repr(C)]
#[derive(Default)]
struct RawAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

const AT_EMPTY_PATH: usize = 0x1000;
const AT_RECURSIVE: usize = 0x8000;
const RDONLY: u64 = 0x1;
const NOSUID: u64 = 0x2;
const NODEV: u64 = 0x4;
const NOEXEC: u64 = 0x8;
const IDMAP: u64 = 0x0010_0000;
const MS_PRIVATE: u64 = 1 << 18;

/// Changes a mount, with all mounts below it if `recursive`. Set-user-id programs never work in a
/// mount that passed through here, and it no longer shares events with the host.
pub(crate) fn mount_setattr(
    mount: BorrowedFd<'_>,
    attributes: MountAttributes<'_>,
    recursive: bool,
) -> Result<(), Errno> {
    let mut raw = RawAttributes { set: NOSUID, propagation: MS_PRIVATE, ..Default::default() };
    for (wanted, bit) in [
        (attributes.read_only, RDONLY),
        (attributes.no_devices, NODEV),
        (attributes.no_exec, NOEXEC),
    ] {
        if wanted {
            raw.set |= bit;
        }
    }
    if let Some(namespace) = attributes.shift_owners {
        raw.set |= IDMAP;
        raw.user_namespace = namespace.as_raw_fd() as u64;
    }
    let flags = if recursive { AT_EMPTY_PATH | AT_RECURSIVE } else { AT_EMPTY_PATH };
    let arguments = [
        mount.as_raw_fd() as usize,
        c"".as_ptr() as usize,
        flags,
        &raw const raw as usize,
        size_of::<RawAttributes>(),
        0,
    ];
    // SAFETY: the path is a string, the attributes have the layout and size that are passed.
    unsafe { syscall(nr::__NR_mount_setattr, arguments) }.map(drop)
}
