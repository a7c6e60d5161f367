//! `fumehood log`: the runs and the decisions about tools, newest first.

use clap::Args;
use fumehood::{
    BackendName, Digest, Status,
    ledger::{
        Entry, Filter, LedgerReader, Moment, ProgramKind, Record, RequestSummary, Stored,
        ViolationFilter,
    },
};

use super::{
    LogFailure, harmless, print,
    tools::{self, ToolFilter},
    values,
};
use crate::{
    output,
    paint::Paint,
    render::{seconds, size},
};

/// Arguments of `fumehood log` without a further command.
#[derive(Args, Debug)]
pub struct ListArgs {
    /// Only runs that ended since then: 2h, 3d, 2026-11-01, 2026-11-01T08:30:00Z.
    #[arg(long, value_name = "TIME", value_parser = values::since)]
    since: Option<Moment>,
    /// Only runs that ended like this: exited, timeout, oom and so on.
    #[arg(long, value_parser = values::status)]
    status: Option<Status>,
    /// Only runs of this backend.
    #[arg(long)]
    backend: Option<BackendName>,
    /// Only runs that tried what they may not; of one kind, if you name it.
    #[arg(
        long,
        value_name = "KIND",
        num_args = 0..=1,
        default_missing_value = "any",
        value_parser = values::violation
    )]
    violation: Option<ViolationFilter>,
    /// Only runs of the plan with this digest, as outcomes give it.
    #[arg(long, value_name = "DIGEST", value_parser = values::plan)]
    plan: Option<Digest>,
    /// Only decisions about the tools of agents; with one verdict, if you name it.
    #[arg(
        long,
        value_name = "VERDICT",
        num_args = 0..=1,
        default_missing_value = "any",
        value_parser = values::tools,
        conflicts_with_all = ["status", "backend", "violation", "plan"]
    )]
    tools: Option<ToolFilter>,
    /// How many at most.
    #[arg(short = 'n', long = "limit", value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Print the records as they are, one JSON object per line.
    #[arg(long)]
    pub(super) json: bool,
}

/// Lists the runs.
pub fn main(ledger: &LedgerReader, arguments: &ListArgs) -> Result<(), LogFailure> {
    let mut filter = Filter {
        since: arguments.since,
        status: arguments.status,
        backend: arguments.backend,
        violation: arguments.violation,
        plan: None,
    };
    // Without a salt nothing was ever recorded, and the bare digest finds nothing.
    if let Some(plan) = &arguments.plan {
        let salt = ledger.salt()?;
        filter.plan = Some(salt.map_or(plan.clone(), |salt| Record::plan_seal(&salt, plan)));
    }
    let mut rows = Vec::new();
    let mut shown = 0;
    let mut unreadable = 0u64;
    for line in ledger.newest_first()? {
        if shown == arguments.limit {
            break;
        }
        let line = line?;
        let Ok(stored) = line.read() else {
            unreadable += 1;
            continue;
        };
        let Some(row) = arguments.pick(&filter, &stored) else { continue };
        shown += 1;
        if arguments.json {
            // It was read as JSON, so it is text.
            print(&format!("{}\n", String::from_utf8_lossy(&line.bytes)))?;
        } else {
            rows.push(row);
        }
    }
    if !arguments.json {
        let none = if arguments.tools.is_some() { "No decisions.\n" } else { "No runs.\n" };
        print(&table(&rows, none, Paint::for_stdout()))?;
    }
    if unreadable > 0 {
        let lines = if unreadable == 1 { "1 line" } else { &format!("{unreadable} lines") };
        output::line_for_people(&format!(
            "{lines} of the ledger cannot be read; see `fumehood log verify`"
        ));
    }
    Ok(())
}

impl ListArgs {
    /// The row of this line, if it is one that is wanted. What only runs have, only runs can be
    /// picked by.
    fn pick(&self, filter: &Filter, stored: &Stored) -> Option<Row> {
        match (&stored.entry, self.tools) {
            (Entry::Run(_), None) => filter.pick(stored).map(|record| row(stored, record)),
            (Entry::Tool(record), tools) => {
                let only_runs = self.status.is_some()
                    || self.backend.is_some()
                    || self.violation.is_some()
                    || self.plan.is_some();
                let wanted = self.since.is_none_or(|since| stored.time >= since)
                    && tools.map_or(!only_runs, |tools| tools.wants(record));
                wanted.then(|| tools::row(stored, record))
            }
            _ => None,
        }
    }
}

pub const COLUMNS: usize = 7;
pub type Row = [String; COLUMNS];

fn row(stored: &Stored, record: &Record) -> Row {
    let exit = match (record.exit_code, record.signal) {
        (Some(code), _) => code.to_string(),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "-".to_owned(),
    };
    [
        moment(stored.time),
        harmless(record.id.as_str()),
        record.status.name().to_owned(),
        exit,
        seconds(record.execution_time),
        size(record.memory_used),
        what(&record.request, 60),
    ]
}

/// To the second, which is enough for a table.
pub fn moment(moment: Moment) -> String {
    let text = moment.to_string();
    format!("{} {}", &text[..10], &text[11..19])
}

/// What was run, in a few words.
pub fn what(request: &RequestSummary, most: usize) -> String {
    let words = match &request.argv {
        Some(words) => words.join(" "),
        None => "(arguments not recorded)".to_owned(),
    };
    let text = match request.kind {
        ProgramKind::Command => words,
        ProgramKind::Code => {
            let language = request.language.as_deref().unwrap_or("code");
            let name = request.file_name.as_deref().unwrap_or("code");
            format!("{language}: {name} {words}")
        }
    };
    let text = harmless(text.trim_end());
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn table(rows: &[Row], none: &str, paint: Paint) -> String {
    if rows.is_empty() {
        return none.to_owned();
    }
    let titles: Row =
        ["TIME (UTC)", "ID", "STATUS", "EXIT", "TOOK", "MEMORY", "WHAT"].map(str::to_owned);
    let width = |column: usize| {
        let cells = rows.iter().chain([&titles]).map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..COLUMNS).map(width).collect();
    let line = |row: &Row| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut text = format!("{}\n", paint.strong(&line(&titles)));
    for row in rows {
        text.push_str(&line(row));
        text.push('\n');
    }
    text
}
