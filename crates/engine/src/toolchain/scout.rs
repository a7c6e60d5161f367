//! Looking at files, and remembering what was looked at: as long as all of it stays the same,
//! another search would find the same.

use std::{
    collections::BTreeMap,
    fs::{self, Metadata},
    io::Read,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// Files that tell a version or a selection are small.
const MOST_TEXT: u64 = 64 * 1024;

/// What tells one state of a file or directory from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    size: u64,
    seconds: i64,
    nanoseconds: i64,
    inode: u64,
}

impl Stamp {
    /// The state now; absent if there is nothing, or nothing that this user may see.
    pub fn of(path: &Path) -> Option<Stamp> {
        fs::metadata(path).ok().as_ref().map(Stamp::from_metadata)
    }

    // The time of the last change of the file or of its attributes: installers set the time of
    // modification back, and a directory's changes when an entry comes or goes.
    #[cfg(unix)]
    fn from_metadata(metadata: &Metadata) -> Stamp {
        use std::os::unix::fs::MetadataExt as _;
        Stamp {
            size: metadata.size(),
            seconds: metadata.ctime(),
            nanoseconds: metadata.ctime_nsec(),
            inode: metadata.ino(),
        }
    }

    #[cfg(not(unix))]
    fn from_metadata(metadata: &Metadata) -> Stamp {
        let age = metadata
            .modified()
            .ok()
            .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let age = age.unwrap_or_default();
        Stamp {
            size: metadata.len(),
            seconds: age.as_secs() as i64,
            nanoseconds: i64::from(age.subsec_nanos()),
            inode: 0,
        }
    }
}

/// One path that was looked at, and its state then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    path: PathBuf,
    stamp: Option<Stamp>,
}

impl Witness {
    /// Whether the path is as it was.
    pub fn holds(&self) -> bool {
        Stamp::of(&self.path) == self.stamp
    }
}

/// Looks at files and remembers what it looked at.
#[derive(Debug, Default)]
pub struct Scout {
    seen: BTreeMap<PathBuf, Option<Stamp>>,
    /// Versions that programs printed, so that none is asked twice.
    pub versions: BTreeMap<PathBuf, Option<String>>,
}

impl Scout {
    /// Everything looked at so far.
    pub fn witnesses(&self) -> Vec<Witness> {
        let witness = |(path, stamp): (&PathBuf, &Option<Stamp>)| Witness {
            path: path.clone(),
            stamp: *stamp,
        };
        self.seen.iter().map(witness).collect()
    }

    /// Remembers a path that a result depends on.
    pub fn note(&mut self, path: &Path) {
        if !self.seen.contains_key(path) {
            self.seen.insert(path.to_owned(), Stamp::of(path));
        }
    }

    /// Whether the file in this directory can be executed. The directory is remembered, and the
    /// file if it is there.
    pub fn program(&mut self, directory: &Path, name: &str) -> Option<PathBuf> {
        self.note(directory);
        let path = directory.join(name);
        let metadata = fs::metadata(&path).ok()?;
        self.note(&path);
        (metadata.is_file() && is_executable(&metadata)).then_some(path)
    }

    /// The text of a small file.
    pub fn text(&mut self, path: &Path) -> Option<String> {
        self.note(path);
        let file = fs::metadata(path).ok()?.is_file().then(|| fs::File::open(path).ok())??;
        let mut text = String::new();
        file.take(MOST_TEXT).read_to_string(&mut text).ok()?;
        Some(text)
    }

    /// Names in a directory that do not start with a dot, in order.
    pub fn names(&mut self, directory: &Path) -> Vec<String> {
        self.note(directory);
        let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| !name.starts_with('.'))
            .collect();
        names.sort();
        names
    }
}

#[cfg(unix)]
fn is_executable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    true
}
