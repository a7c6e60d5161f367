//! `fumehood log verify`: whether the record is whole, and if not, where it is broken first.

use clap::Args;
use fumehood::ledger::{Broken, ChainHash, LedgerReader, Verified, VerifyOptions};
use serde_json::{Value, json};

use super::{LogFailure, harmless, print};

/// Arguments of `fumehood log verify`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct VerifyArgs {
    /// The hash of a record that must be there, as `log head` printed it earlier.
    #[arg(long, value_name = "HASH")]
    head: Option<ChainHash>,
    /// Accept that older files were moved away.
    #[arg(long)]
    archived: bool,
    /// Print the answer as JSON.
    #[arg(long)]
    pub(super) json: bool,
}

const EXAMPLES: &str = "\
Examples:
  fumehood log verify
  fumehood log verify --head \"$(cat /mnt/elsewhere/head)\"
  fumehood log verify --json                 for programs

The exit code is 0 if the ledger is whole, else 1.";

/// Exit code for a ledger that is not whole.
const EXIT_BROKEN: u8 = 1;

/// Checks the ledger and gives the exit code.
pub fn main(ledger: &LedgerReader, arguments: &VerifyArgs) -> Result<u8, LogFailure> {
    let options = VerifyOptions { noted: arguments.head, archived: arguments.archived };
    let answer = ledger.verify(options)?;
    let text = match (&answer, arguments.json) {
        (Ok(verified), false) => whole(verified),
        (Err(broken), false) => format!("Broken: {}\n", harmless(&broken.to_string())),
        (answer, true) => format!("{}\n", as_json(answer)),
    };
    print(&text)?;
    Ok(if answer.is_ok() { 0 } else { EXIT_BROKEN })
}

fn whole(verified: &Verified) -> String {
    let count = |number: u64, what: &str| match number {
        1 => format!("1 {what}"),
        number => format!("{number} {what}s"),
    };
    let Some(head) = verified.head else {
        return "Nothing was recorded yet.\n".to_owned();
    };
    let (runs, records) = (count(verified.runs, "run"), count(verified.lines, "record"));
    let mut text = format!("Whole: {runs} in {records}.\nHead: {}\n", head.hash);
    if verified.torn > 0 {
        let torn = count(verified.torn, "record");
        text += &format!("Note: writers were ended in the middle of {torn}.\n");
    }
    if verified.torn_end {
        text += "Note: the last line is not finished; the next run will note that.\n";
    }
    text
}

fn as_json(answer: &Result<Verified, Box<Broken>>) -> Value {
    let (whole, mut fields) = match answer {
        Ok(verified) => (true, json!(verified)),
        Err(broken) => {
            let mut fields = json!(broken);
            fields["message"] = broken.to_string().into();
            (false, fields)
        }
    };
    fields["whole"] = whole.into();
    fields
}
