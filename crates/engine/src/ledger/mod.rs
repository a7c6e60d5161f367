//! The ledger on disk: one line per run, chained, written by many processes at once.
//!
//! A directory of its own holds
//!
//! | file | what |
//! |---|---|
//! | `ledger.jsonl` | the newest lines; see [`seal_line`] for their form |
//! | `ledger-000000000001.jsonl` | older lines; the number is that of its first line |
//! | `head` | number and hash of the last line; its lock is the right to write |
//! | `salt` | the secret under which values are digested |
//!
//! **Many writers.** Whoever appends holds the lock of `head`. That file is never renamed, so
//! rotation needs no second look at what is locked; and it has to be read and written anyway. Under
//! the lock the end of the newest file is read for the number and hash to go on from, all new lines
//! are written with one call, and `head` is overwritten with one call.
//!
//! **A crash in the middle of a line** leaves bytes without a newline. They were never part of the
//! chain and no receipt was given for them. The next writer takes them away and puts a `torn` line
//! in their place, with their length, SHA-256 and beginning. So every line is JSON at all times, and
//! a line that is not is a sign of editing, never of a crash. A complete line cannot be passed off
//! as a torn one: `head` counts it.
//!
//! **A crash between line and head** leaves `head` one append behind. That is accepted, and mended
//! by the next append.
//!
//! **An end that was cut off** leaves `head` ahead of the lines. Verification says so. If a writer
//! comes first, it goes on, but with a `cut` line that says where the ledger had ended; verification
//! fails at that line for ever. A missing or unreadable `head` is treated the same way. So a run
//! never has to wait for somebody to look at the ledger, and the evidence is not healed away.
//!
//! **Rotation** renames the file, under the lock. The next file begins with a `link` line whose
//! `previous` is the hash of the last line of the file before. A crash between the two is nothing:
//! whoever finds no newest file goes on from the newest of the older ones.
//!
//! ```no_run
//! # use fumehood::{Outcome, Plan, Request};
//! use fumehood::ledger::{Ledger, LedgerReader, Settings, VerifyOptions, ledger_dir, record};
//!
//! # fn example(request: Request, plan: Plan, outcome: Outcome) -> Result<(), fumehood::ledger::LedgerError> {
//! let ledger = Ledger::open(&ledger_dir()?, Settings::default())?;
//! let receipt = ledger.append(record(&request, &plan, &outcome, ledger.extras(None, vec![])))?;
//! let answer = LedgerReader::new(ledger_dir()?).verify(VerifyOptions::default())?;
//! assert!(answer.is_ok());
//! # Ok(())
//! # }
//! ```

mod append;
mod batch;
mod error;
mod files;
mod head_file;
mod newest;
mod place;
mod process;
mod read;
mod salt_file;
mod system;
mod tail;

pub use fumehood_core::ledger::*;

pub use self::{
    append::{Ledger, Receipt, Settings},
    error::LedgerError,
    newest::{FoundLine, NewestFirst},
    place::{ledger_dir, state_dir},
    process::now,
    read::{LedgerReader, VerifyOptions},
};
