//! Reading the ledger as it was at one moment, while others go on writing.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
};

use super::{
    Broken, ChainHash, Head, LedgerError, MOST_LINE_BYTES, NewestFirst, Salt, Verified, Verifier,
    error::system,
    files,
    head_file::{self, uninterrupted},
    salt_file,
    system::open_to_read,
};

/// How strictly a ledger is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifyOptions {
    /// The hash of a line that was noted elsewhere and must be there.
    pub noted: Option<ChainHash>,
    /// Whether older files may have been moved away.
    pub archived: bool,
}

/// A ledger that is only read. Nothing is made or changed.
#[derive(Clone, Debug)]
pub struct LedgerReader {
    directory: PathBuf,
}

/// One file as it was.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) file: File,
    pub(super) length: u64,
}

/// All files as they were, oldest first.
struct Snapshot {
    parts: Vec<Part>,
    head: Option<Head>,
}

impl LedgerReader {
    /// The ledger in this directory. One that does not exist has no lines.
    pub fn new(directory: impl Into<PathBuf>) -> LedgerReader {
        LedgerReader { directory: directory.into() }
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Its salt, if it has one.
    pub fn salt(&self) -> Result<Option<Salt>, LedgerError> {
        salt_file::read(&self.directory)
    }

    /// Where it ends according to its head.
    pub fn head(&self) -> Result<Option<Head>, LedgerError> {
        Ok(self.snapshot()?.head)
    }

    /// Its lines, newest first. Unfinished ones are left out.
    pub fn newest_first(&self) -> Result<NewestFirst, LedgerError> {
        Ok(NewestFirst::new(self.snapshot()?.parts))
    }

    /// Checks the whole chain. The inner result is the answer.
    pub fn verify(
        &self,
        options: VerifyOptions,
    ) -> Result<Result<Verified, Box<Broken>>, LedgerError> {
        let Snapshot { parts, head } = self.snapshot()?;
        let mut verifier = Verifier::new(head, options.noted, options.archived);
        let count = parts.len();
        for (index, part) in parts.into_iter().enumerate() {
            if let Err(broken) = verify_part(&mut verifier, part, index + 1 == count)? {
                return Ok(Err(broken));
            }
        }
        Ok(verifier.finish(files::NEWEST))
    }

    /// Opens everything under the lock, so that no append and no rotation is half seen. What is
    /// added later is beyond the lengths noted here.
    fn snapshot(&self) -> Result<Snapshot, LedgerError> {
        let path = self.directory.join(head_file::NAME);
        let mut head_file = open_to_read(&path)?;
        if let Some(file) = &head_file {
            uninterrupted(|| file.lock_shared()).map_err(system("locked", &path))?;
        }
        let head = match &mut head_file {
            Some(file) => head_file::read(file).map_err(system("read", &path))?,
            None => None,
        };
        let mut parts = Vec::new();
        let newest = files::NEWEST.to_owned();
        for name in files::older(&self.directory)?.into_iter().chain([newest]) {
            let path = self.directory.join(&name);
            if let Some(file) = open_to_read(&path)? {
                let length = file.metadata().map_err(system("looked at", &path))?.len();
                parts.push(Part { name, path, file, length });
            }
        }
        Ok(Snapshot { parts, head })
    }
}

fn verify_part(
    verifier: &mut Verifier,
    part: Part,
    is_last: bool,
) -> Result<Result<(), Box<Broken>>, LedgerError> {
    let Part { name, path, file, length } = part;
    let mut reader = BufReader::with_capacity(256 << 10, file.take(length));
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let most = MOST_LINE_BYTES as u64 + 1;
        let read = reader.by_ref().take(most).read_until(b'\n', &mut line);
        read.map_err(system("read", &path))?;
        let checked = match line.pop() {
            None => break,
            Some(b'\n') => verifier.line(&name, number, &line),
            Some(_) if line.len() >= MOST_LINE_BYTES => {
                // Whole again, so that it is too long for the verifier as well.
                line.push(0);
                verifier.line(&name, number, &line)
            }
            Some(_) => verifier.torn_end(&name, number, is_last),
        };
        if checked.is_err() {
            return Ok(checked);
        }
    }
    Ok(Ok(()))
}
