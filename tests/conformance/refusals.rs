//! System calls that no program in a box needs, one by one.
//!
//! Each is made with arguments on which the bare kernel gives another answer than the filter, so
//! that the twin can tell them apart without doing any harm.

use fumehood::{Layer, Request};
use fumehood_tests::{Attack, Case, Weaker, assert_printed, printed, python};

/// Name, number on x86-64 and on arm64, arguments, answer of the filter.
type Refusal = (&'static str, u32, u32, &'static str, &'static str);

const REFUSALS: &[Refusal] = &[
    ("unshare", 272, 97, "0", "EPERM"),
    ("setns", 308, 268, "-1, 0", "EPERM"),
    ("mount", 165, 40, "1, 1, 1, 0, 0", "EPERM"),
    ("open_tree", 428, 428, "-1, 0, -1", "EPERM"),
    ("mount_setattr", 442, 442, "-1, 0, -1, 0, 0", "EPERM"),
    ("ptrace", 101, 117, "0", "EPERM"),
    ("process_vm_readv", 310, 270, "1, 0, 0, 0, 0, 1", "EPERM"),
    ("pidfd_getfd", 438, 438, "-1, -1, 1", "EPERM"),
    ("bpf", 321, 280, "0, 0, 1 << 20", "EPERM"),
    ("perf_event_open", 298, 241, "0, 0, 0, 0, -1", "EPERM"),
    ("userfaultfd", 323, 282, "-1", "EPERM"),
    ("keyctl", 250, 219, "0, -3, 0", "EPERM"),
    ("name_to_handle_at", 303, 264, "-1, 0, 0, 0, -1", "EPERM"),
    ("clone3", 435, 435, "0, 0", "ENOSYS"),
    ("io_uring_setup", 425, 425, "0, 0", "ENOSYS"),
    ("socket_vsock", 41, 198, "40, 1, 0", "EAFNOSUPPORT"),
    ("socket_packet", 41, 198, "17, 3, 0", "EAFNOSUPPORT"),
    // Only the low half counts to the kernel, so it must be all that counts to the filter.
    ("socket_packet_with_garbage", 41, 198, "17 | 1 << 32, 3, 0", "EAFNOSUPPORT"),
];

pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for &(name, x86_64, arm64, arguments, answer) in REFUSALS {
        let number = if cfg!(target_arch = "aarch64") { arm64 } else { x86_64 };
        all.extend(
            Attack::new(
                format!("refusals::{name}"),
                move |_| call(number, arguments),
                move |_, outcome| assert_printed(outcome, &format!("{answer}\n")),
            )
            .twin(Weaker::Without(&[Layer::Seccomp]), move |_, outcome| {
                assert!(outcome.success);
                assert_ne!(printed(outcome), format!("{answer}\n"));
            })
            .cases(),
        );
    }
    all
}

fn call(number: u32, arguments: &str) -> Request {
    python(&format!(
        "import ctypes, errno\n\
         libc = ctypes.CDLL(None, use_errno=True)\n\
         arguments = [ctypes.c_long(a) for a in ({arguments},)]\n\
         failed = libc.syscall(ctypes.c_long({number}), *arguments) == -1\n\
         print(errno.errorcode[ctypes.get_errno()] if failed else 'done')"
    ))
}
