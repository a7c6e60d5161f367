//! Reads what says something about a project: not too deep, not too much, and nothing outside.

use std::{
    collections::VecDeque,
    fs::{self, File},
    io::{self, Read as _},
    path::Path,
};

use fumehood_core::dockerfile::{Files, is_source, worth_entering, worth_reading};

use super::{BootstrapError, reason};

/// So many directories below the first are entered.
pub const MOST_DEPTH: usize = 3;
/// So many files are read.
pub const MOST_FILES: usize = 200;
/// Of a longer file only the start is read.
pub const MOST_BYTES: u64 = 256 << 10;
/// So many entries are looked at. A directory of caches can hold millions.
const MOST_ENTRIES: usize = 20_000;

/// The files, and sentences about what was left out.
pub(super) fn read(root: &Path) -> Result<(Files, Vec<String>), BootstrapError> {
    let mut reader = Reader::default();
    let unreadable =
        |error| BootstrapError::Unreadable { path: root.to_owned(), reason: reason(&error) };
    reader.directory(root, "", 0).map_err(unreadable)?;
    // Outer directories first: where there is too much, what is deep is missed.
    while let Some((path, depth)) = reader.waiting.pop_front() {
        if let Err(error) = reader.directory(&root.join(&path), &path, depth) {
            reader.left_out.push(format!("{path} was not read: {}", reason(&error)));
        }
    }
    if reader.too_many {
        let sentence = format!("only {MOST_FILES} files of many were read, the outer ones first");
        reader.left_out.push(sentence);
    }
    Ok((reader.files, reader.left_out))
}

#[derive(Default)]
struct Reader {
    files: Files,
    count: usize,
    entries: usize,
    too_many: bool,
    waiting: VecDeque<(String, usize)>,
    left_out: Vec<String>,
}

impl Reader {
    fn directory(&mut self, directory: &Path, prefix: &str, depth: usize) -> io::Result<()> {
        let (mut files, mut directories) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(directory)? {
            self.entries += 1;
            if self.entries > MOST_ENTRIES {
                self.too_many = true;
                break;
            }
            let entry = entry?;
            // A name that is not text is nothing that is looked for.
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
            // The kind of the entry itself: links are neither files nor directories here, so
            // nothing outside is ever read.
            let kind = entry.file_type()?;
            if kind.is_file() && worth_reading(&path) {
                files.push(path);
            } else if kind.is_dir() && depth < MOST_DEPTH && worth_entering(&path) {
                directories.push(path);
            }
        }
        // Manifests before sources, so that a crowd of sources cannot push them out.
        files.sort_by_key(|path| (is_source(path), path.clone()));
        directories.sort();
        for path in files {
            let name = path.rsplit('/').next().unwrap_or(&path);
            self.file(&directory.join(name), &path);
        }
        self.waiting.extend(directories.into_iter().map(|path| (path, depth + 1)));
        Ok(())
    }

    fn file(&mut self, file: &Path, path: &str) {
        if self.count == MOST_FILES {
            self.too_many = true;
            return;
        }
        self.count += 1;
        match text(file) {
            Ok((text, whole)) => {
                if !whole {
                    let sentence = format!("only the first {} KiB were read", MOST_BYTES >> 10);
                    self.left_out.push(format!("{path} is long: {sentence}"));
                }
                if !self.files.insert(path, &text) {
                    let sentence = "its name has characters that a Dockerfile would read";
                    self.left_out.push(format!("{path:?} was not read: {sentence}"));
                }
            }
            Err(error) => self.left_out.push(format!("{path} was not read: {}", reason(&error))),
        }
    }
}

/// The text of a file, and whether that is all of it.
fn text(path: &Path) -> io::Result<(String, bool)> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    let whole = bytes.len() as u64 <= MOST_BYTES;
    bytes.truncate(MOST_BYTES as usize);
    Ok((String::from_utf8_lossy(&bytes).into_owned(), whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(files: &Files) -> String {
        format!("{files:?}")
    }

    #[test]
    fn what_is_deep_or_not_of_the_project_is_not_read() {
        let root = tempfile::tempdir().unwrap();
        for directory in ["a/b/c/d", "node_modules/x", ".git"] {
            fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        for path in ["a/b/c/main.go", "a/b/c/d/deep.go", "node_modules/x/index.js", ".git/x.py"] {
            fs::write(root.path().join(path), "text").unwrap();
        }
        let (files, left_out) = read(root.path()).unwrap();
        let names = names(&files);
        assert!(names.contains("a/b/c/main.go"), "{names}");
        for unread in ["deep.go", "index.js", "x.py"] {
            assert!(!names.contains(unread), "{names}");
        }
        assert!(left_out.is_empty(), "{left_out:?}");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("go.mod"), "secret").unwrap();
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("inner")).unwrap();
        let file = outside.path().join("go.mod");
        std::os::unix::fs::symlink(file, root.path().join("go.mod")).unwrap();
        let (files, _) = read(root.path()).unwrap();
        assert!(files.is_empty(), "{files:?}");
    }

    #[test]
    fn there_is_an_end_to_everything() {
        let root = tempfile::tempdir().unwrap();
        for number in 0..MOST_FILES + 20 {
            fs::write(root.path().join(format!("a{number}.go")), "").unwrap();
        }
        fs::write(root.path().join("go.mod"), "module x\n".repeat(100_000)).unwrap();
        let (files, left_out) = read(root.path()).unwrap();
        // Manifests come first, and of one that is too long the start remains.
        let names = names(&files);
        assert!(names.contains("\"go.mod\": \"module x"), "{names}");
        assert!((names.len() as u64) < 2 * MOST_BYTES);
        assert_eq!(names.matches(".go\"").count(), MOST_FILES - 1);
        assert_eq!(left_out.len(), 2, "{left_out:?}");
    }
}
