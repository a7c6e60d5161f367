//! Checking the chain, line by line, on the exact bytes.
//!
//! A line passes if its bytes have the hash that it gives, its number is the next one, and the hash
//! that it names as the one before is that of the line before. At the end the head must be in
//! the chain. The first line that does not pass is named.

use serde::Serialize;

use super::{
    Broken, ChainHash, Cut, Fault, Head, MOST_LINE_BYTES,
    line::{Frame, split},
};

/// What a ledger without fault holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// All lines.
    pub lines: u64,
    /// Lines that record runs.
    pub runs: u64,
    /// Lines that writers did not finish, as noted by the next ones. Nothing complete was lost.
    pub torn: u64,
    /// True if the last line is not finished and not yet noted.
    pub torn_end: bool,
    /// The last line; absent if there is none.
    pub head: Option<Head>,
}

/// Checks lines as they come.
#[derive(Debug)]
pub struct Verifier {
    so_far: Verified,
    last: Option<Head>,
    archived: bool,
    has_head: bool,
    /// The head, until it is met.
    head: Option<Head>,
    /// A head noted elsewhere, until it is met.
    noted: Option<ChainHash>,
}

impl Verifier {
    /// A verifier for a ledger with this head, if it has one. `noted` is the hash of a line that
    /// must be there. `archived` says that the ledger may begin late.
    pub fn new(head: Option<Head>, noted: Option<ChainHash>, archived: bool) -> Verifier {
        let has_head = head.is_some();
        Verifier { so_far: Verified::default(), last: None, archived, has_head, head, noted }
    }

    /// Checks the next line, given without its newline.
    pub fn line(&mut self, file: &str, number: u64, line: &[u8]) -> Result<(), Box<Broken>> {
        let expected = self.last.map_or(1, |last| last.seq + 1);
        let broken = |record: u64, fault: Fault| {
            Box::new(Broken {
                file: file.to_owned(),
                line: Some(number),
                record: Some(record),
                id: readable_id(line),
                fault,
            })
        };
        if line.len() > MOST_LINE_BYTES {
            return Err(broken(expected, Fault::TooLong));
        }
        let (body, hash) = split(line).map_err(|_| broken(expected, Fault::NotARecord))?;
        if ChainHash::of(body) != hash {
            return Err(broken(expected, Fault::Edited));
        }
        let frame: Frame =
            serde_json::from_slice(line).map_err(|_| broken(expected, Fault::NotARecord))?;
        let found = frame.seq;
        let may_begin_here = self.last.is_none() && self.archived && frame.entry == "link";
        if !may_begin_here {
            let fault = match found {
                _ if found < expected => Some(Fault::OutOfOrder { expected, found }),
                _ if found > expected && self.last.is_none() => Some(Fault::BeginsLate { found }),
                _ if found > expected => Some(Fault::Missing { expected, found }),
                _ if frame.previous != self.last.map_or(ChainHash::NOTHING, |last| last.hash) => {
                    Some(Fault::Unlinked)
                }
                _ => None,
            };
            if let Some(fault) = fault {
                return Err(broken(found, fault));
            }
        }
        match frame.entry.as_str() {
            "run" => self.so_far.runs += 1,
            "torn" => self.so_far.torn += 1,
            "cut" => {
                let cut = serde_json::from_slice::<Cut>(line).ok().and_then(|cut| cut.head);
                return Err(broken(found, Fault::Cut { last: cut.map(|head| head.seq) }));
            }
            _ => {}
        }
        let this = Head { seq: found, hash };
        if self.head.is_some_and(|head| head.seq == found && head.hash != hash) {
            return Err(broken(found, Fault::HeadDiffers));
        }
        self.head = self.head.filter(|head| *head != this);
        self.noted = self.noted.filter(|noted| *noted != hash);
        self.so_far.lines += 1;
        self.last = Some(this);
        Ok(())
    }

    /// Takes note of bytes without a newline at the end of a file. Only the last file may have them.
    pub fn torn_end(&mut self, file: &str, number: u64, is_last: bool) -> Result<(), Box<Broken>> {
        if !is_last {
            return Err(Box::new(Broken {
                file: file.to_owned(),
                line: Some(number),
                record: self.last.map(|last| last.seq + 1),
                id: None,
                fault: Fault::TornInside,
            }));
        }
        self.so_far.torn_end = true;
        Ok(())
    }

    /// Ends the check. `file` is the last one.
    pub fn finish(self, file: &str) -> Result<Verified, Box<Broken>> {
        let last = self.last.unwrap_or(Head::NOTHING);
        let broken = |fault: Fault| {
            let (file, record) = (file.to_owned(), None);
            Err(Box::new(Broken { file, line: None, record, id: None, fault }))
        };
        match (self.head, self.noted) {
            (Some(head), _) if head.seq > last.seq => {
                broken(Fault::Truncated { last: last.seq, expected: head.seq })
            }
            // It is in the chain if it was met.
            (Some(head), _) if head != Head::NOTHING => broken(Fault::HeadDiffers),
            _ if !self.has_head && self.last.is_some() => broken(Fault::NoHead),
            (_, Some(noted)) => broken(Fault::NotedHeadMissing { noted }),
            _ => Ok(Verified { head: self.last, ..self.so_far }),
        }
    }
}

/// The id that a line gives, even if the line is no longer JSON.
fn readable_id(line: &[u8]) -> Option<String> {
    const KEY: &[u8] = b"\"id\":\"";
    let start = line.windows(KEY.len()).position(|window| window == KEY)? + KEY.len();
    let is_part = |byte: &&u8| byte.is_ascii_hexdigit() || **byte == b'-';
    let id: Vec<u8> = line[start..].iter().take_while(is_part).take(64).copied().collect();
    String::from_utf8(id).ok().filter(|id| !id.is_empty())
}
