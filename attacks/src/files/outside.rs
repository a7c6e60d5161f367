//! Files that are executed or obeyed outside of the box later, and files that are not the box's.

use std::{
    fs::{self, OpenOptions},
    path::Path,
};

use crate::{
    Words,
    answer::{io_word, tell},
};

/// `PATH...`: writes to each, removes each, and puts another in the place of what it is in.
pub(crate) fn poison(words: Words<'_>) {
    for path in words {
        tell("write", io_word(OpenOptions::new().append(true).open(path)));
        tell("replace", io_word(fs::write("other", "").and_then(|()| fs::rename("other", path))));
        tell("remove", io_word(fs::remove_file(path)));
        let parent = Path::new(path).parent().filter(|parent| parent.components().count() > 0);
        if let Some(parent) = parent {
            tell("move_away", io_word(fs::rename(parent, "gone")));
            tell("add_beside", io_word(fs::write(Path::new(path).with_file_name("added"), "")));
        }
    }
}

/// `PATH...`: a new file at each.
pub(crate) fn create(words: Words<'_>) {
    for path in words {
        tell("create", io_word(OpenOptions::new().create(true).append(true).open(path)));
    }
}
