//! The directory that an archive is unpacked into. Whatever an entry says, nothing is reached from
//! here that was not made here: no link is followed on the way to a new file.

use std::{
    collections::HashSet,
    io::{self, Read, Write as _},
    path::{Path, PathBuf},
};

use rustix::{
    fd::OwnedFd,
    fs::{
        AtFlags, FileType, Mode, OFlags, ResolveFlags, linkat, mkdirat, open, openat, openat2,
        statat, symlinkat,
    },
    io::Errno,
};

use super::{Refusal, entry::EntryPath, error::Refused};

/// A directory being filled.
pub(super) struct Ground {
    top: OwnedFd,
    /// The directory that was used last; entries come in order.
    last: Option<(PathBuf, OwnedFd)>,
    /// Directories that were entries themselves, not only on the way to one.
    named: HashSet<PathBuf>,
    links: Vec<EntryPath>,
}

impl Ground {
    pub(super) fn new(directory: &Path) -> Result<Ground, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let top = open(directory, flags, Mode::empty())?;
        Ok(Ground { top, last: None, named: HashSet::new(), links: Vec::new() })
    }

    /// A directory.
    pub(super) fn directory(&mut self, path: &EntryPath) -> Result<(), Refusal> {
        if !self.named.insert(path.as_path().to_owned()) {
            return Err(Refusal::Twice);
        }
        let parent = self.parent(path)?;
        match mkdirat(parent, path.name(), Mode::from_raw_mode(0o755)) {
            // It may have been made on the way to an earlier entry.
            Err(Errno::EXIST) if self.kind_of(path)? == Some(FileType::Directory) => Ok(()),
            made => made.map_err(refused),
        }
    }

    /// A file with this content.
    pub(super) fn file(
        &mut self,
        path: &EntryPath,
        executable: bool,
        content: &mut impl Read,
        mut check: impl FnMut(usize, u64) -> Result<(), Refusal>,
    ) -> Result<u64, Refusal> {
        let mode = Mode::from_raw_mode(if executable { 0o755 } else { 0o644 });
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let parent = self.parent(path)?;
        let file = openat(parent, path.name(), flags, mode).map_err(refused)?;
        let mut file = std::fs::File::from(file);
        let mut buffer = vec![0; 64 << 10];
        let mut length = 0;
        loop {
            let count = match content.read(&mut buffer) {
                Ok(0) => return Ok(length),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.map_err(|error| Refusal::of_reading(&error))?,
            };
            length += count as u64;
            check(count, length)?;
            let written = buffer.get(..count).map_or(Ok(()), |bytes| file.write_all(bytes));
            written.map_err(|error| Refusal::Unwritable { reason: error.to_string() })?;
        }
    }

    /// A symbolic link, whose target was checked as far as its text says.
    pub(super) fn symbolic_link(&mut self, path: &EntryPath, target: &[u8]) -> Result<(), Refusal> {
        let parent = self.parent(path)?;
        symlinkat(target, parent, path.name()).map_err(refused)?;
        self.links.push(path.clone());
        Ok(())
    }

    /// Another name of a file that is there.
    pub(super) fn hard_link(&mut self, path: &EntryPath, to: &EntryPath) -> Result<(), Refusal> {
        if self.kind_of(to)? != Some(FileType::RegularFile) {
            return Err(Refusal::HardLink);
        }
        let from = self.open_directory(to.parent()).map_err(|_| Refusal::HardLink)?;
        let parent = self.parent(path)?;
        linkat(from, to.name(), parent, path.name(), AtFlags::empty()).map_err(refused)
    }

    /// Looks where the symbolic links lead now that everything is there. A chain of links that are
    /// harmless each can lead outside together.
    pub(super) fn finish(self) -> Result<(), Refused> {
        for link in &self.links {
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            let refusal = match openat2(&self.top, link.as_path(), flags, Mode::empty(), resolve) {
                // One that leads nowhere leads nowhere outside.
                Ok(_) | Err(Errno::NOENT | Errno::NOTDIR) => continue,
                Err(Errno::XDEV) => Refusal::LinkOut,
                Err(Errno::LOOP) => Refusal::LinkCircle,
                Err(error) => Refusal::of_writing(error),
            };
            return Err(Refused::entry(link.as_path().as_os_str().as_encoded_bytes(), refusal));
        }
        Ok(())
    }

    /// The directory of an entry, made if need be.
    fn parent(&mut self, path: &EntryPath) -> Result<&OwnedFd, Refusal> {
        let wanted = path.parent();
        if self.last.as_ref().is_none_or(|(known, _)| known != wanted) {
            let directory = match self.open_directory(wanted) {
                Err(Errno::NOENT) => self.make_directories(wanted),
                opened => opened,
            };
            self.last = Some((wanted.to_owned(), directory.map_err(refused)?));
        }
        Ok(self.last.as_ref().map_or(&self.top, |(_, directory)| directory))
    }

    fn make_directories(&self, path: &Path) -> Result<OwnedFd, Errno> {
        let mut here = self.open_directory(Path::new(""))?;
        for part in path.iter() {
            match mkdirat(&here, part, Mode::from_raw_mode(0o755)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
            here = open_below(&here, Path::new(part))?;
        }
        Ok(here)
    }

    fn open_directory(&self, path: &Path) -> Result<OwnedFd, Errno> {
        open_below(&self.top, path)
    }

    /// What is there, if anything is, and if the way there is one of directories.
    fn kind_of(&self, path: &EntryPath) -> Result<Option<FileType>, Refusal> {
        let stat = self
            .open_directory(path.parent())
            .and_then(|parent| statat(parent, path.name(), AtFlags::SYMLINK_NOFOLLOW));
        match stat {
            Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(error) => Err(Refusal::of_writing(error)),
        }
    }
}

fn open_below(top: &OwnedFd, path: &Path) -> Result<OwnedFd, Errno> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let resolve = ResolveFlags::BENEATH
        | ResolveFlags::NO_SYMLINKS
        | ResolveFlags::NO_MAGICLINKS
        | ResolveFlags::NO_XDEV;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat2(top, path, flags, Mode::empty(), resolve)
}

fn refused(error: Errno) -> Refusal {
    match error {
        Errno::EXIST => Refusal::Twice,
        Errno::LOOP | Errno::NOTDIR => Refusal::Through,
        error => Refusal::of_writing(error),
    }
}

/// Reads what must be short, such as the target of a link.
pub(super) fn read_short(content: &mut impl Read, most: usize) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    let read = content.take(most as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| Refusal::of_reading(&error))?;
    if bytes.len() > most { Err(Refusal::LongPath { most }) } else { Ok(bytes) }
}
