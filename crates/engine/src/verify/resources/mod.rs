//! Rows about what a box may use.

mod limits;
mod lives;
mod trees;

use self::{
    limits::{
        ample_output, descriptors, endless_output, fill, fork_bomb, huge_file, inodes, memory_bomb,
        spin, unread,
    },
    lives::{bare_daemon, bare_deaf, daemon, deaf, left_behind, many_runs},
    trees::{deep_tree, hostile_archives, naive_unpacker, removal_by_path},
};
use super::{
    judge::{all, held, one},
    row::{Row, Twin, host, inside, row},
};
use crate::Layer;

/// Every row.
pub(super) static ROWS: &[Row] = &[
    row(
        "R1",
        "a fork bomb",
        "EAGAIN, and the host stays responsive",
        "process limit",
        &[Layer::Pids],
        (
            host(fork_bomb),
            &[one("forks", &["EAGAIN"]), one("host", &["responsive"])],
            Twin::Without(&[Layer::Pids]),
        ),
    ),
    row(
        "R2",
        "a memory bomb that touches its pages",
        "out of memory, named in the result",
        "memory limit, swap off",
        &[Layer::Memory],
        (host(memory_bomb), &[one("memory", &["oom"])], Twin::Without(&[Layer::Memory])),
    ),
    row(
        "R3",
        "fill the tmpfs, shared memory, a file in memory",
        "charged to the box, ENOSPC or out of memory",
        "size of the tmpfs, memory limit",
        &[Layer::Disk, Layer::Memory],
        (
            host(fill),
            &[
                held("memfd", &["oom", "ENOSPC", "ENOMEM"], Layer::Memory),
                all(&["ENOSPC", "ENOMEM"]),
            ],
            Twin::WithoutNatively(
                &[Layer::Disk],
                "every tmpfs of a container has the disk limit as its size",
            ),
        ),
    ),
    row(
        "R4",
        "use up all inodes",
        "ENOSPC",
        "number of inodes",
        &[Layer::Disk],
        (
            inside(inodes),
            &[held("files", &["ENOSPC", "ENOMEM"], Layer::Disk)],
            Twin::WithoutNatively(
                &[Layer::Disk],
                "every tmpfs of a container has the disk limit as its size",
            ),
        ),
    ),
    row(
        "R5",
        "one huge or sparse file",
        "EFBIG",
        "file size limit",
        &[Layer::Files],
        (inside(huge_file), &[all(&["EFBIG"])], Twin::Without(&[Layer::Files])),
    ),
    row(
        "R6",
        "endless output",
        "cut at the limit and marked, the reader never waits",
        "supervisor",
        &[],
        (
            host(endless_output),
            &[all(&["cut"])],
            Twin::Staged("with room for all of it", host(ample_output)),
        ),
    ),
    row(
        "R7",
        "spin in many children",
        "held to the quota, dead at the timeout",
        "processor limit",
        &[Layer::Cpu],
        (
            host(spin),
            &[held("share", &["held"], Layer::Cpu), one("ended", &["dead"])],
            Twin::Without(&[Layer::Cpu]),
        ),
    ),
    row(
        "R8",
        "setsid and a double fork past the timeout",
        "dead",
        "pid namespace",
        &[Layer::PidNamespace],
        (
            host(daemon),
            &[all(&["dead"])],
            Twin::Staged("a program started without a box", host(bare_daemon)),
        ),
    ),
    row(
        "R9",
        "ignore SIGTERM, SIGSTOP on itself",
        "dead after the grace period",
        "SIGKILL on the namespace",
        &[Layer::PidNamespace],
        (
            host(deaf),
            &[all(&["dead"])],
            Twin::Staged("a program started without a box", host(bare_deaf)),
        ),
    ),
    row(
        "R10",
        "use up descriptors, pipes, inotify",
        "EMFILE",
        "resource limits",
        &[Layer::Files],
        (
            inside(descriptors),
            &[all(&["EMFILE"])],
            Twin::WithoutNatively(
                &[Layer::Files],
                "an engine is always told how many files may be open",
            ),
        ),
    ),
    row(
        "R11",
        "leave a directory tree behind that is deeper than any path is long",
        "clean-up completes",
        "removal by descriptor, without recursion",
        &[],
        (
            host(deep_tree),
            &[all(&["removed"])],
            Twin::Staged("a removal that goes by paths", host(removal_by_path)),
        ),
    ),
    row(
        "R12",
        "an archive with ../, a device, links out, a bomb",
        "rejected, nothing written outside",
        "limits and checks while unpacking",
        &[],
        (
            host(hostile_archives),
            &[all(&["rejected"])],
            Twin::Staged("an unpacker that believes names", host(naive_unpacker)),
        ),
    ),
    row(
        "R13",
        "input that is never read, output that the caller never takes",
        "no deadlock, no growth",
        "bounded queues",
        &[],
        (
            host(unread),
            &[all(&["ended"])],
            Twin::Not("there is no queue without a bound that could be used instead"),
        ),
    ),
    Row {
        alone: true,
        ..row(
            "R14",
            "many one-shot runs in a row",
            "no process, mount, cgroup, namespace or descriptor left",
            "clean-up",
            &[],
            (
                host(many_runs),
                &[all(&["none"])],
                Twin::Staged("a run that is not waited for", host(left_behind)),
            ),
        )
    },
];
