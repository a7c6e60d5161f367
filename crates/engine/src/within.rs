//! Files below one directory, for callers who are told paths by somebody they do not trust. No path
//! leads out of the directory, no symbolic link is followed, and only files and directories are
//! touched.

use std::{
    fs::File,
    io::{self, Read as _, Write as _},
    path::{Component, Path, PathBuf},
};

use rustix::{
    fd::OwnedFd,
    fs::{
        AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2,
        renameat, statat, unlinkat,
    },
    io::Errno,
};

use crate::FileKind;

/// Why a file below a directory could not be used.
#[derive(Debug, thiserror::Error)]
pub enum WithinError {
    /// The path could lead elsewhere.
    #[error(
        "`{}` is not a plain path below the workspace: write it relative, without `..`, as in src/main.py", path.display()
    )]
    Path {
        /// The path.
        path: PathBuf,
    },
    /// A link is in the way.
    #[error(
        "`{}` is a symbolic link or passes through one, which is not followed: name the real path", path.display()
    )]
    Link {
        /// The path.
        path: PathBuf,
    },
    /// Neither a file nor a directory, or the other of the two.
    #[error("`{}` is not a {wanted}: list its directory to see what it is", path.display())]
    Kind {
        /// The path.
        path: PathBuf,
        /// What was expected.
        wanted: &'static str,
    },
    /// There is nothing.
    #[error("`{}` does not exist: list its directory to see what does", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// The system refused.
    #[error("`{}` could not be {verb} ({reason}): check its permissions and the free space", path.display())]
    System {
        /// What was attempted.
        verb: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
}

/// One name of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: FileKind,
    /// Bytes of a file.
    pub size: u64,
}

/// A directory. Paths are relative to it.
#[derive(Debug)]
pub struct Within {
    top: OwnedFd,
}

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Within {
    /// Everything below this directory.
    pub fn open(directory: &Path) -> Result<Within, WithinError> {
        match openat(CWD, directory, DIRECTORY, Mode::empty()) {
            Ok(top) => Ok(Within { top }),
            Err(errno) => Err(failed("opened", directory, errno)),
        }
    }

    /// The beginning of a file, and how long the whole is.
    pub fn read(&self, path: &Path, most: u64) -> Result<(Vec<u8>, u64), WithinError> {
        let plain = plain(path)?;
        // A pipe must not make us wait.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = self.at(&plain, flags).map_err(|errno| failed("read", path, errno))?;
        let stat = fstat(&file).map_err(|errno| failed("read", path, errno))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(WithinError::Kind { path: path.to_owned(), wanted: "file" });
        }
        let mut bytes = Vec::new();
        File::from(file)
            .take(most)
            .read_to_end(&mut bytes)
            .map_err(|error| refused("read", path, &error))?;
        Ok((bytes, u64::try_from(stat.st_size).unwrap_or_default()))
    }

    /// Writes a whole file, in the place of one that may be there. Makes the directories above it.
    /// Whoever reads meanwhile sees the old content or the new.
    pub fn write(&self, path: &Path, content: &[u8]) -> Result<(), WithinError> {
        let plain = plain(path)?;
        let failed = |errno| failed("written", path, errno);
        let Some(name) = plain.file_name() else {
            return Err(WithinError::Path { path: path.to_owned() });
        };
        let parent = self.make_directories(plain.parent().unwrap_or(Path::new("")), path)?;
        let mut mode = Mode::from_raw_mode(0o644);
        match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => mode = Mode::from_raw_mode(stat.st_mode & 0o777),
                FileType::Symlink => return Err(WithinError::Link { path: path.to_owned() }),
                _ => return Err(WithinError::Kind { path: path.to_owned(), wanted: "file" }),
            },
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(failed(errno)),
        }
        let draft = format!(".fumehood-{}-{:x}", std::process::id(), unique());
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&parent, &*draft, flags, mode).map_err(failed)?);
        let written = file
            .write_all(content)
            .map_err(|error| refused("written", path, &error))
            .and_then(|()| renameat(&parent, &*draft, &parent, name).map_err(failed));
        if written.is_err() {
            let _ = unlinkat(&parent, &*draft, AtFlags::empty());
        }
        written
    }

    /// What is in a directory, sorted by name; the first `most`, and whether there is more.
    pub fn list(&self, path: &Path, most: usize) -> Result<(Vec<Listed>, bool), WithinError> {
        let plain = plain(path)?;
        let failed = |errno| failed("listed", path, errno);
        let directory = self.at(&plain, DIRECTORY).map_err(failed)?;
        let mut names = Vec::new();
        for entry in Dir::read_from(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(entry.file_name().to_owned());
            }
        }
        names.sort();
        let more = names.len() > most;
        let listed = names.into_iter().take(most).filter_map(|name| {
            // What is gone by now was not there.
            let stat = statat(&directory, &*name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            let kind = match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => FileKind::File,
                FileType::Directory => FileKind::Directory,
                FileType::Symlink => FileKind::Symlink,
                _ => FileKind::Special,
            };
            let size = u64::try_from(stat.st_size).unwrap_or_default();
            Some(Listed { name: name.to_string_lossy().into_owned(), kind, size })
        });
        Ok((listed.collect(), more))
    }

    fn make_directories(&self, directory: &Path, path: &Path) -> Result<OwnedFd, WithinError> {
        let failed = |errno| failed("written", path, errno);
        let mut here = self.at(Path::new(""), DIRECTORY).map_err(failed)?;
        for name in directory.components() {
            match mkdirat(&here, name.as_os_str(), Mode::from_raw_mode(0o755)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(failed(errno)),
            }
            here = beneath(&here, Path::new(name.as_os_str()), DIRECTORY).map_err(failed)?;
        }
        Ok(here)
    }

    fn at(&self, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let here = Path::new(".");
        beneath(&self.top, if path.as_os_str().is_empty() { here } else { path }, flags)
    }
}

