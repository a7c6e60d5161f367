//! Decisions about the tools of agents, as `fumehood log` shows them. A decision has no id of its own;
//! the number of its record names it: `tool-7`.

use fumehood::{
    ledger::{Stored, ToolRecord},
    policy::ToolVerdict,
};

use super::{
    harmless,
    list::{Row, moment},
};

/// Which decisions are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolFilter {
    /// All of them.
    Any,
    /// Those with this verdict.
    Verdict(ToolVerdict),
}

impl ToolFilter {
    /// Whether this one is.
    pub fn wants(self, record: &ToolRecord) -> bool {
        match self {
            ToolFilter::Any => true,
            ToolFilter::Verdict(verdict) => record.verdict == verdict,
        }
    }
}

/// What a decision is called.
pub fn id(stored: &Stored) -> String {
    format!("tool-{}", stored.seq)
}

/// A decision as a row of the table.
pub fn row(stored: &Stored, record: &ToolRecord) -> Row {
    let none = || "-".to_owned();
    let what = format!("{} of {}, {}", record.tool, record.agent, rule(record));
    [
        moment(stored.time),
        id(stored),
        record.verdict.name().to_owned(),
        none(),
        none(),
        none(),
        harmless(&what),
    ]
}

/// The rule that decided.
fn rule(record: &ToolRecord) -> String {
    match (&record.rule, &record.origin) {
        (Some(rule), Some(origin)) => format!("rule `{rule}` ({origin})"),
        (Some(rule), None) => format!("rule `{rule}`"),
        (None, _) => "named by no rule".to_owned(),
    }
}

/// All that is recorded of a decision, as names and values.
pub fn lines(stored: &Stored, record: &ToolRecord) -> Vec<(&'static str, String)> {
    let input = &record.input;
    let length = input.length.map_or_else(String::new, |length| format!("{length} bytes, "));
    let mut lines = vec![
        ("id", id(stored)),
        ("record", format!("{} written {}", stored.seq, stored.time)),
        ("caller", super::show::caller(&record.caller)),
        ("agent", record.agent.clone()),
    ];
    lines.extend(record.session.clone().map(|session| ("session", session)));
    lines.extend([
        ("tool", record.tool.clone()),
        ("verdict", record.verdict.name().to_owned()),
        ("rule", rule(record)),
        ("input", format!("{length}digest {}", input.digest)),
        ("policy", record.policy.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string)),
        ("previous", stored.previous.to_string()),
        ("hash", stored.hash.to_string()),
    ]);
    lines
}
