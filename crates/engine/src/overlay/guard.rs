//! Files that make other programs run something: they are applied only when they are named.

use std::path::PathBuf;

use super::{record::Entry, tree::is_in};
use crate::{ChangeKind, FileKind};

/// Paths that are guarded whatever the policy says, wherever in the workspace they are.
const ALWAYS: &[&str] = &[
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".envrc",
    ".vscode/settings.json",
    ".vscode/tasks.json",
];

/// What is guarded: that, and what the policy protects.
pub(crate) fn guarded(protected: impl Iterator<Item = PathBuf>) -> Vec<String> {
    let protected = protected.filter_map(|path| path.into_os_string().into_string().ok());
    let mut all: Vec<String> =
        ALWAYS.iter().map(|path| (*path).to_owned()).chain(protected).collect();
    all.sort();
    all.dedup();
    all
}

/// Whether a change touches a guarded path: it is at one or below it, or puts something in the
/// place of a directory that one is in.
pub(super) fn is_guarded(entry: &Entry, guarded: &[String]) -> bool {
    let change = &entry.change;
    let harmless = change.file == FileKind::Directory
        && matches!(change.kind, ChangeKind::Added | ChangeKind::Modified);
    let matches = |tail: &[u8]| {
        guarded.iter().any(|guarded| {
            is_in(tail, guarded.as_bytes()) || (!harmless && is_in(guarded.as_bytes(), tail))
        })
    };
    tails(change.path.as_bytes()).any(matches)
}

/// Whether naming a path means to apply what is guarded there.
pub(super) fn names_guarded(path: &[u8], entry: &Entry, guarded: &[String]) -> bool {
    if path == entry.change.path.as_bytes() {
        return true;
    }
    tails(path).any(|tail| guarded.iter().any(|guarded| is_in(tail, guarded.as_bytes())))
}

/// A path, and what is left of it without its first directories.
fn tails(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::once(path).chain(
        path.iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'/')
            .map(|(index, _)| &path[index + 1..]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, FilePath};

    fn guarded(path: &str, kind: ChangeKind, file: FileKind) -> bool {
        let change = Change { path: FilePath::new(path), kind, file, mode: 0o644, size: 0 };
        let entry = Entry { change, lower: None, disturbed: false };
        let guarded = super::guarded(std::iter::empty());
        is_guarded(&entry, &guarded)
    }

    #[test]
    fn guarded_paths_are_found_at_any_depth() {
        use ChangeKind::{Added, Deleted, Modified, TypeChanged};
        use FileKind::{Directory, File, Symlink};
        assert!(guarded(".git/hooks/pre-commit", Added, File));
        assert!(guarded("sub/.git/config", Modified, File));
        assert!(guarded("a/.envrc", Added, Symlink));
        // What stands in for the directory of a guarded path.
        assert!(guarded(".git", TypeChanged, Symlink));
        assert!(guarded(".git", Added, File));
        assert!(guarded(".git", Deleted, Directory));
        assert!(!guarded(".git", Added, Directory));
        assert!(!guarded(".git/HEAD", Modified, File));
        assert!(!guarded("src/hooks", Modified, File));
        assert!(!guarded("x.envrc", Added, File));
    }
}
