//! Memory and queues that two boxes would share.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use crate::{
    Words,
    answer::{io_word, tell, word},
    sys::{Arg, call, numbers, opens},
};

const QUEUE: &std::ffi::CStr = c"fumehood-attack";
const FILE: &str = "/dev/shm/fumehood-attack";

/// `make KEY DIRECTORY` leaves things and waits until `done` appears in the directory; `look KEY`
/// looks for them.
pub(crate) fn memory(words: Words<'_>) {
    match words {
        ["make", key, directory] => make(key.parse().unwrap_or(1), Path::new(directory)),
        ["look", key] => look(key.parse().unwrap_or(1)),
        _ => {}
    }
}

fn make(key: u64, directory: &Path) {
    let create = (libc::IPC_CREAT | 0o666) as u64;
    let segment = numbers(libc::SYS_shmget, &[key, 4096, create]);
    let flags = (libc::O_CREAT | libc::O_RDWR) as u64;
    let queue =
        opens(libc::SYS_mq_open, vec![Arg::Z(QUEUE), Arg::N(flags), Arg::N(0o666), Arg::N(0)]);
    let file = fs::write(FILE, "left");
    tell("made", format!("{} {} {}", word(segment), word(queue), io_word(file)));
    let _ = fs::write(directory.join("ready"), "");
    let begun = Instant::now();
    while !directory.join("done").exists() && begun.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(10));
    }
    if let Ok(id) = segment {
        let _ = numbers(libc::SYS_shmctl, &[id as u64, libc::IPC_RMID as u64, 0]);
    }
    let _ = call(libc::SYS_mq_unlink, vec![Arg::Z(QUEUE)]);
    let _ = fs::remove_file(FILE);
}

fn look(key: u64) {
    tell("segment", word(numbers(libc::SYS_shmget, &[key, 0, 0])));
    tell(
        "queue",
        word(opens(libc::SYS_mq_open, vec![Arg::Z(QUEUE), Arg::N(0), Arg::N(0), Arg::N(0)])),
    );
    tell("file", io_word(fs::File::open(FILE)));
}
