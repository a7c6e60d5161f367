//! System calls as an attacker makes them: any number, any argument. The only file of this program
//! with `unsafe`.

use std::{
    ffi::CStr,
    fs::File,
    io::Read as _,
    os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd},
};

/// One argument of a system call.
pub(crate) enum Arg<'a> {
    /// A number, a descriptor or a null pointer.
    N(u64),
    /// A text that the kernel reads.
    Z(&'a CStr),
    /// Bytes that the kernel reads.
    In(&'a [u8]),
    /// Bytes that the kernel writes.
    Out(&'a mut [u8]),
}

impl Arg<'_> {
    fn raw(&mut self) -> u64 {
        match self {
            Arg::N(number) => *number,
            Arg::Z(text) => text.as_ptr() as u64,
            Arg::In(bytes) => bytes.as_ptr() as u64,
            Arg::Out(bytes) => bytes.as_mut_ptr() as u64,
        }
    }
}

/// Makes a system call. Whoever calls this says by the kind of an argument what the kernel does
/// with it; calls that make the kernel write elsewhere are not made with it.
pub(crate) fn call(number: i64, mut arguments: Vec<Arg<'_>>) -> Result<i64, i32> {
    let mut raw = [0u64; 6];
    for (place, argument) in raw.iter_mut().zip(&mut arguments) {
        *place = argument.raw();
    }
    let [a, b, c, d, e, f] = raw;
    // SAFETY: pointers come from slices that live until the call is over, and the kernel writes
    // only to those that are mutable here.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    if result == -1 { Err(last_error()) } else { Ok(result) }
}

/// A system call whose arguments are all numbers.
pub(crate) fn numbers(number: i64, arguments: &[u64]) -> Result<i64, i32> {
    call(number, arguments.iter().map(|argument| Arg::N(*argument)).collect())
}

/// A system call that makes a descriptor, which is closed again.
pub(crate) fn opens(number: i64, arguments: Vec<Arg<'_>>) -> Result<OwnedFd, i32> {
    let descriptor = call(number, arguments)?;
    // SAFETY: the kernel has just made it, and nobody else knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor as i32) })
}

fn last_error() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// Writes a line to standard output without any buffer in between.
pub(crate) fn write_line(text: &str) {
    let line = format!("{text}\n");
    let _ =
        call(libc::SYS_write, vec![Arg::N(1), Arg::In(line.as_bytes()), Arg::N(line.len() as u64)]);
}

/// How a child process ended.
#[derive(Clone, Copy)]
pub(crate) enum Ended {
    /// By itself.
    Exited,
    /// By a signal.
    Killed {
        /// Whether a core file was written.
        core: bool,
    },
}

/// A new process that does this and exits. There is one thread, so the copy is whole.
pub(crate) fn fork(child: impl FnOnce()) -> Result<i32, i32> {
    // SAFETY: this program has a single thread, so nothing is copied in the middle of a change.
    match unsafe { libc::fork() } {
        -1 => Err(last_error()),
        0 => {
            child();
            exit(0)
        }
        pid => Ok(pid),
    }
}

/// Waits for a child process.
pub(crate) fn wait(pid: i32) -> Ended {
    let mut status = 0;
    // SAFETY: the status is ours to be written to.
    unsafe { libc::waitpid(pid, &mut status, 0) };
    if libc::WIFSIGNALED(status) {
        Ended::Killed { core: libc::WCOREDUMP(status) }
    } else {
        Ended::Exited
    }
}

/// Ends this process at once.
pub(crate) fn exit(code: i32) -> ! {
    // SAFETY: ends the process, and nothing of it is needed any more.
    unsafe { libc::_exit(code) }
}

/// What something in a process of its own comes to; `killed` where it does not survive it.
pub(crate) fn in_child(attempt: impl FnOnce() -> String) -> String {
    let Ok((mut reader, writer)) = pipe() else { return "no_pipe".to_owned() };
    let child = fork(|| {
        let text = attempt();
        let bytes = text.as_bytes();
        let target = writer.as_raw_fd() as u64;
        let _ =
            call(libc::SYS_write, vec![Arg::N(target), Arg::In(bytes), Arg::N(bytes.len() as u64)]);
    });
    drop(writer);
    let Ok(pid) = child else { return "no_process".to_owned() };
    let mut answer = String::new();
    let _ = reader.read_to_string(&mut answer);
    match wait(pid) {
        Ended::Killed { .. } if answer.is_empty() => "killed".to_owned(),
        _ => answer,
    }
}

/// A pipe: the end that is read, and the one that is written.
pub(crate) fn pipe() -> Result<(File, OwnedFd), i32> {
    let mut ends = [0; 2];
    // SAFETY: the kernel writes two numbers into an array of two.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } == -1 {
        return Err(last_error());
    }
    // SAFETY: both were just made, and nobody else knows of them.
    let [reader, writer] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
    Ok((reader.into(), writer))
}

/// A terminal: its master, and the path of the other end.
pub(crate) fn terminal() -> Result<(OwnedFd, String), i32> {
    // SAFETY: no argument is a pointer.
    let master = unsafe { libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY) };
    if master == -1 {
        return Err(last_error());
    }
    // SAFETY: just made.
    let owned = unsafe { OwnedFd::from_raw_fd(master) };
    let mut name = [0 as libc::c_char; 64];
    // SAFETY: the name is written into an array of the length that is given.
    let named = unsafe {
        libc::grantpt(master) == 0
            && libc::unlockpt(master) == 0
            && libc::ptsname_r(master, name.as_mut_ptr(), name.len()) == 0
    };
    if !named {
        return Err(last_error());
    }
    // SAFETY: the array holds a text that ends with zero.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) };
    Ok((owned, name.to_string_lossy().into_owned()))
}

/// A limit of this process: soft and hard.
pub(crate) fn limit_of(resource: u32) -> Result<(u64, u64), i32> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is ours to be written to.
    match unsafe { libc::getrlimit(resource, &mut limit) } {
        0 => Ok((limit.rlim_cur, limit.rlim_max)),
        _ => Err(last_error()),
    }
}

/// Has a signal ignored.
pub(crate) fn ignore(signal: i32) {
    // SAFETY: no handler of ours ever runs.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// Maps memory and writes to each page of it. Never unmapped.
pub(crate) fn hoard(bytes: usize) -> Result<(), i32> {
    const PAGE: usize = 4096;
    let mut block: Vec<u8> = Vec::new();
    block.try_reserve_exact(bytes).map_err(|_| libc::ENOMEM)?;
    block.resize(bytes, 0);
    for page in block.chunks_mut(PAGE) {
        page[0] = std::hint::black_box(1);
    }
    std::mem::forget(block);
    Ok(())
}

/// `getpid` by the entry for programs of 32 bits.
#[cfg(target_arch = "x86_64")]
pub(crate) fn getpid_of_32_bits() -> i32 {
    const GETPID: i32 = 20;
    let result: i32;
    // SAFETY: this call has no arguments and touches no memory; rbx is not an operand.
    unsafe {
        std::arch::asm!("int 0x80", inlateout("eax") GETPID => result, out("r8") _, out("r9") _,
            out("r10") _, out("r11") _, options(nostack));
    }
    result
}
