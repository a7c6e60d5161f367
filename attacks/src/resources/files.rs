//! Space, files, and what names them.

use std::{
    env,
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::FileExt as _,
};

use super::number;
use crate::{
    Words,
    answer::{errno_of, io_word, tell, word},
    sys::{Arg, ignore, opens, pipe},
};

const MIB: u64 = 1 << 20;

/// Writes so many mebibytes.
fn fill(mut file: File, mebibytes: u64) -> io::Result<()> {
    let piece = vec![1u8; MIB as usize];
    (0..mebibytes).try_for_each(|_| file.write_all(&piece))
}

/// `MIB MEMFD`: fills the writable places, then a file in memory that has no name.
pub(crate) fn space(words: Words<'_>) {
    let (most, nameless) = (number(words, 0, 16), number(words, 1, 0));
    for (label, path) in [("tmp", "/tmp/full"), ("shm", "/dev/shm/full"), ("workspace", "full")] {
        tell(label, io_word(File::create(path).and_then(|file| fill(file, most))));
        let _ = fs::remove_file(path);
    }
    if nameless > 0 {
        let made = opens(libc::SYS_memfd_create, vec![Arg::Z(c"full"), Arg::N(0)]);
        let filled =
            made.and_then(|file| fill(file.into(), nameless).map_err(|error| errno_of(&error)));
        tell("memfd", word(filled));
    }
}

/// `COUNT`: as many empty files as that.
pub(crate) fn inodes(words: Words<'_>) {
    let made = fs::create_dir("/tmp/many").and_then(|()| {
        (0..number(words, 0, 1000))
            .try_for_each(|n| File::create(format!("/tmp/many/{n}")).map(drop))
    });
    tell("files", io_word(made));
    let _ = fs::remove_dir_all("/tmp/many");
}

/// `MIB`: one file as large as that, with nothing in it, and one byte at its end.
pub(crate) fn huge(words: Words<'_>) {
    let length = number(words, 0, 64) * MIB;
    // Else the first attempt would be the last.
    ignore(libc::SIGXFSZ);
    let open = |path| OpenOptions::new().create(true).write(true).truncate(true).open(path);
    tell("sparse", io_word(open("/tmp/sparse").and_then(|file| file.set_len(length))));
    tell("last_byte", io_word(open("/tmp/last").and_then(|file| file.write_at(b"x", length))));
    tell("workspace", io_word(open("sparse").and_then(|file| file.set_len(length))));
    for path in ["/tmp/sparse", "/tmp/last", "sparse"] {
        let _ = fs::remove_file(path);
    }
}

/// `COUNT`: as many descriptors as that, of three kinds.
pub(crate) fn descriptors(words: Words<'_>) {
    let count = number(words, 0, 256);
    let many = |make: &dyn Fn() -> Result<Vec<std::os::fd::OwnedFd>, i32>| {
        let all: Result<Vec<_>, i32> = (0..count).map(|_| make()).collect();
        word(all)
    };
    let null = || File::open("/dev/null").map(|file| vec![file.into()]).map_err(|e| errno_of(&e));
    tell("files", many(&null));
    tell("pipes", many(&|| pipe().map(|(reader, writer)| vec![reader.into(), writer])));
    tell("inotify", many(&|| opens(libc::SYS_inotify_init1, vec![Arg::N(0)]).map(|fd| vec![fd])));
}

/// `DEPTH`: directories in directories, left behind where we are.
pub(crate) fn deep(words: Words<'_>) {
    let made = (0..number(words, 0, 1000))
        .try_for_each(|_| fs::create_dir("d").and_then(|()| env::set_current_dir("d")));
    tell("made", io_word(made));
}
