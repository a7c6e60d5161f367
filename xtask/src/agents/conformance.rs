//! The public conformance suite of the protocol. Scenarios that apply must pass; most want the tools
//! of a demo server, and `scenarios.json` says for each why it does not apply.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use serde::Deserialize;

use super::{Bench, served::Served};
use crate::shell;

const LIST: &str = include_str!("scenarios.json");

/// What is known of the scenarios.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenarios {
    /// Those that must pass.
    apply: BTreeSet<String>,
    /// Those that cannot, with the reason.
    do_not_apply: BTreeMap<String, String>,
}

/// Runs the whole suite and judges every scenario.
pub fn run(bench: &Bench, case: &mut dyn FnMut(&str, Result<(), String>)) -> Result<(), String> {
    let known: Scenarios = serde_json::from_str(LIST).map_err(|error| error.to_string())?;
    let served = Served::start(bench)?;
    let mut suite: Command = bench.client("conformance");
    suite.args(["server", "--suite", "all", "--url", &served.url]);
    let mut results = BTreeMap::new();
    // It ends with an error whenever a scenario fails, so only its summary counts.
    shell::watch(&mut suite, |line| results.extend(summary(line)))?;
    for (scenario, ended) in judge(&known, &results) {
        case(&scenario, ended);
    }
    Ok(())
}

/// A line of the closing summary, such as `✓ ping: 1 passed, 0 failed`: the scenario, and whether it
/// passed.
fn summary(line: &str) -> Option<(String, bool)> {
    let line = line.strip_prefix("✓ ").or_else(|| line.strip_prefix("✗ "))?;
    let (scenario, counts) = line.split_once(": ")?;
    let (passed, failed) = counts.split_once(" passed, ")?;
    let failed = failed.split(' ').next()?.parse::<u64>().ok()?;
    Some((scenario.to_owned(), passed.parse::<u64>().ok()? > 0 && failed == 0))
}

/// What is said of each scenario that is not as the list wants it, and of each that applies.
fn judge(known: &Scenarios, results: &BTreeMap<String, bool>) -> Vec<(String, Result<(), String>)> {
    let mut said = Vec::new();
    for scenario in &known.apply {
        let ended = match results.get(scenario) {
            Some(true) => Ok(()),
            Some(false) => Err("it applies, and does not pass".to_owned()),
            None => Err("it applies, and was not run".to_owned()),
        };
        said.push((scenario.clone(), ended));
    }
    for (scenario, reason) in &known.do_not_apply {
        match results.get(scenario) {
            Some(false) => println!("{scenario} ... does not apply: {reason}"),
            Some(true) => said.push((
                scenario.clone(),
                Err("it is listed as not applying, and passes: move it to `apply`".to_owned()),
            )),
            None => said.push((
                scenario.clone(),
                Err("it is listed as not applying, and is not in the suite: remove it".to_owned()),
            )),
        }
    }
    for scenario in results.keys() {
        if !known.apply.contains(scenario) && !known.do_not_apply.contains_key(scenario) {
            let message = "it is unknown: put it into scenarios.json".to_owned();
            said.push((scenario.clone(), Err(message)));
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::project::root;

    fn known() -> Scenarios {
        serde_json::from_str(LIST).unwrap()
    }

    #[test]
    fn lines_of_the_summary_are_read() {
        assert_eq!(summary("✓ ping: 1 passed, 0 failed"), Some(("ping".into(), true)));
        assert_eq!(summary("✗ tools-x: 2 passed, 1 failed"), Some(("tools-x".into(), false)));
        assert_eq!(summary("✓ x: 0 passed, 0 failed, 1 warnings"), Some(("x".into(), false)));
        assert_eq!(summary("Total: 12 passed, 23 failed"), None);
        assert_eq!(summary("=== Running scenario: ping ==="), None);
    }

    #[test]
    fn what_is_not_as_listed_is_told() {
        let known = Scenarios {
            apply: ["a", "b", "c"].map(str::to_owned).into(),
            do_not_apply: ["d", "e", "f"].map(|name| (name.to_owned(), String::new())).into(),
        };
        let results = [("a", true), ("b", false), ("d", false), ("e", true), ("g", true)]
            .map(|(name, passed)| (name.to_owned(), passed))
            .into();
        let judged = judge(&known, &results);
        let said: Vec<(&str, bool)> =
            judged.iter().map(|(name, ended)| (name.as_str(), ended.is_ok())).collect();
        assert_eq!(
            said,
            [("a", true), ("b", false), ("c", false), ("e", false), ("f", false), ("g", false)]
        );
    }

    #[test]
    fn the_page_holds_the_list() {
        let page = fs::read_to_string(root().join("docs/AGENTS.md")).unwrap();
        let known = known();
        for scenario in &known.apply {
            assert!(page.contains(&format!("`{scenario}`")), "{scenario} is not on the page");
        }
        for (scenario, reason) in &known.do_not_apply {
            let row = format!("| `{scenario}` | {reason} |");
            assert!(page.contains(&row), "not on the page: {row}");
        }
    }
}
