//! The program that makes the box, and what it might leave open.

use std::{
    env, fs,
    os::{fd::AsRawFd as _, unix::fs::PermissionsExt as _},
    process::Command,
};

use crate::{
    Words,
    answer::{io_word, open_for_writing, tell},
};

/// Overwrites a program through `/proc`: ours, and that of process 1. With a path the attempt is
/// made on a copy of ours at that path, which has ended.
pub(crate) fn overwrite(words: Words<'_>) {
    if let [path] = words {
        let writable = || fs::set_permissions(path, fs::Permissions::from_mode(0o755));
        let copied =
            env::current_exe().and_then(|own| fs::copy(own, path)).and_then(|_| writable());
        let ran = copied.and_then(|_| Command::new(path).arg("none").output());
        let file = ran.and_then(|_| fs::File::open(path));
        return match file {
            Ok(file) => {
                tell(
                    "own_program",
                    open_for_writing(format!("/proc/self/fd/{}", file.as_raw_fd())),
                );
            }
            Err(error) => tell("own_program", io_word::<()>(Err(error))),
        };
    }
    tell("own_program", open_for_writing("/proc/self/exe"));
    tell("init", open_for_writing("/proc/1/exe"));
    if let Ok(file) = fs::File::open("/proc/self/exe") {
        tell("through_descriptor", open_for_writing(format!("/proc/self/fd/{}", file.as_raw_fd())));
    }
    let path = env::current_exe().unwrap_or_default();
    tell("by_path", open_for_writing(path));
}

/// Descriptors that somebody forgot to close, and a working directory outside of the root.
pub(crate) fn descriptors(_: Words<'_>) {
    let extra = fs::read_dir("/proc/self/fd").map(|entries| {
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let numbers: Vec<i32> = names.filter_map(|name| name.parse().ok()).collect();
        // The directory that was read is closed by now.
        let open = |n: &&i32| fs::read_link(format!("/proc/self/fd/{n}")).is_ok();
        numbers.iter().filter(|n| **n > 2).filter(open).count()
    });
    tell(
        "descriptors",
        match extra {
            Ok(0) => "only_streams".to_owned(),
            Ok(count) => format!("extra:{count}"),
            Err(error) => io_word::<()>(Err(error)),
        },
    );
    let inside = env::current_dir().is_ok_and(|path| path.starts_with("/") && path.exists());
    tell("working_directory", if inside { "inside" } else { "outside" });
}

/// Reads a file that is denied, at each of these paths.
pub(crate) fn masked(words: Words<'_>) {
    for path in words {
        // It may be away for a moment.
        let mut tries = (0..60).map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            crate::files::read(path)
        });
        let found = tries.find(|answer| answer != "ENOENT");
        tell("read", found.unwrap_or_else(|| "ENOENT".to_owned()));
    }
}
