//! What the kernel writes when a program crashes.

use crate::{
    Words,
    answer::tell,
    sys::{Ended, fork, limit_of, numbers, wait},
};

/// A core file, where there is no room for one: with room for one nothing is written here, since it
/// would go wherever the host's settings say.
pub(crate) fn core_dump(_: Words<'_>) {
    // One byte is what keeps a program that is piped to from being started.
    let room = limit_of(libc::RLIMIT_CORE).map_or(u64::MAX, |(_, hard)| hard);
    tell("room", if room > 1 { "room" } else { "no_room" });
    if room > 1 {
        return;
    }
    let child = fork(|| {
        let _ = numbers(libc::SYS_kill, &[std::process::id().into(), libc::SIGABRT as u64]);
    });
    let Ok(pid) = child else { return tell("core", "no_process") };
    tell(
        "core",
        match wait(pid) {
            Ended::Killed { core: true } => "written",
            Ended::Killed { core: false } => "none",
            Ended::Exited => "survived",
        },
    );
}
