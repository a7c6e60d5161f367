//! How a file of the ledger ends, without reading all of it.

use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    path::Path,
};

use super::{
    Head, MOST_LINE_BYTES,
    error::{LedgerError, system},
    link_of,
};

/// What is read first. Most lines are shorter.
const FIRST_LOOK: u64 = 8 << 10;

/// How a file ends.
#[derive(Debug)]
pub(super) struct End {
    /// The length up to and with the last newline.
    pub(super) complete: u64,
    /// What follows it: the line of a writer that did not finish.
    pub(super) torn: Vec<u8>,
    /// What the next line has to follow; absent if there is no complete line.
    pub(super) last: Option<Head>,
}

/// Looks at the end of a file.
pub(super) fn end_of(file: &mut File, path: &Path) -> Result<End, LedgerError> {
    let length = file.metadata().map_err(system("looked at", path))?.len();
    let mut look = FIRST_LOOK;
    loop {
        let start = length.saturating_sub(look);
        let bytes = read_between(file, start, length).map_err(system("read", path))?;
        let newline = bytes.iter().rposition(|byte| *byte == b'\n');
        match newline {
            None if start == 0 => return Ok(End { complete: 0, torn: bytes, last: None }),
            None => {}
            Some(newline) => {
                let before = bytes[..newline].iter().rposition(|byte| *byte == b'\n');
                if before.is_some() || start == 0 {
                    let line = &bytes[before.map_or(0, |before| before + 1)..newline];
                    let last =
                        link_of(line).map_err(|_| LedgerError::BadEnd { path: path.to_owned() })?;
                    return Ok(End {
                        complete: start + newline as u64 + 1,
                        torn: bytes[newline + 1..].to_vec(),
                        last: Some(last),
                    });
                }
            }
        }
        // A line and an unfinished one, both as long as can be.
        if look > 2 * MOST_LINE_BYTES as u64 {
            return Err(LedgerError::BadEnd { path: path.to_owned() });
        }
        look *= 8;
    }
}

fn read_between(file: &mut File, start: u64, end: u64) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = vec![0; (end - start) as usize];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}
