//! `fumehood log`: which runs and decisions about tools there were, what one of them was, and whether
//! the record is whole.

mod failure;
mod head;
mod list;
mod show;
mod tools;
mod values;
mod verify;

use std::io::{self, Write as _};

use clap::{Args, Subcommand};
use fumehood::ledger::{LedgerReader, ledger_dir};

use self::failure::LogFailure;
use crate::render::Format;

/// Arguments of `fumehood log`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub struct LogArgs {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    list: list::ListArgs,
}

const EXAMPLES: &str = "\
Examples:
  fumehood log                               the last 20 runs, newest first
  fumehood log --since 2h --status timeout   what ran out of time lately
  fumehood log --violation memory --json     what wanted too much memory, for programs
  fumehood log --tools deny                  which tools were refused to agents
  fumehood log show 01a1dde6                 all about one run
  fumehood log verify                        check that nothing was changed or removed
  fumehood log head                          note this elsewhere, for `log verify --head`";

#[derive(Debug, Subcommand)]
enum Action {
    /// Show all that is recorded of one run.
    Show(show::ShowArgs),
    /// Check that no record was changed, removed, added or moved.
    Verify(verify::VerifyArgs),
    /// Print the hash of the last record.
    Head(head::HeadArgs),
}

/// Does what was asked for and gives the exit code.
pub fn main(arguments: &LogArgs) -> u8 {
    let as_json = match &arguments.action {
        None => arguments.list.json,
        Some(Action::Show(arguments)) => arguments.json,
        Some(Action::Verify(arguments)) => arguments.json,
        Some(Action::Head(arguments)) => arguments.json,
    };
    answer(arguments)
        .unwrap_or_else(|failure| failure.report(if as_json { Format::Json } else { Format::Text }))
}

fn answer(arguments: &LogArgs) -> Result<u8, LogFailure> {
    let ledger = LedgerReader::new(ledger_dir()?);
    match &arguments.action {
        None => list::main(&ledger, &arguments.list).map(|()| 0),
        Some(Action::Show(arguments)) => show::main(&ledger, arguments).map(|()| 0),
        Some(Action::Verify(arguments)) => verify::main(&ledger, arguments),
        Some(Action::Head(arguments)) => head::main(&ledger, arguments).map(|()| 0),
    }
}

/// Writes to standard output.
fn print(text: &str) -> Result<(), LogFailure> {
    Ok(io::stdout().write_all(text.as_bytes())?)
}

/// Something that a program or a caller chose, on one line and without effect on a terminal.
fn harmless(text: &str) -> String {
    fumehood::escape_controls(text).replace('\n', "\\n").replace('\t', "\\t")
}
