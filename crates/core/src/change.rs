//! What a program changed in a workspace that it saw as a copy.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize};

use crate::{Captured, escape_controls};

/// A path relative to the workspace, byte for byte as the program made it. In JSON a plain string
/// where it is UTF-8, else `{"base64": "…"}`. The workspace itself is `.`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FilePath(Captured);

impl FilePath {
    /// The path with these bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> FilePath {
        FilePath(Captured(bytes.into()))
    }

    /// The bytes of the path.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0.0
    }

    /// The path as text; what is not UTF-8 becomes the replacement character.
    pub fn text(&self) -> Cow<'_, str> {
        self.0.text()
    }
}

impl fmt::Display for FilePath {
    /// On one line and harmless on a terminal, whatever the program named its files.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape_controls(&self.text()).replace('\n', "\\n"))
    }
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It was not there before.
    Added,
    /// Its content or its permissions are others.
    Modified,
    /// It is gone.
    Deleted,
    /// It is something else now: a link instead of a file, say.
    TypeChanged,
}

impl ChangeKind {
    /// One letter, as version control systems write it.
    pub fn letter(self) -> char {
        match self {
            ChangeKind::Added => 'A',
            ChangeKind::Modified => 'M',
            ChangeKind::Deleted => 'D',
            ChangeKind::TypeChanged => 'T',
        }
    }
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A device, a pipe or a socket.
    Special,
}

/// One changed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Where.
    pub path: FilePath,
    /// What happened.
    pub kind: ChangeKind,
    /// What it is now, or was if it is gone.
    pub file: FileKind,
    /// Its permission bits now, or before if it is gone.
    pub mode: u32,
    /// Its size in bytes now, or before if it is gone.
    pub size: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_not_text_survive_json() {
        for name in [&b"plain"[..], b"\xff\n", "äöü".as_bytes()] {
            let json = serde_json::to_string(&FilePath::new(name)).unwrap();
            assert_eq!(serde_json::from_str::<FilePath>(&json).unwrap().as_bytes(), name, "{json}");
        }
    }

    #[test]
    fn names_are_shown_on_one_line() {
        assert!(!FilePath::new(*b"a\nb\x1b[2J").to_string().contains(['\n', '\x1b']));
    }
}
