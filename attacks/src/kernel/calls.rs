//! Calls that no program in a box needs, and other ways to make calls.

use crate::{
    Words,
    answer::{tell, word},
    sys::{Arg, call, in_child, numbers, opens},
};

/// A ring by which calls are made without making calls.
pub(crate) fn rings(_: Words<'_>) {
    let mut parameters = [0u8; 120];
    let made = opens(libc::SYS_io_uring_setup, vec![Arg::N(4), Arg::Out(&mut parameters)]);
    tell("io_uring_setup", word(made));
}

/// Attack surface of the kernel. Where these are not refused they fail for want of arguments, and
/// change nothing.
pub(crate) fn dangerous(_: Words<'_>) {
    const USER_MODE_ONLY: u64 = 1;
    let attributes = [0u8; 128];
    tell("userfaultfd", word(opens(libc::SYS_userfaultfd, vec![Arg::N(USER_MODE_ONLY)])));
    tell("bpf", word(call(libc::SYS_bpf, vec![Arg::N(5), Arg::In(&attributes), Arg::N(128)])));
    let words =
        vec![Arg::In(&attributes), Arg::N(0), Arg::N(u64::MAX), Arg::N(u64::MAX), Arg::N(0)];
    tell("perf_event_open", word(call(libc::SYS_perf_event_open, words)));
    tell("kexec_load", word(numbers(libc::SYS_kexec_load, &[0, u64::MAX, 0, u64::MAX])));
    tell("init_module", word(call(libc::SYS_init_module, vec![Arg::N(0), Arg::N(0), Arg::Z(c"")])));
    let handle = [0u8; 24];
    let words = vec![Arg::N(libc::AT_FDCWD as u64), Arg::In(&handle), Arg::N(0)];
    tell("open_by_handle_at", word(call(libc::SYS_open_by_handle_at, words)));
}

/// A key that whoever comes next could find. In a ring of our own, which ends with this process.
pub(crate) fn keys(_: Words<'_>) {
    const JOIN_SESSION_RING: u64 = 1;
    const SESSION_RING: u64 = -3i64 as u64;
    tell("keyctl", word(numbers(libc::SYS_keyctl, &[JOIN_SESSION_RING, 0])));
    let words = vec![
        Arg::Z(c"user"),
        Arg::Z(c"fumehood"),
        Arg::In(b"left"),
        Arg::N(4),
        Arg::N(SESSION_RING),
    ];
    tell("add_key", word(call(libc::SYS_add_key, words)));
}

/// The doors for programs of 32 bits.
#[cfg(target_arch = "x86_64")]
pub(crate) fn other_architectures(_: Words<'_>) {
    const X32: i64 = 0x4000_0000;
    tell(
        "i386",
        in_child(|| match crate::sys::getpid_of_32_bits() {
            error @ -4095..0 => word::<()>(Err(-error)),
            _ => "done".to_owned(),
        }),
    );
    tell("x32", in_child(|| word(numbers(X32 + libc::SYS_getpid, &[]))));
}

/// There are none.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn other_architectures(_: Words<'_>) {
    tell("i386", in_child(|| "ENOSYS".to_owned()));
}
