//! `fumehood log show`: all that is recorded of one run, or of one decision about a tool.

use clap::Args;
use fumehood::{
    Strength,
    ledger::{Caller, Entry, LedgerReader, Record, Sealed, StdinSummary, Stored},
    nearest,
};
use serde_json::Value;

use super::{LogFailure, harmless, list, print, tools};
use crate::{
    paint::Paint,
    render::{seconds, size},
};

/// Arguments of `fumehood log show`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ShowArgs {
    /// The id of a run or of a decision, or enough of its beginning.
    id: String,
    /// Print the record as JSON.
    #[arg(long)]
    pub(super) json: bool,
}

const EXAMPLES: &str = "\
Examples:
  fumehood log show 01a1dde67377-1f3a-0
  fumehood log show 01a1dde6 --json";

/// How many ids are compared when none fits.
const MOST_HINTS: usize = 1000;

/// Shows one record.
pub fn main(ledger: &LedgerReader, arguments: &ShowArgs) -> Result<(), LogFailure> {
    let (bytes, stored) = find(ledger, &arguments.id)?;
    if arguments.json {
        // Unchanged but for its layout: what is not known to this version is shown as well.
        let value: Option<Value> = serde_json::from_slice(&bytes).ok();
        return print(&format!("{:#}\n", value.unwrap_or_default()));
    }
    let paint = Paint::for_stdout();
    match &stored.entry {
        Entry::Run(record) => print(&report(&stored, record, paint)),
        Entry::Tool(record) => {
            let lines = tools::lines(&stored, record);
            print(
                &lines
                    .into_iter()
                    .map(|(name, value)| line(name, &value, paint))
                    .collect::<String>(),
            )
        }
        _ => Ok(()),
    }
}

fn line(name: &str, value: &str, paint: Paint) -> String {
    format!("{} {}\n", paint.strong(&format!("{name:12}")), harmless(value))
}

/// The one record whose id begins like this.
fn find(ledger: &LedgerReader, given: &str) -> Result<(Vec<u8>, Stored), LogFailure> {
    let mut found: Option<(Vec<u8>, Stored, String)> = None;
    let mut others = Vec::new();
    for line in ledger.newest_first()? {
        let line = line?;
        let Ok(stored) = line.read() else { continue };
        let id = match &stored.entry {
            Entry::Run(record) => record.id.as_str().to_owned(),
            Entry::Tool(_) => tools::id(&stored),
            _ => continue,
        };
        if id == given {
            return Ok((line.bytes, stored));
        }
        if !id.starts_with(given) {
            if others.len() < MOST_HINTS {
                others.push(id);
            }
        } else if let Some((_, _, example)) = found.filter(|(_, _, other)| *other != id) {
            return Err(LogFailure::Ambiguous { given: given.to_owned(), example });
        } else {
            found = Some((line.bytes, stored, id));
        }
    }
    found.map(|(bytes, stored, _)| (bytes, stored)).ok_or_else(|| {
        let hint = match nearest(given, others.iter().map(String::as_str)).first() {
            Some(id) => format!(" (did you mean {id}?)"),
            None => String::new(),
        };
        LogFailure::NoSuchRun { given: given.to_owned(), hint }
    })
}

fn report(stored: &Stored, record: &Record, paint: Paint) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| text += &line(name, &value, paint);
    let request = &record.request;
    line("id", record.id.to_string());
    line("record", format!("{} written {}", stored.seq, stored.time));
    line("caller", caller(&record.caller));
    line("what", list::what(request, 2000));
    if let Some(code) = &request.code {
        line("code", sealed(code));
    }
    if let Some(argv) = &request.argv_sealed {
        line("arguments", format!("{} words, digest {}", argv.length.unwrap_or(0), argv.digest));
    }
    if let StdinSummary::Given(stdin) = &request.stdin {
        line("stdin", sealed(stdin));
    }
    for (name, value) in &request.env {
        line("variable", format!("{name}: {}", sealed(value)));
    }
    if let Some(workspace) = &request.workspace {
        let mode = workspace.mode.map_or("as the policy says", |mode| mode.name());
        line("workspace", format!("{} ({mode})", workspace.directory));
    }
    for mount in &request.mounts {
        let source = mount.source.as_deref().unwrap_or("private space");
        line("mount", format!("{source} at {} ({:?})", mount.target, mount.access));
    }
    line("status", status(record));
    line("used", format!("{}, {}", seconds(record.execution_time), size(record.memory_used)));
    for phase in &record.phases {
        let cached = if phase.cached { " (cached)" } else { "" };
        let took = seconds(phase.execution_time);
        line("phase", format!("{}{cached}: {}, {took}", phase.phase.name(), phase.status));
    }
    for violation in &record.violations {
        line("violation", violation.message.clone());
    }
    for decision in &record.network {
        let port = decision.port.map_or_else(String::new, |port| format!(":{port}"));
        let word = if decision.allowed { "allowed" } else { "refused" };
        line("network", format!("{}{port} {word}: {}", decision.host, decision.reason));
    }
    line("backend", record.backend.to_string());
    for (layer, report) in record.enforced.iter() {
        if report.strength != Strength::Full {
            line("not full", format!("{layer}: {:?} ({})", report.strength, report.detail));
        }
    }
    line("policy", record.policy.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string));
    line("plan", record.plan.to_string());
    line("request", request.digest.to_string());
    line("previous", stored.previous.to_string());
    line("hash", stored.hash.to_string());
    text
}

fn status(record: &Record) -> String {
    let mut text = record.status.to_string();
    if let Some(code) = record.exit_code {
        text += &format!(", code {code}");
    }
    if let Some(signal) = record.signal {
        text += &format!(", signal {signal}");
    }
    if let Some(error) = &record.error {
        text += &format!(": {error}");
    }
    text
}

pub(super) fn caller(caller: &Caller) -> String {
    let user = caller.user.as_deref().unwrap_or("-");
    let host = caller.host.as_deref().unwrap_or("-");
    let program = caller.program.as_deref().unwrap_or("-");
    format!("{user} (uid {}) on {host}, process {} of {program}", caller.uid, caller.pid)
}

fn sealed(sealed: &Sealed) -> String {
    let length = sealed.length.map_or_else(String::new, |length| format!("{length} bytes, "));
    match &sealed.text {
        Some(text) => format!("{length}digest {}: {text}", sealed.digest),
        None => format!("{length}digest {}", sealed.digest),
    }
}
