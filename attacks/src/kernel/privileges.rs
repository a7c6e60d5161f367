//! What a program with the set-uid bit gains.

use std::{fs, os::unix::fs::MetadataExt as _};

use crate::{Words, answer::tell};

/// This program, started from a file with the set-uid bit: who it is now, and what it may.
pub(crate) fn set_uid(_: Words<'_>) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.unwrap_or_default().trim().to_owned()
    };
    let same = |text: String| {
        let mut numbers = text.split_whitespace();
        let first = numbers.next().map(str::to_owned);
        first.is_some_and(|first| numbers.all(|number| number == first))
    };
    let bit = fs::metadata("/proc/self/exe").is_ok_and(|found| found.mode() & 0o4000 != 0);
    tell("bit", if bit { "set" } else { "lost" });
    tell("user", if same(field("Uid")) { "same" } else { "changed" });
    tell("group", if same(field("Gid")) { "same" } else { "changed" });
    for (label, name) in [("effective", "CapEff"), ("permitted", "CapPrm"), ("bounding", "CapBnd")]
    {
        let none = field(name).chars().all(|c| c == '0');
        tell(label, if none { "none" } else { "some" });
    }
    tell("no_new_privileges", field("NoNewPrivs"));
}
