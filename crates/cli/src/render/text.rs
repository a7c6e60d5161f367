//! A report for people: what ran and how it ended, what it wrote, what it used.
//!
//! The program's output is indented and its control sequences are shown, not obeyed: it can
//! neither play tricks on the terminal nor pass for a part of the report.

use fumehood::{Captured, Outcome, StreamName, escape_controls};

use super::{changes, closing};
use crate::{failure::Failure, output, paint::Paint};

/// Writes the report.
pub async fn finish(outcome: &Outcome, label: &str) -> Result<(), Failure> {
    let report = report(outcome, label, Paint::for_stdout());
    Ok(output::write(StreamName::Stdout, report.as_bytes()).await?)
}

fn report(outcome: &Outcome, label: &str, paint: Paint) -> String {
    let ending = closing::ending(outcome);
    let ending = if outcome.success { paint.good(&ending) } else { paint.bad(&ending) };
    // One line, whatever stands in the command.
    let label = escape_controls(label).replace('\n', "\\n");
    let mut report = format!("{}: {ending} ({})\n", paint.strong(&label), outcome.backend);
    for sentence in closing::sentences(outcome) {
        report.push_str(&format!("{}\n", escape_controls(&sentence)));
    }
    section(&mut report, paint, "stdout", &outcome.stdout);
    section(&mut report, paint, "stderr", &outcome.stderr);
    if outcome.truncated {
        report.push_str("(the output was cut at its limit)\n");
    }
    report.push_str(&changes::section(outcome, paint));
    report.push_str(&format!("{}\n", paint.faint(&closing::metrics(outcome))));
    report
}

fn section(report: &mut String, paint: Paint, title: &str, captured: &Captured) {
    if captured.0.is_empty() {
        return;
    }
    report.push_str(&format!("{}\n", paint.strong(&format!("{title}:"))));
    for line in escape_controls(&captured.text()).lines() {
        report.push_str(&format!("  {line}\n"));
    }
}
