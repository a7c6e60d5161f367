//! What a test program says of its cases, read line by line.

use std::collections::BTreeMap;

/// How a case went at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Ok,
    /// It does not.
    Failed,
    /// It means nothing there, for this reason.
    NotApplicable(String),
}

/// Cases and how they went, places in the order of their first appearance.
#[derive(Debug, Default)]
pub struct Results {
    places: Vec<String>,
    cases: BTreeMap<String, BTreeMap<String, Verdict>>,
}

impl Results {
    /// Adds what a line says, if it is that of a case.
    pub fn add_line(&mut self, line: &str) {
        let Some((place, case, verdict)) = read(line) else { return };
        if !self.places.iter().any(|known| known == place) {
            self.places.push(place.to_owned());
        }
        self.cases.entry(case.to_owned()).or_default().insert(place.to_owned(), verdict);
    }

    /// The same for the output of many test programs, of which most have no places.
    pub fn add_line_among_others(&mut self, line: &str) {
        const PLACES: &[&str] = &["native", "docker", "podman", "local"];
        if let Some((place, _, _)) = read(line)
            && PLACES.contains(&place.trim_end_matches("_as_user"))
        {
            self.add_line(line);
        }
    }

    /// True if no line was that of a case.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// How many failed, at all places together.
    pub fn failed(&self) -> usize {
        self.verdicts().filter(|verdict| **verdict == Verdict::Failed).count()
    }

    /// The places.
    pub fn places(&self) -> &[String] {
        &self.places
    }

    /// The cases by name, each with its verdicts by place.
    pub fn cases(&self) -> impl Iterator<Item = (&str, &BTreeMap<String, Verdict>)> {
        self.cases.iter().map(|(name, verdicts)| (name.as_str(), verdicts))
    }

    /// Every verdict.
    pub fn verdicts(&self) -> impl Iterator<Item = &Verdict> {
        self.cases.values().flat_map(BTreeMap::values)
    }
}

/// `test [reason] PLACE::case ... ok`: place, case and verdict. The reason is there where a case
/// was left out.
fn read(line: &str) -> Option<(&str, &str, Verdict)> {
    let (head, ending) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let head = head.trim();
    let (reason, name) = match head.strip_prefix('[').and_then(|rest| rest.rsplit_once("] ")) {
        Some((reason, name)) => (Some(reason), name.trim()),
        None => (None, head),
    };
    let (place, case) = name.split_once("::")?;
    if case.contains(' ') {
        return None;
    }
    let verdict = match ending.trim() {
        "ok" => Verdict::Ok,
        "FAILED" => Verdict::Failed,
        "ignored" => Verdict::NotApplicable(reason.unwrap_or("left out").to_owned()),
        _ => return None,
    };
    Some((place, case, verdict))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(results: &Results, case: &str, place: &str) -> Option<Verdict> {
        let (_, verdicts) = results.cases().find(|(name, _)| *name == case)?;
        verdicts.get(place).cloned()
    }

    fn read_all(lines: &[&str]) -> Results {
        let mut results = Results::default();
        lines.iter().for_each(|line| results.add_line(line));
        results
    }

    #[test]
    fn lines_of_cases_are_read_with_their_padding_and_reasons() {
        let results = read_all(&[
            "running 4 tests",
            "test                            native::ends::exit_code     ... ok",
            "test                            docker::ends::exit_code     ... FAILED",
            "test [nothing is isolated here] local::network::no_way_out  ... ignored",
            "test native::network::no_way_out ... ok",
        ]);
        assert_eq!(results.places(), ["native", "docker", "local"]);
        assert_eq!(verdict(&results, "ends::exit_code", "native"), Some(Verdict::Ok));
        assert_eq!(verdict(&results, "ends::exit_code", "docker"), Some(Verdict::Failed));
        assert_eq!(verdict(&results, "ends::exit_code", "local"), None);
        assert_eq!(
            verdict(&results, "network::no_way_out", "local"),
            Some(Verdict::NotApplicable("nothing is isolated here".into()))
        );
        assert_eq!(results.failed(), 1);
    }

    #[test]
    fn other_lines_are_not_cases() {
        let results = read_all(&[
            "",
            "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out",
            "test native::ends::exit_code ... ",
            "test native::ends::exit_code ... perhaps",
            "test without_a_place ... ok",
            "test native::a case with blanks ... ok",
            "---- native::ends::exit_code ----",
        ]);
        assert!(results.is_empty());
    }

    #[test]
    fn other_tests_are_not_cases() {
        let mut results = Results::default();
        for line in [
            "test plan::tests::a_plan_is_made ... ok",
            "test native_as_user::ends::timeout ... ok",
            "test docker::ends::timeout ... ok",
        ] {
            results.add_line_among_others(line);
        }
        assert_eq!(results.places(), ["native_as_user", "docker"]);
    }
}
