//! Processes that do not want to end.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use super::number;
use crate::{
    Words,
    answer::tell,
    sys::{fork, ignore, numbers, wait},
};

/// Writes a sign of life, again and again, for so many seconds.
fn beat(directory: &Path, seconds: u64) {
    let begun = Instant::now();
    let mut count = 0u64;
    while begun.elapsed() < Duration::from_secs(seconds) {
        count += 1;
        let _ = fs::write(directory.join("beat"), count.to_string());
        thread::sleep(Duration::from_millis(20));
    }
}

/// `DIRECTORY SECONDS HOLD`: a grandchild in a session of its own lives on for so many seconds. We
/// stay for as long as told.
pub(crate) fn daemon(words: Words<'_>) {
    let Some(directory) = words.first().map(Path::new) else { return };
    let child = fork(|| {
        let _ = numbers(libc::SYS_setsid, &[]);
        let _ = fork(|| {
            [libc::SIGTERM, libc::SIGHUP, libc::SIGINT].into_iter().for_each(ignore);
            beat(directory, number(words, 1, 3));
        });
    });
    if let Ok(pid) = child {
        wait(pid);
    }
    let begun = Instant::now();
    while !directory.join("beat").exists() && begun.elapsed() < Duration::from_secs(5) {
        thread::sleep(Duration::from_millis(5));
    }
    tell("daemon", if directory.join("beat").exists() { "started" } else { "absent" });
    thread::sleep(Duration::from_secs(number(words, 2, 0)));
}

/// `SECONDS`: hears no polite signal, and a child of it stops itself.
pub(crate) fn deaf(words: Words<'_>) {
    [libc::SIGTERM, libc::SIGHUP, libc::SIGINT].into_iter().for_each(ignore);
    let stopped = fork(|| {
        // Where nobody ends it, it must not stay stopped for ever.
        let _ = numbers(libc::SYS_prctl, &[libc::PR_SET_PDEATHSIG as u64, libc::SIGKILL as u64]);
        let _ = numbers(libc::SYS_kill, &[std::process::id().into(), libc::SIGSTOP as u64]);
    });
    tell("deaf", "started");
    thread::sleep(Duration::from_secs(number(words, 0, 5)));
    if let Ok(pid) = stopped {
        let _ = numbers(libc::SYS_kill, &[pid as u64, libc::SIGKILL as u64]);
    }
    tell("deaf", "lived_on");
}
