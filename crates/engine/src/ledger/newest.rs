//! Lines from the newest to the oldest, without reading more than is asked for.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::PathBuf,
};

use super::{LedgerError, MOST_LINE_BYTES, NotALine, Stored, error::system, read::Part};

const FIRST_CHUNK: u64 = 64 << 10;

/// A line with what it says.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundLine {
    /// The file it is in.
    pub file: String,
    /// Its bytes without the newline.
    pub bytes: Vec<u8>,
}

impl FoundLine {
    /// What the line says.
    pub fn read(&self) -> Result<Stored, NotALine> {
        Stored::read(&self.bytes)
    }
}

/// Lines from the newest to the oldest.
#[derive(Debug)]
pub struct NewestFirst {
    /// Oldest first.
    parts: Vec<Part>,
    current: Option<Backwards>,
}

impl NewestFirst {
    pub(super) fn new(parts: Vec<Part>) -> NewestFirst {
        NewestFirst { parts, current: None }
    }
}

impl Iterator for NewestFirst {
    type Item = Result<FoundLine, LedgerError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(current) = &mut self.current {
                match current.line() {
                    Ok(Some(bytes)) => {
                        return Some(Ok(FoundLine { file: current.name.clone(), bytes }));
                    }
                    Ok(None) => self.current = None,
                    Err(error) => {
                        let error = system("read", &current.path)(error);
                        self.current = None;
                        return Some(Err(error));
                    }
                }
            }
            self.current = Some(Backwards::new(self.parts.pop()?));
        }
    }
}

/// The lines of one file, from its end.
#[derive(Debug)]
struct Backwards {
    name: String,
    path: PathBuf,
    file: File,
    /// Where `pending` begins in the file.
    start: u64,
    /// What was read and not given yet.
    pending: Vec<u8>,
    /// How much is read next; grows while no line ends.
    chunk: u64,
    /// Whether the unfinished end was left out.
    begun: bool,
}

impl Backwards {
    fn new(part: Part) -> Backwards {
        let Part { name, path, file, length } = part;
        Backwards {
            name,
            path,
            file,
            start: length,
            pending: Vec::new(),
            chunk: FIRST_CHUNK,
            begun: false,
        }
    }

    /// The line before the last one given.
    fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            // Every line ends with a newline, and what stands behind the last one is unfinished.
            let ends = self.pending.len() - usize::from(self.begun && !self.pending.is_empty());
            match self.pending[..ends].iter().rposition(|byte| *byte == b'\n') {
                Some(newline) if !self.begun => {
                    self.pending.truncate(newline + 1);
                    self.begun = true;
                }
                Some(newline) => {
                    self.chunk = FIRST_CHUNK;
                    return Ok(Some(self.take_from(newline + 1)));
                }
                None if self.start == 0 && self.begun && !self.pending.is_empty() => {
                    return Ok(Some(self.take_from(0)));
                }
                None if self.start == 0 => return Ok(None),
                None => self.read_more()?,
            }
        }
    }

    fn take_from(&mut self, position: usize) -> Vec<u8> {
        let mut line = self.pending.split_off(position);
        line.pop();
        line
    }

    fn read_more(&mut self) -> io::Result<()> {
        if self.pending.len() > 2 * MOST_LINE_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a line is too long"));
        }
        let from = self.start.saturating_sub(self.chunk);
        let mut bytes = Vec::with_capacity((self.start - from) as usize + self.pending.len());
        self.file.seek(SeekFrom::Start(from))?;
        (&self.file).take(self.start - from).read_to_end(&mut bytes)?;
        bytes.append(&mut self.pending);
        self.pending = bytes;
        self.start = from;
        self.chunk *= 2;
        Ok(())
    }
}
