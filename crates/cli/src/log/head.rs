//! `fumehood log head`: the hash of the last record, to be noted elsewhere.

use clap::Args;
use fumehood::ledger::LedgerReader;

use super::{LogFailure, print};

/// Arguments of `fumehood log head`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct HeadArgs {
    /// Print its number as well, as JSON.
    #[arg(long)]
    pub(super) json: bool,
}

const EXAMPLES: &str = "\
Examples:
  fumehood log head > /mnt/elsewhere/head
  fumehood log verify --head \"$(cat /mnt/elsewhere/head)\"";

/// Prints the head.
pub fn main(ledger: &LedgerReader, arguments: &HeadArgs) -> Result<(), LogFailure> {
    let head = ledger.head()?.filter(|head| head.seq > 0).ok_or(LogFailure::NoHead)?;
    if arguments.json {
        print(&format!("{}\n", serde_json::json!({ "record": head.seq, "hash": head.hash })))
    } else {
        print(&format!("{}\n", head.hash))
    }
}
