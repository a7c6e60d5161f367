//! Output without end, and input that nobody reads.

use std::io::Write as _;

use super::number;
use crate::{Words, answer::tell};

/// `MIB`: as much output as that.
pub(crate) fn endless(words: Words<'_>) {
    let line = [[b'x'; 1023].as_slice(), b"\n"].concat();
    let mut output = std::io::stdout().lock();
    for _ in 0..number(words, 0, 16) * 1024 {
        if output.write_all(&line).is_err() {
            return;
        }
    }
}

/// `MIB`: as much output, and not a byte of the input is read.
pub(crate) fn unread(words: Words<'_>) {
    endless(words);
    tell("unread", "written");
}
