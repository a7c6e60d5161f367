//! How much is in a tree.

use std::{collections::HashSet, ffi::CString, path::Path};

use rustix::{
    fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat},
    io::Errno,
};

use super::walk::{Closed, Walk, identity};

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Measure {
    /// The lengths of all files together. A file with several names counts once.
    pub(crate) bytes: u64,
    /// Everything but directories.
    pub(crate) files: u64,
}

/// Counts what is in a directory. What cannot be read is left out.
pub(crate) fn measure(directory: &Path) -> Result<Measure, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let top = openat(CWD, directory, flags, Mode::empty())?;
    let mut walk = Walk::begin(top, c".", Closed::Leave)?;
    let mut counted = Counted::default();
    let mut pending = vec![counted.directory(&walk)?];
    while let Some(directories) = pending.last_mut() {
        match directories.pop() {
            Some(name) => match walk.enter(&name) {
                Ok(()) => pending.push(counted.directory(&walk)?),
                Err(Errno::NOENT | Errno::ACCESS | Errno::XDEV | Errno::NOTDIR) => {}
                Err(error) => return Err(error),
            },
            None => {
                pending.pop();
                if walk.leave()?.is_none() {
                    break;
                }
            }
        }
    }
    Ok(counted.measure)
}

#[derive(Default)]
struct Counted {
    measure: Measure,
    /// Files with several names that were seen.
    linked: HashSet<(u64, u64)>,
}

impl Counted {
    /// Counts the files of where the walk is; gives the directories.
    fn directory(&mut self, walk: &Walk) -> Result<Vec<CString>, Errno> {
        let mut directories = Vec::new();
        for entry in walk.entries()? {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let Ok(stat) = statat(walk.here(), name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                directories.push(name.to_owned());
                continue;
            }
            if stat.st_nlink > 1 && !self.linked.insert(identity(&stat)) {
                continue;
            }
            self.measure.files += 1;
            let length = u64::try_from(stat.st_size).unwrap_or(0);
            self.measure.bytes = self.measure.bytes.saturating_add(length);
        }
        Ok(directories)
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn everything_counts_once() {
        let tree = tempfile::tempdir().unwrap();
        fs::create_dir_all(tree.path().join("a/b")).unwrap();
        fs::write(tree.path().join("a/b/file"), [0; 1000]).unwrap();
        fs::hard_link(tree.path().join("a/b/file"), tree.path().join("again")).unwrap();
        fs::write(tree.path().join("other"), [0; 10]).unwrap();
        symlink("/usr", tree.path().join("link")).unwrap();
        let measure = measure(tree.path()).unwrap();
        assert_eq!(measure, Measure { bytes: 1000 + 10 + 4, files: 3 });
    }
}
