//! Finding what a rule is about below a directory: fast, without following a link, and without ever
//! leaving the directory.

use std::{
    os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, Dir, FileType, Mode, OFlags, ResolveFlags, openat, openat2, readlinkat},
    io::Errno,
};

use crate::Error;

/// What is looked for. Paths are relative to the directory that is searched.
pub(in crate::resolve) trait Rule {
    /// Whether this is it.
    fn finds(&self, path: &str) -> bool;

    /// Whether it can be below this directory.
    fn may_find_below(&self, directory: &str) -> bool;
}

/// Paths below `root`, relative to it, that the rule finds. A directory that is found stands for
/// everything in it. Sorted.
pub(super) fn find(root: &Path, rule: &dyn Rule) -> Result<Vec<PathBuf>, Error> {
    let refused = |path: &str, reason: String| Error::Path {
        what: "the directory to be searched for denied files",
        path: root.join(path),
        reason,
    };
    let top = openat(CWD, root, directory_flags(), Mode::empty())
        .map_err(|errno| refused("", errno.to_string()))?;
    let mut walk = Walk { top: &top, root, rule, found: Vec::new(), waiting: vec![String::new()] };
    while let Some(directory) = walk.waiting.pop() {
        walk.enter(&directory).map_err(|errno| {
            let reason = match errno {
                Errno::NAMETOOLONG => "it is nested too deeply to be searched".to_owned(),
                errno => format!("{errno}; it has to be searched because the policy denies files"),
            };
            refused(&directory, reason)
        })?;
    }
    let mut found = walk.found;
    found.sort();
    found.dedup();
    Ok(found)
}

struct Walk<'a> {
    top: &'a OwnedFd,
    root: &'a Path,
    rule: &'a dyn Rule,
    found: Vec<PathBuf>,
    waiting: Vec<String>,
}

impl Walk<'_> {
    fn enter(&mut self, directory: &str) -> Result<(), Errno> {
        let opened = match self.open(directory, directory_flags(), ResolveFlags::NO_SYMLINKS) {
            Ok(opened) => opened,
            // Gone, or replaced by something else, since its name was read.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
            // The program in the box is the caller, or less: what the caller may not read it may
            // not read either.
            Err(Errno::ACCESS) => return Ok(()),
            Err(errno) => return Err(errno),
        };
        for entry in Dir::new(opened)? {
            let entry = entry?;
            // The kernel cannot be told names that are not text; nothing that is hidden has one.
            let Ok(name) = entry.file_name().to_str() else { continue };
            if name == "." || name == ".." {
                continue;
            }
            let path = match directory {
                "" => name.to_owned(),
                directory => format!("{directory}/{name}"),
            };
            self.visit(path, entry.file_type());
        }
        Ok(())
    }

    fn visit(&mut self, path: String, kind: FileType) {
        match (self.rule.finds(&path), kind) {
            (true, FileType::Symlink) => self.found.extend(self.behind(&path)),
            (true, _) => self.found.push(path.into()),
            // A file system that does not tell kinds: opening tells.
            (false, FileType::Directory | FileType::Unknown) => {
                if self.rule.may_find_below(&path) {
                    self.waiting.push(path);
                }
            }
            (false, _) => {}
        }
    }

    /// A link cannot be hidden, but what it leads to can, if that is in the directory at all.
    fn behind(&self, path: &str) -> Option<PathBuf> {
        let target = self.open(path, OFlags::PATH | OFlags::CLOEXEC, ResolveFlags::BENEATH).ok()?;
        let real = real_path(target.as_fd())?;
        let relative = real.strip_prefix(self.root).ok()?;
        (!relative.as_os_str().is_empty()).then(|| relative.to_owned())
    }

    fn open(&self, path: &str, flags: OFlags, resolve: ResolveFlags) -> Result<OwnedFd, Errno> {
        let path = if path.is_empty() { "." } else { path };
        let resolve = resolve | ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        openat2(self.top, path, flags, Mode::empty(), resolve)
    }
}

fn directory_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC
}

fn real_path(file: BorrowedFd<'_>) -> Option<PathBuf> {
    let name = format!("/proc/self/fd/{}", file.as_raw_fd());
    let path = readlinkat(CWD, name, Vec::new()).ok()?;
    Some(PathBuf::from(path.into_string().ok()?))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink, time::Instant};

    use super::*;

    struct EnvFiles;

    impl Rule for EnvFiles {
        fn finds(&self, path: &str) -> bool {
            let name = path.rsplit('/').next().unwrap_or(path);
            name == ".env" || name == "secrets"
        }

        fn may_find_below(&self, directory: &str) -> bool {
            directory != "pruned"
        }
    }

    fn found(root: &Path) -> Vec<String> {
        find(root, &EnvFiles).unwrap().into_iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn files_and_whole_directories_are_found() {
        let root = tempfile::tempdir().unwrap();
        for directory in ["a/b/secrets/deep", "pruned"] {
            fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        for file in [".env", "a/.env", "a/b/secrets/.env", "a/b/other", "pruned/.env"] {
            fs::write(root.path().join(file), "").unwrap();
        }
        assert_eq!(found(root.path()), [".env", "a/.env", "a/b/secrets"]);
    }

    #[test]
    fn links_are_not_followed_out_and_what_they_hide_inside_is_found() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join(".env"), "").unwrap();
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        fs::create_dir(root.join("inside")).unwrap();
        fs::write(root.join("inside/real"), "").unwrap();
        symlink(outside.path(), root.join("out")).unwrap();
        symlink(outside.path().join(".env"), root.join(".env")).unwrap();
        symlink("../inside/real", root.join("inside/.env")).unwrap();
        assert_eq!(found(&root), ["inside/real"]);
    }

    #[test]
    fn a_large_tree_takes_well_under_a_second() {
        let root = tempfile::tempdir().unwrap();
        for directory in 0..200 {
            let directory = root.path().join(format!("d{directory}"));
            fs::create_dir(&directory).unwrap();
            for file in 0..500 {
                fs::write(directory.join(format!("file{file}")), "").unwrap();
            }
        }
        fs::write(root.path().join("d7/.env"), "").unwrap();
        let begun = Instant::now();
        assert_eq!(found(root.path()), ["d7/.env"]);
        // A debug build on a busy machine; the benchmark has the figure.
        assert!(begun.elapsed().as_secs_f64() < 2.0, "{:?}", begun.elapsed());
    }
}
