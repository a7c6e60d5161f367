//! Other processes: their memory, and signals for them.

use std::{fs, thread, time::Duration};

use crate::{
    Words,
    answer::{io_word, tell, word},
    sys::{Arg, call, fork, in_child, numbers, wait},
};

const ATTACH: u64 = 16;

/// Reads the memory of init and of a sibling.
pub(crate) fn reach_into(_: Words<'_>) {
    tell("ptrace_init", in_child(|| word(numbers(libc::SYS_ptrace, &[ATTACH, 1, 0, 0]))));
    let mut word_of_it = [0u8; 8];
    let read = |pid: u64, into: &mut [u8]| {
        let address = into.as_ptr() as u64;
        let own: Vec<u8> = [address, 8].iter().flat_map(|word| word.to_ne_bytes()).collect();
        let words =
            vec![Arg::N(pid), Arg::In(&own), Arg::N(1), Arg::In(&own), Arg::N(1), Arg::N(0)];
        word(call(libc::SYS_process_vm_readv, words))
    };
    tell("read_init", read(1, &mut word_of_it));
    for (label, path) in [("memory_of_init", "/proc/1/mem"), ("maps_of_init", "/proc/1/maps")] {
        tell(label, io_word(fs::read(path).map(|_| ())));
    }
    tell("descriptors_of_init", io_word(fs::read_dir("/proc/1/fd")));
    let Ok(sibling) = fork(|| thread::sleep(Duration::from_secs(60))) else { return };
    tell(
        "ptrace_sibling",
        in_child(|| word(numbers(libc::SYS_ptrace, &[ATTACH, sibling as u64, 0, 0]))),
    );
    tell("read_sibling", read(sibling as u64, &mut word_of_it));
    let _ = numbers(libc::SYS_kill, &[sibling as u64, libc::SIGKILL as u64]);
    wait(sibling);
}

/// Asks whether signals could be sent to processes of the host, and looks for others' processes.
pub(crate) fn signal(words: Words<'_>) {
    for pid in words.iter().filter_map(|word| word.parse::<u64>().ok()) {
        tell("signal", word(numbers(libc::SYS_kill, &[pid, 0])));
    }
    // Every number that a busy machine has in use.
    let seen = (2..100_000).filter(|pid| numbers(libc::SYS_kill, &[*pid, 0]) != Err(libc::ESRCH));
    tell("seen_by_signal", if seen.count() > 3 { "others" } else { "own_only" });
    let names = fs::read_dir("/proc").map(|entries| {
        entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok()).count()
    });
    tell("seen_in_proc", if names.is_ok_and(|count| count > 4) { "others" } else { "own_only" });
}
