//! Calls about this process and its children.

use alloc::{ffi::CString, vec::Vec};
use core::ffi::{CStr, c_char};

use linux_raw_sys::general as nr;
use rustix::{
    fd::{AsFd, FromRawFd, OwnedFd},
    io::Errno,
};

use super::raw::syscall;

/// Ends the process.
#[inline(always)]
pub(crate) fn exit(code: u8) -> ! {
    loop {
        // SAFETY: takes no pointers and does not return.
        let _ = unsafe { syscall(nr::__NR_exit_group, [usize::from(code), 0, 0, 0, 0, 0]) };
    }
}

/// A null-terminated list of strings, as the kernel takes arguments and variables.
pub(crate) struct StringList {
    pointers: Vec<*const c_char>,
    /// What the pointers point into.
    _strings: Vec<CString>,
}

impl StringList {
    pub(crate) fn new(strings: Vec<CString>) -> StringList {
        let pointers =
            strings.iter().map(|string| string.as_ptr()).chain([core::ptr::null()]).collect();
        StringList { pointers, _strings: strings }
    }
}

/// Replaces the process by a program. Returns only if that fails. Allocates nothing.
pub(crate) fn exec(program: &CStr, arguments: &StringList, environment: &StringList) -> Errno {
    let call = [
        program.as_ptr() as usize,
        arguments.pointers.as_ptr() as usize,
        environment.pointers.as_ptr() as usize,
        0,
        0,
        0,
    ];
    // SAFETY: a path and two null-terminated lists of strings, all alive during the call.
    match unsafe { syscall(nr::__NR_execve, call) } {
        Ok(_) => Errno::INVAL,
        Err(errno) => errno,
    }
}

/// Kills every process that this one may signal. Refused unless this is process 1 of a pid
/// namespace: anywhere else it would reach beyond the box.
pub(crate) fn kill_everything() -> Result<(), Errno> {
    if rustix::process::getpid() != rustix::process::Pid::INIT {
        return Err(Errno::PERM);
    }
    const SIGKILL: usize = 9;
    // SAFETY: takes no pointers.
    unsafe { syscall(nr::__NR_kill, [usize::MAX, SIGKILL, 0, 0, 0, 0]) }.map(drop)
}

