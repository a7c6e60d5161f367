//! Characters pushed into a terminal as if its owner had typed them.

use std::{fs::OpenOptions, os::fd::AsRawFd as _};

use crate::{
    Words,
    answer::{errno_of, io_word, tell, word},
    sys::{Arg, call, in_child, numbers, terminal},
};

/// Into a terminal of our own, which the kernel allows; and the caller's, which must not be there.
pub(crate) fn injection(_: Words<'_>) {
    tell("callers_terminal", io_word(OpenOptions::new().read(true).open("/dev/tty")));
    let Ok((_master, path)) = terminal() else { return tell("tiocsti", "no_terminal") };
    for (label, request) in [("tiocsti", 0x5412), ("tioclinux", 0x541c)] {
        tell(
            label,
            in_child(|| {
                // A terminal that a session leader opens becomes its own.
                let _ = numbers(libc::SYS_setsid, &[]);
                let opened = OpenOptions::new().read(true).write(true).open(&path);
                let pushed = opened.map_err(|error| errno_of(&error)).and_then(|file| {
                    let words =
                        vec![Arg::N(file.as_raw_fd() as u64), Arg::N(request), Arg::In(b"x\0\0\0")];
                    call(libc::SYS_ioctl, words)
                });
                word(pushed)
            }),
        );
    }
}
