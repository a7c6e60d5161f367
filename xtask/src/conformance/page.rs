//! The page with the table: a row per case, a column per place, reasons as numbered notes.

use std::collections::BTreeMap;

use super::results::{Results, Verdict};

const INTRODUCTION: &str = "\
# Conformance

Written by `cargo xtask conformance --write`: do not edit it by hand. The cases are in
`tests/conformance`; the same list is carried out at every place. A place is a backend under a user.
`local` is there to show what a program reaches where nothing is isolated, so most of its cases do
not apply. Docker and Podman are places where `FUMEHOOD_TEST_DOCKER`, `FUMEHOOD_TEST_PODMAN` and
`FUMEHOOD_TEST_IMAGE` name an engine and an image; `cargo xtask engines up` prints these variables.

`n/a` stands where a case means nothing at a place; the number names the note with the reason. An
empty cell says that the case was not run there.
";

/// The whole page.
pub fn text(results: &Results) -> String {
    let notes = notes(results);
    let mut text = format!(
        "{INTRODUCTION}\n## Count\n\n| place | ok | failed | n/a |\n|---|---:|---:|---:|\n"
    );
    for place in results.places() {
        let count = |wanted: fn(&Verdict) -> bool| {
            let at_place = results.cases().filter_map(|(_, verdicts)| verdicts.get(place));
            at_place.filter(|verdict| wanted(verdict)).count()
        };
        let ok = count(|verdict| *verdict == Verdict::Ok);
        let failed = count(|verdict| *verdict == Verdict::Failed);
        let not_applicable = count(|verdict| matches!(verdict, Verdict::NotApplicable(_)));
        text.push_str(&format!("| {place} | {ok} | {failed} | {not_applicable} |\n"));
    }
    text.push_str(&format!("\n## Cases\n\n| case | {} |\n", results.places().join(" | ")));
    text.push_str(&format!("|---|{}\n", "---|".repeat(results.places().len())));
    for (case, verdicts) in results.cases() {
        text.push_str(&format!("| `{case}` |"));
        for place in results.places() {
            let cell =
                verdicts.get(place).map_or_else(String::new, |verdict| cell(verdict, &notes));
            text.push_str(&format!(" {cell} |"));
        }
        text.push('\n');
    }
    if !notes.is_empty() {
        text.push_str("\n## Notes\n\n");
        let mut sorted: Vec<_> = notes.into_iter().collect();
        sorted.sort_by_key(|(_, number)| *number);
        for (reason, number) in sorted {
            text.push_str(&format!("{number}. {reason}\n"));
        }
    }
    text
}

/// Every reason with its number, in the order in which the table names them.
fn notes(results: &Results) -> BTreeMap<&str, usize> {
    let mut notes = BTreeMap::new();
    for (_, verdicts) in results.cases() {
        for place in results.places() {
            if let Some(Verdict::NotApplicable(reason)) = verdicts.get(place) {
                let next = notes.len() + 1;
                notes.entry(reason.as_str()).or_insert(next);
            }
        }
    }
    notes
}

fn cell(verdict: &Verdict, notes: &BTreeMap<&str, usize>) -> String {
    match verdict {
        Verdict::Ok => "ok".to_owned(),
        Verdict::Failed => "**FAILED**".to_owned(),
        Verdict::NotApplicable(reason) => match notes.get(reason.as_str()) {
            Some(number) => format!("n/a ({number})"),
            None => "n/a".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_cases_columns_are_places_and_a_reason_is_noted_once() {
        let mut results = Results::default();
        for line in [
            "test native::a::first ... ok",
            "test native::b::second ... ok",
            "test [nothing is isolated here] local::a::first ... ignored",
            "test [nothing is isolated here] local::b::second ... ignored",
            "test docker::a::first ... FAILED",
            "test [an engine would take minutes for it] docker::b::second ... ignored",
            "test native::c::third ... ok",
        ] {
            results.add_line(line);
        }
        let page = text(&results);
        for line in [
            "| case | native | local | docker |",
            "|---|---|---|---|",
            "| `a::first` | ok | n/a (1) | **FAILED** |",
            "| `b::second` | ok | n/a (1) | n/a (2) |",
            "| `c::third` | ok |  |  |",
            "1. nothing is isolated here",
            "2. an engine would take minutes for it",
            "| native | 3 | 0 | 0 |",
            "| docker | 0 | 1 | 1 |",
        ] {
            assert!(page.lines().any(|found| found == line), "{line} is not in:\n{page}");
        }
        assert_eq!(page.matches("nothing is isolated here").count(), 1);
    }
}