/// Gives a descriptor that becomes readable when a child ends. From then on a pipe without a
/// reader is an error of the write and not a signal that ends us.
pub(crate) fn open_signal_queue() -> Result<OwnedFd, Errno> {
    const SIGPIPE_BIT: u64 = 1 << (13 - 1);
    const SIGCHLD_BIT: u64 = 1 << (17 - 1);
    const SET_SIZE: usize = 8;
    const NONBLOCK_CLOEXEC: usize = 0o2_004_000;
    block_signals(SIGCHLD_BIT | SIGPIPE_BIT)?;
    let set = SIGCHLD_BIT;
    let arguments = [usize::MAX, &raw const set as usize, SET_SIZE, NONBLOCK_CLOEXEC, 0, 0];
    // SAFETY: the set is eight bytes and alive during the call.
    let fd = unsafe { syscall(nr::__NR_signalfd4, arguments) }?;
    // SAFETY: the kernel just made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Replaces the set of blocked signals. A new program inherits it: clear it before `exec`.
pub(crate) fn block_signals(set: u64) -> Result<(), Errno> {
    const SETMASK: usize = 2;
    // SAFETY: the set is eight bytes and alive during the call.
    unsafe { syscall(nr::__NR_rt_sigprocmask, [SETMASK, &raw const set as usize, 0, 8, 0, 0]) }
        .map(drop)
}

/// Nanoseconds of a clock that never jumps.
pub(crate) fn now_nanos() -> u64 {
    const MONOTONIC: usize = 1;
    let mut time = [0i64; 2];
    // SAFETY: the kernel writes two words.
    let _ = unsafe {
        syscall(nr::__NR_clock_gettime, [MONOTONIC, time.as_mut_ptr() as usize, 0, 0, 0, 0])
    };
    (time[0] as u64).wrapping_mul(1_000_000_000).wrapping_add(time[1] as u64)
}

/// What all children that were waited for have used, the children of those included.
#[derive(Clone, Copy, Default)]
pub(crate) struct ChildrenUsage {
    pub(crate) user_micros: u64,
    pub(crate) system_micros: u64,
    pub(crate) largest_resident: u64,
    pub(crate) blocks_in: u64,
    pub(crate) blocks_out: u64,
    pub(crate) context_switches: u64,
}

/// What the children have used so far.
pub(crate) fn usage_of_children() -> ChildrenUsage {
    const CHILDREN: usize = usize::MAX;
    let mut raw = [0u64; 18];
    // SAFETY: `struct rusage` is eighteen words.
    let _ =
        unsafe { syscall(nr::__NR_getrusage, [CHILDREN, raw.as_mut_ptr() as usize, 0, 0, 0, 0]) };
    ChildrenUsage {
        user_micros: raw[0].wrapping_mul(1_000_000).wrapping_add(raw[1]),
        system_micros: raw[2].wrapping_mul(1_000_000).wrapping_add(raw[3]),
        largest_resident: raw[4].wrapping_mul(1024),
        blocks_in: raw[11],
        blocks_out: raw[12],
        context_switches: raw[16].wrapping_add(raw[17]),
    }
}

/// The soft and hard limit of a resource.
pub(crate) fn rlimit(resource: u32) -> Result<(u64, u64), Errno> {
    let mut limit = [0u64; 2];
    let arguments = [0, resource as usize, 0, limit.as_mut_ptr() as usize, 0, 0];
    // SAFETY: the kernel writes two words.
    unsafe { syscall(nr::__NR_prlimit64, arguments) }?;
    Ok((limit[0], limit[1]))
}

/// Sets both limits of a resource.
pub(crate) fn set_rlimit(resource: u32, value: u64) -> Result<(), Errno> {
    let limit = [value, value];
    let arguments = [0, resource as usize, limit.as_ptr() as usize, 0, 0, 0];
    // SAFETY: the kernel reads two words.
    unsafe { syscall(nr::__NR_prlimit64, arguments) }.map(drop)
}

/// Moves this process into a cgroup by its open `tasks` or `cgroup.procs` file. Where a thread
/// moves only itself the kernel is spared a lock over all processes.
pub(crate) fn write_cgroup_zero(file: impl AsFd) -> Result<(), Errno> {
    rustix::io::write(file, b"0").map(drop)
}

/// Fresh zeroed pages.
pub(crate) fn map_pages(size: usize) -> Result<*mut u8, Errno> {
    const READ_WRITE: usize = 3;
    const PRIVATE_ANONYMOUS: usize = 0x22;
    let arguments = [0, size, READ_WRITE, PRIVATE_ANONYMOUS, usize::MAX, 0];
    // SAFETY: a new mapping at an address that the kernel chooses.
    unsafe { syscall(nr::__NR_mmap, arguments) }.map(|address| address as *mut u8)
}

/// Gives pages back.
pub(crate) fn unmap_pages(pages: *mut u8, size: usize) {
    // SAFETY: only called by the heap with what `map_pages` gave.
    let _ = unsafe { syscall(nr::__NR_munmap, [pages as usize, size, 0, 0, 0, 0]) };
}

/// Closes every descriptor above 2.
pub(crate) fn close_all() -> Result<(), Errno> {
    close_range(3, u32::MAX as usize)
}

/// Closes every descriptor above 2 but these, which must be sorted.
pub(crate) fn close_all_but(kept: &[i32]) -> Result<(), Errno> {
    let mut first = 3;
    for fd in kept.iter().map(|fd| *fd as usize) {
        if fd > first {
            close_range(first, fd - 1)?;
        }
        first = first.max(fd + 1);
    }
    close_range(first, u32::MAX as usize)
}

/// Closes a range of descriptors.
fn close_range(first: usize, last: usize) -> Result<(), Errno> {
    // SAFETY: takes no pointers. No `OwnedFd` of a closed descriptor is used afterwards: callers
    // are about to lock the box or to replace the process.
    unsafe { syscall(nr::__NR_close_range, [first, last, 0, 0, 0, 0]) }.map(drop)
}

/// Brings the loopback interface up.
pub(crate) fn interface_up(socket: impl AsFd, name: &[u8]) -> Result<(), Errno> {
    #[repr(C)]
    struct Request {
        name: [u8; 16],
        flags: i16,
        rest: [u8; 22],
    }
    const SET_FLAGS: usize = 0x8914;
    const UP: i16 = 1;
    let mut request = Request { name: [0; 16], flags: UP, rest: [0; 22] };
    for (to, from) in request.name.iter_mut().zip(name.iter().take(15)) {
        *to = *from;
    }
    let socket = rustix::fd::AsRawFd::as_raw_fd(&socket.as_fd()) as usize;
    // SAFETY: the request has the layout of `struct ifreq`.
    unsafe { syscall(nr::__NR_ioctl, [socket, SET_FLAGS, &raw const request as usize, 0, 0, 0]) }
        .map(drop)
}

/// Lets a socket have addresses that are not the machine's.
pub(crate) fn be_transparent(socket: impl AsFd, is_ipv6: bool) -> Result<(), Errno> {
    const IP: (usize, usize) = (0, 19);
    const IPV6: (usize, usize) = (41, 75);
    let (level, option) = if is_ipv6 { IPV6 } else { IP };
    let on = 1i32;
    let socket = rustix::fd::AsRawFd::as_raw_fd(&socket.as_fd()) as usize;
    let arguments = [socket, level, option, &raw const on as usize, size_of::<i32>(), 0];
    // SAFETY: the value is four bytes and alive during the call.
    unsafe { syscall(nr::__NR_setsockopt, arguments) }.map(drop)
}
