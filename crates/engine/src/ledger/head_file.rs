//! The file `head`: where the ledger ends, and the lock under which it is written.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use super::{
    Head,
    error::{LedgerError, system},
    system::{is_at, open_own},
};

/// Its name.
pub(super) const NAME: &str = "head";

/// The open file.
#[derive(Debug)]
pub(super) struct HeadFile {
    file: File,
    path: PathBuf,
}

impl HeadFile {
    /// Opens it; makes an empty one if there is none.
    pub(super) fn open(directory: &Path) -> Result<HeadFile, LedgerError> {
        let path = directory.join(NAME);
        Ok(HeadFile { file: open_own(&path, false)?, path })
    }

    /// Waits for the right to write the ledger.
    pub(super) fn hold(&mut self) -> Result<Held<'_>, LedgerError> {
        loop {
            uninterrupted(|| self.file.lock()).map_err(system("locked", &self.path))?;
            if is_at(&self.file, &self.path) {
                return Ok(Held { head: self, has_length: false });
            }
            // Somebody removed it while we waited: what we hold means nothing to others.
            self.file = open_own(&self.path, false)?;
        }
    }
}

/// Repeats a call that a signal interrupted.
pub(super) fn uninterrupted(call: impl Fn() -> io::Result<()>) -> io::Result<()> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// What a head file says; nothing if it says nothing that makes sense.
pub(super) fn read(file: &mut File) -> io::Result<Option<Head>> {
    // One byte more, to see that nothing follows.
    let mut bytes = [0; Head::BYTES + 1];
    file.seek(SeekFrom::Start(0))?;
    let length = loop {
        match file.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            length => break length?,
        }
    };
    let text = std::str::from_utf8(&bytes[..length]);
    Ok(text.ok().and_then(|text| text.parse().ok()))
}

/// The right to write the ledger, until it is dropped or the process ends.
#[derive(Debug)]
pub(super) struct Held<'a> {
    head: &'a mut HeadFile,
    /// Whether the file is known to have the right length.
    has_length: bool,
}

impl Held<'_> {
    /// Where the ledger ended after the last append.
    pub(super) fn read(&mut self) -> Result<Option<Head>, LedgerError> {
        let head = read(&mut self.head.file).map_err(system("read", &self.head.path))?;
        self.has_length = head.is_some();
        Ok(head)
    }

    /// Notes where it ends now: one write that replaces all of the old one.
    pub(super) fn write(&mut self, head: Head, sync: bool) -> Result<(), LedgerError> {
        let file = &mut self.head.file;
        let mut write = || {
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&head.to_bytes())?;
            // What somebody may have written behind it.
            if !self.has_length {
                file.set_len(Head::BYTES as u64)?;
            }
            if sync { file.sync_data() } else { Ok(()) }
        };
        write().map_err(system("written", &self.head.path))
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // If it cannot be given back now, it is when the file is closed.
        let _ = self.head.file.unlock();
    }
}
