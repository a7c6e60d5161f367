//! System calls that rustix does not offer. Every other call goes through rustix.

mod clone;
mod mount;
mod process;
mod raw;

pub(crate) use clone::{
    Namespaces, SharedStack, clone_on, clone_process, start_in_user_namespace, start_sharing,
};
pub(crate) use mount::{MountAttributes, mount_setattr};
pub(crate) use process::{
    StringList, be_transparent, block_signals, close_all, close_all_but, exec, exit, interface_up,
    kill_everything, map_pages, now_nanos, open_signal_queue, rlimit, set_rlimit, unmap_pages,
    usage_of_children, write_cgroup_zero,
};
pub(crate) use raw::{install_seccomp, landlock, syscall};

use rustix::fd::BorrowedFd;

/// A descriptor that stays open as long as the process lives.
pub(crate) fn descriptor(number: i32) -> BorrowedFd<'static> {
    // SAFETY: only used for descriptors that nothing in this program closes.
    unsafe { BorrowedFd::borrow_raw(number) }
}
