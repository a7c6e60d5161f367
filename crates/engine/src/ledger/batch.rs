//! The lines of one append: a record and the notes that have to stand before it.

use super::{Entry, Head, LedgerError, MOST_LINE_BYTES, Moment, seal_line};

/// Lines that are written together.
#[derive(Debug)]
pub(super) struct Batch {
    time: Moment,
    bytes: Vec<u8>,
    head: Head,
}

impl Batch {
    /// Lines that follow this one.
    pub(super) fn new(after: Head, time: Moment) -> Batch {
        Batch { time, bytes: Vec::new(), head: after }
    }

    /// Adds a line.
    pub(super) fn add(&mut self, entry: &Entry) -> Result<(), LedgerError> {
        let (line, head) = seal_line(entry, self.time, self.head)?;
        if line.len() > MOST_LINE_BYTES {
            return Err(LedgerError::TooLong { length: line.len() });
        }
        self.bytes.extend(line);
        self.head = head;
        Ok(())
    }

    /// The lines, and where the ledger ends with them.
    pub(super) fn done(self) -> (Vec<u8>, Head) {
        (self.bytes, self.head)
    }
}
