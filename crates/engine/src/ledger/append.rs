//! Writing the ledger.

use std::{
    fs::File,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock, PoisonError},
};

use super::{
    Caller, ChainHash, Cut, Entry, Extras, FileLink, Head, LedgerError, NetworkDecision, Record,
    Recording, Salt, ToolRecord, Torn,
    batch::Batch,
    error::system,
    files,
    head_file::HeadFile,
    process, salt_file,
    system::{open_own, open_to_read, own_directory},
    tail::{self, End},
};
use crate::{Bytes, Digest};

/// How a ledger is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// A file of at least this size gets no more lines; the next one is begun.
    pub rotate_at: Bytes,
    /// Whether every append waits until the disk has it. Without it the last lines may be lost
    /// when the power fails, which verification then reports.
    pub sync: bool,
    /// What of requests is recorded as it is.
    pub recording: Recording,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { rotate_at: Bytes::mib(64), sync: false, recording: Recording::default() }
    }
}

/// Proof that a record was written: where it stands in the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The number of its line.
    pub seq: u64,
    /// The hash of its line. Noted elsewhere, it proves later that the line is still there.
    pub hash: ChainHash,
}

/// A ledger that can be written. Any number of processes and threads may do so at once.
#[derive(Debug)]
pub struct Ledger {
    directory: PathBuf,
    settings: Settings,
    salt: Salt,
    /// The file's lock keeps out other processes, this one other threads.
    head: Mutex<HeadFile>,
    caller: OnceLock<Caller>,
}

impl Ledger {
    /// Opens the ledger in this directory, and makes both if they are not there. Refuses what
    /// another user owns or could write.
    pub fn open(directory: &Path, settings: Settings) -> Result<Ledger, LedgerError> {
        own_directory(directory)?;
        let mut head = HeadFile::open(directory)?;
        let mut held = head.hold()?;
        let salt = salt_file::read_or_create(directory)?;
        // A new ledger gets its head before its first line: a head that is missing is never new.
        if held.read()?.is_none() && is_empty(directory)? {
            held.write(Head::NOTHING, settings.sync)?;
        }
        drop(held);
        Ok(Ledger {
            directory: directory.to_owned(),
            settings,
            salt,
            head: Mutex::new(head),
            caller: OnceLock::new(),
        })
    }

    /// What [`record`](super::record()) needs besides the run, for a run of this process.
    pub fn extras(&self, policy: Option<Digest>, network: Vec<NetworkDecision>) -> Extras<'_> {
        Extras {
            caller: self.caller.get_or_init(process::caller).clone(),
            policy,
            network,
            salt: &self.salt,
            recording: self.settings.recording,
        }
    }

    /// Appends a record. Blocks for as long as others write, which is microseconds each.
    pub fn append(&self, record: Record) -> Result<Receipt, LedgerError> {
        self.append_entry(Entry::Run(Box::new(record)))
    }

    /// Appends a decision about a tool, in the same way.
    pub fn append_tool(&self, record: ToolRecord) -> Result<Receipt, LedgerError> {
        self.append_entry(Entry::Tool(Box::new(record)))
    }

    fn append_entry(&self, entry: Entry) -> Result<Receipt, LedgerError> {
        let mut head = self.head.lock().unwrap_or_else(PoisonError::into_inner);
        let mut held = head.hold()?;
        let noted = held.read()?;
        let path = self.directory.join(files::NEWEST);
        let mut file = open_own(&path, true)?;
        let End { mut complete, torn, last } = tail::end_of(&mut file, &path)?;
        if !torn.is_empty() {
            file.set_len(complete).map_err(system("mended", &path))?;
        }
        let (mut last, mut after) = (last, None);
        if complete > 0 && complete >= self.settings.rotate_at.get() {
            after = Some(files::rotate(&self.directory, &mut file)?);
            file = open_own(&path, true)?;
            complete = 0;
        } else if complete == 0 {
            (last, after) = self.end_of_older()?;
        }
        let last = last.unwrap_or(Head::NOTHING);

        let mut batch = Batch::new(last, process::now());
        if complete == 0 {
            batch.add(&Entry::Link(FileLink { after }))?;
        }
        if !torn.is_empty() {
            batch.add(&Entry::Torn(Torn::new(&torn)))?;
        }
        if !agrees(noted, last) {
            batch.add(&Entry::Cut(Cut { head: noted }))?;
        }
        batch.add(&entry)?;
        let (lines, head) = batch.done();
        write_at_once(&mut file, &lines, complete).map_err(system("written", &path))?;
        if self.settings.sync {
            file.sync_data().map_err(system("written", &path))?;
        }
        held.write(head, self.settings.sync)?;
        Ok(Receipt { seq: head.seq, hash: head.hash })
    }

    /// Where the newest of the older files ends, and its name.
    fn end_of_older(&self) -> Result<(Option<Head>, Option<String>), LedgerError> {
        let Some(name) = files::older(&self.directory)?.pop() else { return Ok((None, None)) };
        let path = self.directory.join(&name);
        // Whoever keeps it may have made it read-only.
        let last = match open_to_read(&path)? {
            Some(mut file) => tail::end_of(&mut file, &path)?.last,
            None => None,
        };
        Ok((last, Some(name)))
    }
}

/// Whether nothing has ever been written here.
fn is_empty(directory: &Path) -> Result<bool, LedgerError> {
    let newest = directory.join(files::NEWEST).metadata();
    Ok(newest.map_or(true, |newest| newest.len() == 0) && files::older(directory)?.is_empty())
}

/// Whether the lines go as far as the head says. One that is behind was not written any more by a
/// process that ended after its line.
fn agrees(noted: Option<Head>, last: Head) -> bool {
    match noted {
        Some(noted) => noted.seq < last.seq || noted == last,
        None => last == Head::NOTHING,
    }
}

/// Writes all lines with one call, or none of them.
fn write_at_once(file: &mut File, lines: &[u8], length: u64) -> io::Result<()> {
    let written = loop {
        match file.write(lines) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            written => break written,
        }
    };
    let failure = match written {
        Ok(written) if written == lines.len() => return Ok(()),
        Ok(_) => io::ErrorKind::StorageFull.into(),
        Err(error) => error,
    };
    // What cannot be taken back is noted by the next writer.
    let _ = file.set_len(length);
    Err(failure)
}
