//! Ways to a file of the workspace that the policy denies.

use std::{fs, os::fd::AsRawFd as _, os::unix::fs::symlink};

use super::read;
use crate::{
    Words,
    answer::{io_word, tell},
};

/// `PATH`: creates a file that was not there when the box was made.
pub(crate) fn created_later(words: Words<'_>) {
    for path in words {
        tell("create", io_word(fs::write(path, "secret")));
    }
}

/// `DENIED PROTECTED`: renames what they are in, and tries again under the new name.
pub(crate) fn renamed_parent(words: Words<'_>) {
    let [denied, protected] = words else { return };
    let parent = |path: &str| path.rsplit_once('/').map(|(parent, _)| parent.to_owned());
    for (label, path) in [("denied", denied), ("protected", protected)] {
        let Some(parent) = parent(path) else { continue };
        let moved = format!("{parent}-moved");
        let renamed = fs::rename(&parent, &moved);
        let there = if renamed.is_ok() { moved } else { parent };
        let name = path.rsplit('/').next().unwrap_or_default();
        match label {
            "denied" => tell("read_denied", read(format!("{there}/{name}"))),
            _ => tell("rename_above_protected", io_word(renamed)),
        }
    }
}

/// `PATH`: another name for the same file, and a read by that name.
pub(crate) fn hard_link(words: Words<'_>) {
    for path in words {
        tell("link", io_word(fs::hard_link(path, "hard")));
        tell("read_link", read("hard"));
    }
}

/// `PATH...`: each of these, also through what `/proc` has for it.
pub(crate) fn other_names(words: Words<'_>) {
    for path in words {
        tell("read", read(path));
        tell("through_root", read(format!("/proc/self/root{path}")));
        let Some((parent, name)) = path.rsplit_once('/') else { continue };
        if let Ok(directory) = fs::File::open(parent) {
            tell(
                "through_descriptor",
                read(format!("/proc/self/fd/{}/{name}", directory.as_raw_fd())),
            );
        }
        if std::env::set_current_dir(parent).is_ok() {
            tell("through_working_directory", read(format!("/proc/self/cwd/{name}")));
        }
    }
}

/// `TARGET`: links in the workspace that somebody outside may follow later.
pub(crate) fn plant_links(words: Words<'_>) {
    let Some(target) = words.first() else { return };
    tell("file_link", io_word(symlink(target, "report.txt")));
    let above = target.rsplit_once('/').map_or("/", |(above, _)| above);
    tell("directory_link", io_word(symlink(above, "results")));
    tell("climbing_link", io_word(symlink("../../../../../../../../etc", "climb")));
}
