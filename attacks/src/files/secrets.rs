//! Secrets of the host and of whoever started the box.

use std::{env, fs};

use super::read;
use crate::{
    Words,
    answer::{io_word, tell},
};

/// Each path that is given, also through `/proc`.
pub(crate) fn of_the_host(words: Words<'_>) {
    for path in words {
        let is_directory = fs::metadata(path).is_ok_and(|found| found.is_dir());
        let own = if is_directory { io_word(fs::read_dir(path)) } else { read(path) };
        tell("read", own);
        tell("through_self", read(format!("/proc/self/root{path}")));
        tell("through_init", read(format!("/proc/1/root{path}")));
    }
}

/// `OWN-HOST-NAME VARIABLE...`: the variables of the caller, the environment of init, command lines
/// of others, and the name of the host.
pub(crate) fn of_the_caller(words: Words<'_>) {
    let Some((host_name, variables)) = words.split_first() else { return };
    let seen = variables.iter().filter(|name| env::var_os(name).is_some()).count();
    tell("variables", if seen == 0 { "absent" } else { "present" });
    tell("environment_of_init", io_word(fs::read("/proc/1/environ")));
    let own = std::process::id();
    let foreign = fs::read_dir("/proc").map(|entries| {
        let pids =
            entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
        let others = pids.filter(|pid| *pid != own && *pid != 1);
        // Threads of the kernel have none.
        others
            .filter(|pid| {
                fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty())
            })
            .count()
    });
    tell(
        "command_lines",
        match foreign {
            Ok(0) => "absent".to_owned(),
            Ok(_) => "present".to_owned(),
            Err(error) => io_word::<()>(Err(error)),
        },
    );
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    tell("host_name", if name.trim() == *host_name { "present" } else { "absent" });
}
