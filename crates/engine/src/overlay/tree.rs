//! A directory and everything below it, reached through its descriptor alone: no path leads out of
//! it, no symbolic link is followed, no mount is crossed.

use std::{cmp::Ordering, ffi::OsStr, os::unix::ffi::OsStrExt as _, path::Path};

use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{
        AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, openat, openat2,
        readlinkat, statat,
    },
    io::Errno,
};

use crate::FileKind;

/// The longest path that the kernel takes, without its end mark. What lies deeper cannot be
/// reached by anything that uses paths, and is left alone.
pub(super) const MOST_PATH: usize = 4095;

/// The tree's own directory, as a path in it.
pub(super) const TOP: &[u8] = b".";

/// A directory with everything below it. Paths are relative to it.
pub(super) struct Tree {
    top: OwnedFd,
}

impl Tree {
    /// The tree of a directory of the host. Its path must have no symbolic link in it.
    pub(super) fn open(path: &Path) -> Result<Tree, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        Ok(Tree { top: openat2(CWD, path, flags, Mode::empty(), resolve)? })
    }

    /// The tree of a directory in another directory.
    pub(super) fn open_in(directory: &OwnedFd, name: &str) -> Result<Tree, Errno> {
        Ok(Tree { top: open_directory(directory, name.as_bytes())? })
    }

    /// The tree's own directory.
    pub(super) fn top(&self) -> &OwnedFd {
        &self.top
    }

    /// A directory of the tree.
    pub(super) fn directory(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH
            | ResolveFlags::NO_SYMLINKS
            | ResolveFlags::NO_MAGICLINKS
            | ResolveFlags::NO_XDEV;
        let mut attempts = 0;
        loop {
            match openat2(&self.top, path, flags, Mode::empty(), resolve) {
                // Something was renamed or mounted meanwhile, and the kernel is not sure.
                Err(Errno::AGAIN) if attempts < 64 => attempts += 1,
                opened => return opened,
            }
        }
    }

    /// The directory that a path is in, and its name there.
    pub(super) fn parent<'a>(&self, path: &'a [u8]) -> Result<(OwnedFd, &'a [u8]), Errno> {
        let (parent, name) = split(path);
        Ok((self.directory(parent)?, name))
    }
}

/// Splits a path into the directory it is in and its name there.
pub(super) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(index) => (&path[..index], &path[index + 1..]),
        None => (TOP, path),
    }
}

/// The directories that a path is in, the nearest first.
pub(super) fn above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = (0..path.len()).rev().filter(|index| path[*index] == b'/');
    slashes.map(|index| &path[..index])
}

/// The order of paths in which a directory comes right before everything in it.
pub(super) fn order(one: &[u8], other: &[u8]) -> Ordering {
    let names = |path| <[u8]>::split(path, |byte: &u8| *byte == b'/');
    names(one).cmp(names(other))
}

/// Goes along paths in their order, and tells which are below one that was marked. Looks at each
/// path once, however deep it is.
#[derive(Default)]
pub(super) struct Cover<'a> {
    marked: Option<&'a [u8]>,
}

impl<'a> Cover<'a> {
    /// Whether a path is below a marked one. If not, it can be marked itself.
    pub(super) fn is_below(&mut self, path: &'a [u8], mark: bool) -> bool {
        if self.marked.is_some_and(|marked| is_in(path, marked)) {
            return true;
        }
        if mark {
            self.marked = Some(path);
        }
        false
    }
}

/// The path of a name in a directory.
pub(super) fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory == TOP { name.to_vec() } else { [directory, b"/", name].concat() }
}

/// Whether a path is at another or below it.
pub(super) fn is_in(path: &[u8], directory: &[u8]) -> bool {
    directory == TOP
        || path
            .strip_prefix(directory)
            .is_some_and(|rest| rest.is_empty() || rest.first() == Some(&b'/'))
}

/// A directory in a directory.
pub(super) fn open_directory(directory: impl AsFd, name: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(directory, name, flags, Mode::empty())
}

/// A regular file in a directory, for reading. Anything else is refused, without waiting for the
/// other end of a pipe.
pub(super) fn open_file(directory: impl AsFd, name: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(directory, name, flags, Mode::empty())?;
    match kind(&fstat(&file)?) {
        FileKind::File => Ok(file),
        _ => Err(Errno::INVAL),
    }
}

/// What is in a directory under a name; `None` if nothing is.
pub(super) fn stat_in(directory: impl AsFd, name: &[u8]) -> Result<Option<Stat>, Errno> {
    match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// What a symbolic link in a directory says.
pub(super) fn link_target(directory: impl AsFd, name: &[u8]) -> Result<Vec<u8>, Errno> {
    readlinkat(directory, name, Vec::new()).map(std::ffi::CString::into_bytes)
}

/// The names in a directory.
pub(super) fn names(directory: impl AsFd) -> Result<Vec<Vec<u8>>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let name = entry?.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            names.push(name);
        }
    }
    Ok(names)
}

/// What a file is.
pub(super) fn kind(stat: &Stat) -> FileKind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Symlink,
        _ => FileKind::Special,
    }
}

/// The permission bits, with those that lend rights.
pub(super) fn permissions(stat: &Stat) -> u32 {
    stat.st_mode & 0o7777
}

/// Bytes as a path of the host.
pub(super) fn host_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
