//! New processes, with and without namespaces of their own.

use alloc::{vec, vec::Vec};
use core::ffi::c_void;

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

/// What a child in shared memory runs. It must not return, allocate or unwind.
pub(crate) type SharedEntry = extern "C" fn(*mut c_void) -> !;

/// The stack of a child in shared memory.
pub(crate) struct SharedStack(Vec<usize>);

impl SharedStack {
    pub(crate) fn new() -> SharedStack {
        const WORDS: usize = 4096;
        SharedStack(vec![0; WORDS])
    }
}

/// Starts a child that shares this process's memory until it executes a program or exits, and
/// waits for that. Cheaper than a copy, which would be thrown away at once.
///
/// # Safety
/// `run` must only do what is allowed while another process is suspended in the same memory:
/// system calls on its own state and writes to places that the parent expects to change.
pub(crate) unsafe fn start_sharing(run: SharedEntry, argument: *mut c_void) -> Result<Pid, Errno> {
    let mut stack = SharedStack::new();
    // SAFETY: the caller's promise; the stack lives until the child has left it.
    unsafe { clone_sharing(nr::CLONE_VFORK, &mut stack, run, argument) }
}

/// Starts a child in a user namespace of its own that runs beside us in the same memory.
///
/// # Safety
/// `run` must make system calls and nothing else. The stack must live until the child is gone.
pub(crate) unsafe fn start_in_user_namespace(
    stack: &mut SharedStack,
    run: SharedEntry,
) -> Result<Pid, Errno> {
    // SAFETY: the caller's promise.
    unsafe { clone_sharing(nr::CLONE_NEWUSER, stack, run, core::ptr::null_mut()) }
}

/// # Safety
/// As for the callers.
unsafe fn clone_sharing(
    kind: u32,
    stack: &mut SharedStack,
    run: SharedEntry,
    argument: *mut c_void,
) -> Result<Pid, Errno> {
    // SAFETY: the caller's promise.
    let result = unsafe { clone_on(kind, &mut stack.0, run, argument) };
    if result < 0 {
        return Err(Errno::from_raw_os_error(-result as i32));
    }
    Pid::from_raw(result as i32).ok_or(Errno::CHILD)
}

/// Starts a child on this stack, in the same memory. Gives what the kernel answers. Nothing here
/// needs the C library, or relocated pointers.
///
/// # Safety
/// As for the callers.
#[inline(always)]
pub(crate) unsafe fn clone_on(
    kind: u32,
    stack: &mut [usize],
    run: SharedEntry,
    argument: *mut c_void,
) -> isize {
    let flags = (nr::CLONE_VM | kind) as usize | SIGCHLD as usize;
    // The top two words are what the child takes first; sixteen-byte alignment is kept.
    let top = stack.len() - 2;
    // SAFETY: within the slice, which has more than two words.
    let top = unsafe {
        let top = stack.as_mut_ptr().add(top);
        top.write(argument as usize);
        top.add(1).write(run as usize);
        top
    };
    let result: isize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the parent gets its registers back as the kernel keeps them; the child jumps to
    // `run` on its own stack and never comes back here.
    unsafe {
        core::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "pop rdi",
            "pop rax",
            "call rax",
            "ud2",
            "2:",
            inlateout("rax") nr::__NR_clone as isize => result,
            in("rdi") flags, in("rsi") top, in("rdx") 0usize, in("r10") 0usize, in("r8") 0usize,
            lateout("rcx") _, lateout("r11") _,
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!(
            "svc 0",
            "cbnz x0, 2f",
            "mov x29, #0",
            "ldp x0, x1, [sp], #16",
            "blr x1",
            "brk #1",
            "2:",
            in("x8") nr::__NR_clone as usize,
            inlateout("x0") flags => result,
            in("x1") top, in("x2") 0usize, in("x3") 0usize, in("x4") 0usize,
        );
    }
    result
}
