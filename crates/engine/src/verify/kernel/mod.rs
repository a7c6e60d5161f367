//! Rows about the kernel and privileges.

mod checks;

use self::checks::{
    bare, set_uid_program, shared_memory, signal, sockets, stray_descriptor, swapped_targets,
    writable_program,
};
use super::{
    judge::{all, held, one},
    row::{Row, Trial, Twin, host, inside, row},
    stage::{Stage, Trouble},
};
use crate::{Layer, Request};

/// What a filter says, or a kernel to whoever has no capability.
const REFUSED: &[&str] = &["EPERM"];
const NOT_THERE: &[&str] = &["ENOENT", "EACCES", "EPERM"];
const READ_ONLY: &[&str] = &["EROFS", "EACCES", "ENOENT", "EPERM"];

const BOTH_WALLS: &[Layer] = &[Layer::Seccomp, Layer::Nesting];

macro_rules! plain {
    ($id:literal) => {
        Trial::Inside({
            fn prepare(stage: &Stage<'_>) -> Result<Request, Trouble> {
                Ok(stage.attack([$id]))
            }
            prepare
        })
    };
}

/// Every row.
pub(super) static ROWS: &[Row] = &[
    row(
        "K1",
        "overwrite the runtime through /proc/self/exe or /proc/1/exe",
        "ETXTBSY, EROFS or EACCES",
        "sealed or read-only init, pid namespace",
        &[Layer::PidNamespace, Layer::ReadOnlyRoot],
        (
            plain!("K1"),
            &[all(&["ETXTBSY", "EROFS", "EACCES", "EPERM", "ENOENT"])],
            Twin::Staged("a program where it can be written", inside(writable_program)),
        ),
    ),
    row(
        "K2",
        "leaked descriptors, or a working directory outside of the root",
        "only 0 to 2 open, the working directory inside",
        "descriptors closed, working directory checked after the pivot",
        &[Layer::Descriptors],
        (
            inside(stray_descriptor),
            &[one("descriptors", &["only_streams"]), one("working_directory", &["inside"])],
            Twin::Staged("a program started without a box, with a stray descriptor", host(bare)),
        ),
    ),
    row(
        "K3",
        "a link in the place of a masked path or mount target, put there while the box is made",
        "set-up aborts, nothing runs",
        "mounts by descriptor, no link followed",
        &[Layer::CoveredPaths, Layer::MountNamespace],
        (
            host(swapped_targets),
            &[all(&["aborted", "ENOENT", "EACCES", "EPERM", "ELOOP"])],
            Twin::Without(&[Layer::CoveredPaths]),
        ),
    ),
    row(
        "K4",
        "release_agent through a mounted cgroup",
        "EPERM, no cgroup file system that can be written",
        "no capabilities, cgroup namespace",
        &[Layer::CgroupNamespace, Layer::Seccomp, Layer::Capabilities],
        (
            plain!("K4"),
            &[
                one("file_system", &["absent", "EROFS", "EACCES", "ENOENT", "EPERM"]),
                one("mount", REFUSED),
                held("own_path", &["hidden"], Layer::CgroupNamespace),
            ],
            Twin::WithoutNatively(
                &[Layer::CgroupNamespace],
                "an engine decides by itself which cgroups a container sees",
            ),
        ),
    ),
    row(
        "K5",
        "write core_pattern, sysrq-trigger, anything below /proc/sys",
        "EROFS or EACCES",
        "read-only proc, never root of the host",
        &[Layer::MountNamespace, Layer::UserNamespace],
        (plain!("K5"), &[one("root_of_the_host", &["absent"]), all(READ_ONLY)], Twin::NoBoxAsRoot),
    ),
    row(
        "K6",
        "a nested user namespace, then undo mounts",
        "EPERM",
        "seccomp, and no user namespaces inside",
        BOTH_WALLS,
        (plain!("K6"), &[all(&["EPERM", "ENOSPC"])], Twin::Without(BOTH_WALLS)),
    ),
    row(
        "K7",
        "namespace flags hidden in clone3",
        "ENOSYS, so that libraries fall back",
        "seccomp",
        &[Layer::Seccomp],
        (plain!("K7"), &[all(&["ENOSYS"])], Twin::Without(BOTH_WALLS)),
    ),
    row(
        "K8",
        "the mount calls: fsopen, open_tree, move_mount, mount_setattr, mount",
        "EPERM or ENOSYS",
        "seccomp",
        &[Layer::Seccomp],
        (plain!("K8"), &[all(&["EPERM", "ENOSYS"])], Twin::Without(BOTH_WALLS)),
    ),
    row(
        "K9",
        "setns through /proc/*/ns/*",
        "EPERM",
        "seccomp, pid namespace",
        &[Layer::Seccomp, Layer::PidNamespace],
        (plain!("K9"), &[all(&["EPERM", "EACCES"])], Twin::Without(BOTH_WALLS)),
    ),
    row(
        "K10",
        "io_uring set-up",
        "an error, never a kill",
        "seccomp",
        &[Layer::Seccomp],
        (plain!("K10"), &[all(&["ENOSYS", "EPERM"])], Twin::Without(&[Layer::Seccomp])),
    ),
    row(
        "K11",
        "AF_ALG, AF_VSOCK, AF_PACKET and raw sockets",
        "EAFNOSUPPORT or EPERM",
        "seccomp on socket families",
        &[Layer::Seccomp],
        (plain!("K11"), &[all(&["EAFNOSUPPORT", "EPERM"])], Twin::Without(BOTH_WALLS)),
    ),
    row(
        "K12",
        "bpf, perf_event_open, userfaultfd, kexec, init_module, open_by_handle_at",
        "EPERM",
        "seccomp",
        &[Layer::Seccomp],
        (plain!("K12"), &[all(REFUSED)], Twin::Without(&[Layer::Seccomp])),
    ),
    row(
        "K13",
        "keyctl: leave a key for the next run",
        "EPERM",
        "seccomp",
        &[Layer::Seccomp],
        (plain!("K13"), &[all(REFUSED)], Twin::Without(&[Layer::Seccomp])),
    ),
    row(
        "K14",
        "the entry points of i386 and x32",
        "killed or ENOSYS",
        "seccomp architecture check",
        &[Layer::Seccomp],
        (plain!("K14"), &[all(&["killed", "ENOSYS"])], Twin::Without(&[Layer::Seccomp])),
    ),
    row(
        "K15",
        "garbage in the high 32 bits of socket and ioctl arguments",
        "the same refusal",
        "masked comparison",
        &[Layer::Seccomp],
        (
            plain!("K15"),
            &[one("tiocsti", REFUSED), all(&["EAFNOSUPPORT", "EPERM"])],
            Twin::Without(&[Layer::Seccomp]),
        ),
    ),
    row(
        "K16",
        "a set-uid program, file capabilities",
        "no gain",
        "no_new_privs, no capabilities",
        &[Layer::NoNewPrivileges, Layer::Capabilities],
        (
            inside(set_uid_program),
            &[
                one("user", &["same"]),
                one("group", &["same"]),
                one("effective", &["none"]),
                one("permitted", &["none"]),
                one("bounding", &["none"]),
                one("no_new_privileges", &["1"]),
            ],
            // The kernel wants it before it takes a filter or a rule set from an ordinary process.
            Twin::Without(&[Layer::NoNewPrivileges, Layer::Seccomp, Layer::Landlock]),
        ),
    ),
    row(
        "K17",
        "mknod, /dev/mem, /dev/kvm, a mount of FUSE",
        "EPERM or absent",
        "minimal /dev, no devices, Landlock",
        &[Layer::MountNamespace, Layer::Capabilities, Layer::Landlock],
        (
            plain!("K17"),
            &[held("whiteout", NOT_THERE, Layer::Landlock), all(NOT_THERE)],
            Twin::Without(&[Layer::Landlock]),
        ),
    ),
    row(
        "K18",
        "TIOCSTI and TIOCLINUX into the caller's terminal",
        "EPERM or ENOTTY",
        "own session and terminal, seccomp",
        &[Layer::Seccomp],
        (
            plain!("K18"),
            &[
                one("callers_terminal", &["ENXIO", "ENOENT", "EACCES", "ENOTTY", "EPERM"]),
                all(&["EPERM", "ENOTTY"]),
            ],
            Twin::Without(&[Layer::Seccomp]),
        ),
    ),
    row(
        "K19",
        "ptrace, process_vm_readv, /proc/PID/mem on init or a sibling",
        "ESRCH or EPERM",
        "pid namespace, not dumpable, seccomp",
        &[Layer::PidNamespace, Layer::Seccomp],
        (plain!("K19"), &[all(&["ESRCH", "EPERM", "EACCES"])], Twin::Without(&[Layer::Seccomp])),
    ),
    row(
        "K20",
        "signal the supervisor or processes of other boxes",
        "ESRCH",
        "pid namespace",
        &[Layer::PidNamespace],
        (inside(signal), &[one("signal", &["ESRCH"]), all(&["own_only"])], Twin::NoBox),
    ),
    row(
        "K21",
        "abstract sockets of the host, sockets by path (Docker, D-Bus, nscd)",
        "refused or absent",
        "net namespace, mounts, Landlock",
        &[Layer::NetNamespace, Layer::MountNamespace, Layer::Landlock],
        (
            inside(sockets),
            &[
                one("abstract", &["ECONNREFUSED", "EPERM"]),
                one("pathname", &["ENOENT", "EACCES", "EPERM", "ENOTDIR"]),
            ],
            Twin::Without(&[Layer::NetNamespace, Layer::Landlock]),
        ),
    ),
    row(
        "K22",
        "a core dump through a piped core_pattern",
        "none written",
        "no room for core files",
        &[Layer::Files],
        (
            plain!("K22"),
            &[one("room", &["no_room"]), one("core", &["none"])],
            Twin::Without(&[Layer::Files]),
        ),
    ),
    row(
        "K23",
        "shared /dev/shm, System V memory and POSIX queues between two boxes",
        "absent",
        "ipc namespace, private tmpfs",
        &[Layer::IpcNamespace],
        (host(shared_memory), &[all(&["ENOENT"])], Twin::Without(&[Layer::IpcNamespace])),
    ),
];
