//! The changes of an overlay as a unified diff, with the extended headers that `git apply` and
//! `patch` understand: new and deleted files, modes, symbolic links. Directories have no place in
//! such a diff; binary files are named only.

use std::io::Write;

use rustix::io::Errno;

use super::{
    error::{OverlayError, Reason},
    record::Entry,
    stamp::read_at_most,
    tree::{Tree, link_target},
    unified::{self, Comparison},
};
use crate::{Change, ChangeKind, FileKind};

/// What is longer counts as binary.
const MOST_SHOWN: u64 = 4 << 20;
/// Where the first zero byte must be to make a file binary.
const LOOKED_AT: usize = 8000;

/// How much one change changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStatistics {
    /// The change.
    pub change: Change,
    /// Lines added and lines removed; absent for what has no lines.
    pub lines: Option<(usize, usize)>,
}

/// One state of a file.
#[derive(PartialEq)]
struct State {
    link: bool,
    mode: u32,
    /// Absent if it is binary.
    text: Option<Vec<u8>>,
}

impl State {
    /// The mode as git writes it: a kind, and whether it can be executed.
    fn git_mode(&self) -> u32 {
        match (self.link, self.mode & 0o100 != 0) {
            (true, _) => 0o120_000,
            (false, true) => 0o100_755,
            (false, false) => 0o100_644,
        }
    }
}

/// Writes the changes.
pub(super) fn write(
    entries: &[Entry],
    upper: &Tree,
    lower: &Tree,
    output: &mut dyn Write,
) -> Result<(), OverlayError> {
    for entry in entries {
        for (old, new) in patches(entry, upper, lower)? {
            write_patch(entry.path(), old.as_ref(), new.as_ref(), output)
                .map_err(OverlayError::Output)?;
        }
    }
    Ok(())
}

/// Counts the lines of the changes.
pub(super) fn statistics(
    entries: &[Entry],
    upper: &Tree,
    lower: &Tree,
) -> Result<Vec<FileStatistics>, OverlayError> {
    let mut all = Vec::new();
    for entry in entries {
        let mut lines = None;
        for (old, new) in patches(entry, upper, lower)? {
            let text = |state: &Option<State>| match state {
                Some(state) => state.text.clone(),
                None => Some(Vec::new()),
            };
            if let (Some(old), Some(new)) = (text(&old), text(&new)) {
                let (added, removed) = Comparison::new(&old, &new).counts();
                let (before_added, before_removed) = lines.unwrap_or_default();
                lines = Some((before_added + added, before_removed + removed));
            }
        }
        all.push(FileStatistics { change: entry.change.clone(), lines });
    }
    Ok(all)
}

type Patch = (Option<State>, Option<State>);

/// A change as old and new states. What becomes something else is first deleted, then added.
fn patches(entry: &Entry, upper: &Tree, lower: &Tree) -> Result<Vec<Patch>, OverlayError> {
    if !entry.is_usable() {
        return Ok(Vec::new());
    }
    let failed =
        |errno| OverlayError::Unreadable { path: entry.change.path.clone(), reason: Reason(errno) };
    let old = match &entry.lower {
        Some(stamp) => state(lower, entry.path(), stamp.kind, stamp.mode).map_err(failed)?,
        None => None,
    };
    let new = match entry.change.kind {
        ChangeKind::Deleted => None,
        _ => state(upper, entry.path(), entry.change.file, entry.change.mode).map_err(failed)?,
    };
    Ok(match (entry.change.kind, old, new) {
        (_, None, None) => Vec::new(),
        (ChangeKind::TypeChanged, Some(old), Some(new)) => {
            vec![(Some(old), None), (None, Some(new))]
        }
        (_, old, new) => vec![(old, new)],
    })
}

/// `None` for what has no place in a diff, and for what is not there any more.
fn state(tree: &Tree, path: &[u8], kind: FileKind, mode: u32) -> Result<Option<State>, Errno> {
    let link = match kind {
        FileKind::Directory | FileKind::Special => return Ok(None),
        FileKind::Symlink => true,
        FileKind::File => false,
    };
    let read = || -> Result<Option<Vec<u8>>, Errno> {
        let (parent, name) = tree.parent(path)?;
        if link {
            return link_target(&parent, name).map(Some);
        }
        let content = read_at_most(&parent, name, MOST_SHOWN)?;
        Ok(content.filter(|content| !content.iter().take(LOOKED_AT).any(|byte| *byte == 0)))
    };
    match read() {
        Ok(text) => Ok(Some(State { link, mode, text })),
        // The workspace may have changed; applying will say so.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV | Errno::INVAL) => Ok(None),
        Err(Errno::ACCESS) => Ok(Some(State { link, mode, text: None })),
        Err(errno) => Err(errno),
    }
}

fn write_patch(
    path: &[u8],
    old: Option<&State>,
    new: Option<&State>,
    output: &mut dyn Write,
) -> std::io::Result<()> {
    let (a, b) = (quoted(b"a/", path), quoted(b"b/", path));
    writeln!(output, "diff --git {a} {b}")?;
    match (old, new) {
        (None, Some(new)) => writeln!(output, "new file mode {:o}", new.git_mode())?,
        (Some(old), None) => writeln!(output, "deleted file mode {:o}", old.git_mode())?,
        (Some(old), Some(new)) if old.mode & 0o777 != new.mode & 0o777 && !new.link => {
            writeln!(output, "old mode 100{:03o}", old.mode & 0o777)?;
            writeln!(output, "new mode 100{:03o}", new.mode & 0o777)?;
        }
        _ => {}
    }
    let text = |state: Option<&State>| match state {
        Some(state) => state.text.clone(),
        None => Some(Vec::new()),
    };
    let name = |state: Option<&State>, name: &str| match state {
        Some(_) => name.to_owned(),
        None => "/dev/null".to_owned(),
    };
    let (a, b) = (name(old, &a), name(new, &b));
    match (text(old), text(new)) {
        (Some(old), Some(new)) if old == new => Ok(()),
        (Some(old), Some(new)) => {
            // A tab ends a name with a space in it.
            let end = |name: &str| if name.contains(' ') { "\t" } else { "" };
            writeln!(output, "--- {a}{}", end(&a))?;
            writeln!(output, "+++ {b}{}", end(&b))?;
            unified::write(&Comparison::new(&old, &new), output)
        }
        _ => writeln!(output, "Binary files {a} and {b} differ"),
    }
}

/// A name as git writes it: in quotes if anything in it could be taken for something else.
fn quoted(prefix: &[u8], path: &[u8]) -> String {
    let whole = [prefix, path].concat();
    let plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    if whole.iter().all(plain) {
        return String::from_utf8_lossy(&whole).into_owned();
    }
    let mut text = String::from("\"");
    for byte in whole {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(byte)]),
            b'\t' => text.push_str("\\t"),
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b' '..=b'~' => text.push(char::from(byte)),
            byte => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_are_quoted() {
        assert_eq!(quoted(b"a/", b"plain name"), "a/plain name");
        assert_eq!(quoted(b"a/", "ä\"\\\n\x1b".as_bytes()), r#""a/\303\244\"\\\n\033""#);
    }
}
