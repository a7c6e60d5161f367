//! Attacks on what a box may use. Every one is bounded, so that it can also be made where nothing
//! stops it.

mod bombs;
mod files;
mod lives;
mod streams;

use crate::Attack;

/// Every attack, by its row.
pub(crate) const ATTACKS: &[(&str, Attack)] = &[
    ("R1", bombs::forks),
    ("R2", bombs::memory),
    ("R3", files::space),
    ("R4", files::inodes),
    ("R5", files::huge),
    ("R6", streams::endless),
    ("R7", bombs::spin),
    ("R8", lives::daemon),
    ("R9", lives::deaf),
    ("R10", files::descriptors),
    ("R11", files::deep),
    ("R13", streams::unread),
];

/// A number among the words.
fn number(words: crate::Words<'_>, place: usize, otherwise: u64) -> u64 {
    words.get(place).and_then(|word| word.parse().ok()).unwrap_or(otherwise)
}
