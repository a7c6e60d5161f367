//! New processes, with and without namespaces of their own.

use linux_raw_sys::general as nr;
use rustix::{
    fd::{AsRawFd, BorrowedFd},
    io::Errno,
    process::Pid,
};

use super::raw::syscall;

/// Namespaces that a new process gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Namespaces(u64);

impl Namespaces {
    pub(crate) const NONE: Namespaces = Namespaces(0);
    pub(crate) const USER: Namespaces = Namespaces(nr::CLONE_NEWUSER as u64);
    pub(crate) const MOUNT: Namespaces = Namespaces(nr::CLONE_NEWNS as u64);
    pub(crate) const PID: Namespaces = Namespaces(nr::CLONE_NEWPID as u64);
    pub(crate) const NET: Namespaces = Namespaces(nr::CLONE_NEWNET as u64);
    pub(crate) const IPC: Namespaces = Namespaces(nr::CLONE_NEWIPC as u64);
    pub(crate) const UTS: Namespaces = Namespaces(nr::CLONE_NEWUTS as u64);

    pub(crate) const fn and(self, other: Namespaces) -> Namespaces {
        Namespaces(self.0 | other.0)
    }
}

#[repr(C)]
#[derive(Default)]
struct CloneArguments {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    cgroup: u64,
}

const SIGCHLD: u64 = 17;
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

/// Makes a copy of this process in new namespaces, started inside a version 2 cgroup if one is
/// given. The parent gets the child's process id, the child gets `None`.
pub(crate) fn clone_process(
    namespaces: Namespaces,
    cgroup: Option<BorrowedFd<'_>>,
) -> Result<Option<Pid>, Errno> {
    let mut arguments =
        CloneArguments { flags: namespaces.0, exit_signal: SIGCHLD, ..Default::default() };
    if let Some(cgroup) = cgroup {
        arguments.flags |= CLONE_INTO_CGROUP;
        arguments.cgroup = cgroup.as_raw_fd() as u64;
    }
    let address = &raw const arguments as usize;
    let size = size_of::<CloneArguments>();
    // SAFETY: without CLONE_VM the child has its own copy of everything, the stack included, and
    // this program has no second thread whose locks could be lost.
    let pid = unsafe { syscall(nr::__NR_clone3, [address, size, 0, 0, 0, 0]) }?;
    Ok(Pid::from_raw(pid as i32))
}

/// Makes a plain copy of this process, by the old call: inside a box `clone3` is refused.
pub(crate) fn fork() -> Result<Option<Pid>, Errno> {
    // SAFETY: as above. All arguments but the exit signal are zero.
    let pid = unsafe { syscall(nr::__NR_clone, [SIGCHLD as usize, 0, 0, 0, 0, 0]) }?;
    Ok(Pid::from_raw(pid as i32))
}
