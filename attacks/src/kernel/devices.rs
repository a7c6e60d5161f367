//! Devices, settings of the kernel, and the file systems by which it is told things.

use std::{fs, path::Path};

use super::namespaces::privileged;
use crate::{
    Words,
    answer::{io_word, open_for_writing, tell, word},
    sys::{Arg, call},
};

/// Cgroups of the host: mounted where, writable, and visible in our own path.
pub(crate) fn cgroups(_: Words<'_>) {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let of_cgroups = mounts.lines().filter(|line| line.contains(" - cgroup"));
    let places: Vec<&str> = of_cgroups.filter_map(|line| line.split(' ').nth(4)).collect();
    if places.is_empty() {
        tell("file_system", "absent");
    }
    for place in places {
        for file in ["release_agent", "cgroup.procs", "notify_on_release"] {
            tell("file_system", open_for_writing(Path::new(place).join(file)));
        }
    }
    let mount = || {
        let words =
            vec![Arg::Z(c"c"), Arg::Z(c"/tmp"), Arg::Z(c"cgroup"), Arg::N(0), Arg::Z(c"memory")];
        word(call(libc::SYS_mount, words))
    };
    tell("mount", privileged((libc::CLONE_NEWNS | libc::CLONE_NEWCGROUP) as u64, mount));
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let hidden = own.lines().all(|line| line.ends_with(":/"));
    tell("own_path", if hidden { "hidden" } else { "seen" });
}

/// Settings of the kernel, opened for writing; nothing is written. And whether we are root of the
/// host, whom no mode of a file stops.
pub(crate) fn settings(_: Words<'_>) {
    for (label, path) in [
        ("core_pattern", "/proc/sys/kernel/core_pattern"),
        ("sysrq", "/proc/sysrq-trigger"),
        ("binfmt", "/proc/sys/fs/binfmt_misc/register"),
        ("modprobe", "/proc/sys/kernel/modprobe"),
        ("user_namespaces", "/proc/sys/user/max_user_namespaces"),
        ("uevent_helper", "/sys/kernel/uevent_helper"),
    ] {
        tell(label, open_for_writing(path));
    }
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let user = status.lines().find_map(|line| line.strip_prefix("Uid:")?.split_whitespace().next());
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let rows =
        map.lines().map(|line| line.split_whitespace().filter_map(|n| n.parse().ok()).collect());
    let of_host = user.and_then(|user| user.parse().ok()).and_then(|user: u64| {
        let mut rows = rows;
        rows.find_map(|row: Vec<u64>| match row[..] {
            [inside, outside, count] if (inside..inside + count).contains(&user) => {
                Some(outside + (user - inside))
            }
            _ => None,
        })
    });
    tell("root_of_the_host", if of_host == Some(0) { "present" } else { "absent" });
}

/// Devices that reach the machine, by name and by number.
pub(crate) fn nodes(_: Words<'_>) {
    const CHARACTER: u64 = (libc::S_IFCHR | 0o600) as u64;
    for (label, path) in [
        ("mem", "/dev/mem"),
        ("kvm", "/dev/kvm"),
        ("fuse", "/dev/fuse"),
        ("loop", "/dev/loop-control"),
        ("kmsg", "/dev/kmsg"),
        ("kcore", "/proc/kcore"),
    ] {
        tell(label, io_word(fs::File::open(path)));
    }
    let make = |path, number: u64| {
        let words =
            vec![Arg::N(libc::AT_FDCWD as u64), Arg::Z(path), Arg::N(CHARACTER), Arg::N(number)];
        word(call(libc::SYS_mknodat, words))
    };
    tell("mknod", make(c"/tmp/memory", 0x101));
    // The one device that everybody may make: in an overlay it hides a file of another.
    tell("whiteout", make(c"/tmp/whiteout", 0));
    tell(
        "fuse_mount",
        privileged(libc::CLONE_NEWNS as u64, || {
            let words =
                vec![Arg::Z(c"f"), Arg::Z(c"/tmp"), Arg::Z(c"fuse"), Arg::N(0), Arg::Z(c"fd=9")];
            word(call(libc::SYS_mount, words))
        }),
    );
}