fn beneath(directory: &OwnedFd, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let mut attempts = 0;
    loop {
        match openat2(directory, path, flags, Mode::empty(), resolve) {
            // Something was renamed meanwhile, and the kernel is not sure.
            Err(Errno::AGAIN) if attempts < 64 => attempts += 1,
            opened => return opened,
        }
    }
}

/// The path with nothing but names in it.
fn plain(path: &Path) -> Result<PathBuf, WithinError> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => plain.push(name),
            _ => return Err(WithinError::Path { path: path.to_owned() }),
        }
    }
    Ok(plain)
}

fn failed(verb: &'static str, path: &Path, errno: Errno) -> WithinError {
    let path = path.to_owned();
    match errno {
        Errno::NOENT => WithinError::Missing { path },
        Errno::LOOP | Errno::XDEV => WithinError::Link { path },
        Errno::NOTDIR => WithinError::Kind { path, wanted: "directory" },
        Errno::ISDIR => WithinError::Kind { path, wanted: "file" },
        errno => refused(verb, &path, &errno.into()),
    }
}

fn refused(verb: &'static str, path: &Path, error: &io::Error) -> WithinError {
    let reason = error.to_string();
    let reason = reason.split_once(" (os error").map_or(&*reason, |(words, _)| words).to_owned();
    WithinError::System { verb, path: path.to_owned(), reason }
}

/// A number that no other write of this process has.
fn unique() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};

    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn files_are_written_read_and_listed() {
        let place = tempfile::tempdir().unwrap();
        let within = Within::open(place.path()).unwrap();
        within.write(Path::new("./a/b/c.txt"), b"one").unwrap();
        within.write(Path::new("a/b/c.txt"), b"other").unwrap();
        assert_eq!(within.read(Path::new("a/b/c.txt"), 3).unwrap(), (b"oth".to_vec(), 5));
        let (listed, more) = within.list(Path::new("a/b"), 10).unwrap();
        assert_eq!((listed[0].name.as_str(), listed.len(), more), ("c.txt", 1, false));
        assert_eq!(listed[0].size, 5);
        within.write(Path::new("z"), b"").unwrap();
        assert!(within.list(Path::new(""), 1).unwrap().1);
    }

    #[test]
    fn no_path_leads_out() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "secret").unwrap();
        let place = tempfile::tempdir().unwrap();
        let within = Within::open(place.path()).unwrap();
        symlink(outside.path(), place.path().join("door")).unwrap();
        symlink(outside.path().join("secret"), place.path().join("file")).unwrap();
        symlink("/proc/self/root", place.path().join("magic")).unwrap();
        let absolute = outside.path().join("secret");
        for path in [
            Path::new("../x"),
            Path::new("a/../../x"),
            &absolute,
            Path::new("door/secret"),
            Path::new("file"),
            Path::new("magic/etc/passwd"),
        ] {
            assert!(within.read(path, 10).is_err(), "{path:?}");
            assert!(within.write(path, b"changed").is_err(), "{path:?}");
            assert!(within.list(path, 10).is_err(), "{path:?}");
        }
        assert!(within.list(Path::new("door"), 10).is_err());
        assert_eq!(fs::read_to_string(absolute).unwrap(), "secret");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_no_file_is_not_read_or_replaced() {
        let place = tempfile::tempdir().unwrap();
        let within = Within::open(place.path()).unwrap();
        fs::create_dir(place.path().join("d")).unwrap();
        let message = |result: Result<(), WithinError>| result.unwrap_err().to_string();
        assert!(message(within.read(Path::new("d"), 1).map(|_| ())).contains("is not a file"));
        assert!(message(within.write(Path::new("d"), b"")).contains("is not a file"));
        assert!(message(within.read(Path::new("n"), 1).map(|_| ())).contains("does not exist"));
        assert!(message(within.write(Path::new(""), b"")).contains("plain path"));
    }
}
