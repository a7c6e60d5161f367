//! Attacks on files: reading what is denied, changing what is not ours.

mod denied;
mod outside;
mod secrets;

use std::{fs, io::Read as _, path::Path};

use crate::{Attack, answer::io_word};

/// Every attack, by its row.
pub(crate) const ATTACKS: &[(&str, Attack)] = &[
    ("F1", secrets::of_the_host),
    ("F2", secrets::of_the_host),
    ("F3", denied::created_later),
    ("F4", denied::renamed_parent),
    ("F5", denied::hard_link),
    ("F6", denied::other_names),
    ("F7", denied::plant_links),
    ("F8", denied::other_names),
    ("F9", outside::poison),
    ("F10", secrets::of_the_caller),
    ("F11", outside::create),
    ("F12", outside::create),
];

/// What reading a file gets; `secret` where it holds the word.
pub(crate) fn read(path: impl AsRef<Path>) -> String {
    let mut text = Vec::new();
    let result = fs::File::open(path).and_then(|file| file.take(4096).read_to_end(&mut text));
    match result {
        Ok(_) if text.windows(6).any(|six| six == b"secret") => "secret".to_owned(),
        other => io_word(other),
    }
}
