//! New namespaces, in which a program would have every capability, and the mounts it would undo.

use std::os::fd::AsRawFd as _;

use crate::{
    Words,
    answer::{tell, word},
    sys::{Arg, call, in_child, numbers, opens},
};

const NEW_USER: u64 = libc::CLONE_NEWUSER as u64;
const NEW_MOUNTS: u64 = libc::CLONE_NEWNS as u64;
const NEW_UTS: u64 = libc::CLONE_NEWUTS as u64;

/// In a process of its own, with every capability over new namespaces where they can be made.
pub(super) fn privileged(namespaces: u64, attempt: impl FnOnce() -> String) -> String {
    in_child(|| {
        // Where this fails the attempt is made all the same.
        let _ = numbers(libc::SYS_unshare, &[NEW_USER | namespaces]);
        attempt()
    })
}

/// A user namespace, by both calls that make one, and what could be undone in it.
pub(crate) fn nested_user(_: Words<'_>) {
    tell("unshare", in_child(|| word(numbers(libc::SYS_unshare, &[NEW_USER]))));
    tell(
        "clone",
        in_child(|| match numbers(libc::SYS_clone, &[NEW_USER | libc::SIGCHLD as u64]) {
            Ok(0) => crate::sys::exit(0),
            other => word(other),
        }),
    );
    let detach =
        || word(call(libc::SYS_umount2, vec![Arg::Z(c"/proc"), Arg::N(libc::MNT_DETACH as u64)]));
    tell("undo_a_mount", privileged(NEW_MOUNTS, detach));
}

/// The flag for a user namespace where a filter cannot see it.
pub(crate) fn hidden_flags(_: Words<'_>) {
    tell(
        "clone3",
        in_child(|| {
            // flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls
            let mut arguments = [0u64; 8];
            arguments[0] = NEW_USER;
            arguments[4] = libc::SIGCHLD as u64;
            let bytes: Vec<u8> = arguments.iter().flat_map(|word| word.to_ne_bytes()).collect();
            let length = bytes.len() as u64;
            match call(libc::SYS_clone3, vec![Arg::In(&bytes), Arg::N(length)]) {
                Ok(0) => crate::sys::exit(0),
                other => word(other),
            }
        }),
    );
}

/// The calls that make, copy, move and change mounts.
pub(crate) fn mounts(_: Words<'_>) {
    let here = libc::AT_FDCWD as u64;
    tell(
        "fsopen",
        privileged(NEW_MOUNTS, || word(opens(libc::SYS_fsopen, vec![Arg::Z(c"tmpfs"), Arg::N(0)]))),
    );
    tell(
        "open_tree",
        privileged(NEW_MOUNTS, || {
            word(opens(libc::SYS_open_tree, vec![Arg::N(here), Arg::Z(c"/"), Arg::N(1)]))
        }),
    );
    tell(
        "move_mount",
        privileged(NEW_MOUNTS, || {
            let words =
                vec![Arg::N(here), Arg::Z(c"/proc"), Arg::N(here), Arg::Z(c"/tmp"), Arg::N(0)];
            word(call(libc::SYS_move_mount, words))
        }),
    );
    tell(
        "mount_setattr",
        privileged(NEW_MOUNTS, || {
            // Takes the read-only mark away.
            let attributes: Vec<u8> =
                [0u64, 1, 0, 0].iter().flat_map(|word| word.to_ne_bytes()).collect();
            let words =
                vec![Arg::N(here), Arg::Z(c"/"), Arg::N(0), Arg::In(&attributes), Arg::N(32)];
            word(call(libc::SYS_mount_setattr, words))
        }),
    );
    tell(
        "mount",
        privileged(NEW_MOUNTS, || {
            let words =
                vec![Arg::Z(c"none"), Arg::Z(c"/tmp"), Arg::Z(c"tmpfs"), Arg::N(0), Arg::N(0)];
            word(call(libc::SYS_mount, words))
        }),
    );
}

/// Namespaces of others, and one of our own.
pub(crate) fn enter(_: Words<'_>) {
    for (label, path) in [("of_init", "/proc/1/ns/mnt"), ("own", "/proc/self/ns/uts")] {
        tell(
            label,
            privileged(NEW_UTS, || match std::fs::File::open(path) {
                Ok(file) => word(numbers(libc::SYS_setns, &[file.as_raw_fd() as u64, 0])),
                Err(error) => word::<()>(Err(crate::answer::errno_of(&error))),
            }),
        );
    }
}
