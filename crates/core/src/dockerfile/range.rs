//! Ranges of versions as `package.json` and Python projects write them, and the one release that
//! an image is chosen for.

use std::sync::LazyLock;

use regex_lite::{Captures, Regex};

use super::releases::{Releases, version};
use crate::language::Version;

/// A version with all its three numbers.
type Point = [u32; 3];

/// From a version up to but not including another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    low: Point,
    /// `None` for no end.
    high: Option<Point>,
    /// How many numbers of the lower end were written; 0 for no lower end.
    written: usize,
}

const EVERYTHING: Interval = Interval { low: [0; 3], high: None, written: 0 };

/// One of the sides of `||`.
#[derive(Debug)]
struct Alternative {
    allowed: Interval,
    excluded: Vec<Interval>,
}

/// The release to use for a range:
/// - a full version is used as it is;
/// - a range with an end leads to the newest release that lies in it;
/// - a range without an end leads to the release that is written, since that is the one somebody
///   tried, or to the oldest that is still of use.
///
/// `None` if the text is no range or holds nothing.
pub(super) fn choose(range: &str, releases: &Releases) -> Option<Version> {
    let alternatives: Option<Vec<Alternative>> = range.split("||").map(alternative).collect();
    let alternatives: Vec<Alternative> =
        alternatives?.into_iter().filter(|each| !is_empty(&each.allowed)).collect();

    let fits = |release: &[u32]| alternatives.iter().rev().find(|each| each.holds(release));
    let newest = releases.known.last()?;
    let open = fits(newest).filter(|each| {
        let end = whole(newest).high;
        each.allowed.high.is_none_or(|high| end.is_some_and(|end| high > end))
    });
    if let Some(open) = open {
        return Some(open_release(open, releases, |release| fits(release).is_some()));
    }
    if let Some(newest) = releases.known.iter().rev().find(|release| fits(release).is_some()) {
        return Some(version(newest));
    }
    let last = alternatives.last().filter(|last| last.allowed.written > 0)?;
    Some(narrow_release(&last.allowed, newest.len()))
}

/// The release for a range in which even the newest release lies.
fn open_release(open: &Alternative, releases: &Releases, fits: impl Fn(&[u32]) -> bool) -> Version {
    let Interval { low, written, .. } = open.allowed;
    if written == 0 {
        return releases.default_version();
    }
    let length = releases.default.len();
    let wanted = &low[..length];
    if wanted >= releases.oldest && fits(wanted) {
        return version(wanted);
    }
    let from = wanted.max(releases.oldest);
    let next = releases.known.iter().find(|release| **release >= from && fits(release));
    version(next.unwrap_or(&wanted))
}

/// The release for a range in which no known release lies whole: a part of one, or a future one.
fn narrow_release(allowed: &Interval, length: usize) -> Version {
    let covers = |length: usize| {
        let end = after(&allowed.low, length);
        allowed.high.is_none_or(|high| high >= end)
    };
    let numbers = (length..=3).find(|length| covers(*length)).unwrap_or(3);
    version(&allowed.low[..numbers])
}

impl Alternative {
    /// True if the newest version of a release lies in it.
    fn holds(&self, release: &[u32]) -> bool {
        let release = whole(release);
        let in_it = |interval: &Interval| {
            let starts = release.high.is_none_or(|end| interval.low < end);
            let ends = interval.high.is_none_or(|end| release.high.is_some_and(|high| end >= high));
            starts && ends
        };
        let all_of_it = |interval: &Interval| in_it(interval) && interval.low <= release.low;
        in_it(&self.allowed) && !self.excluded.iter().any(all_of_it)
    }
}

fn is_empty(interval: &Interval) -> bool {
    interval.high.is_some_and(|high| high <= interval.low)
}

/// Everything that begins with these numbers.
fn whole(numbers: &[u32]) -> Interval {
    let mut low = [0; 3];
    low[..numbers.len().min(3)].copy_from_slice(&numbers[..numbers.len().min(3)]);
    match numbers.len() {
        0 => EVERYTHING,
        written => Interval { low, high: Some(after(&low, written)), written },
    }
}

/// The first version after all that begin with the first `length` numbers of this one.
fn after(point: &Point, length: usize) -> Point {
    let mut end = [0; 3];
    let length = length.clamp(1, 3);
    end[..length].copy_from_slice(&point[..length]);
    end[length - 1] = end[length - 1].saturating_add(1);
    end
}

const COMPARISON: &str = r"(~=|===|==|!=|>=|<=|>|<|=|\^|~)?\s*v?(\d+|[xX*])(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?(?:[-+][0-9A-Za-z.+-]+)?";

static ONE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(COMPARISON).expect("a constant that the tests compile"));

fn alternative(text: &str) -> Option<Alternative> {
    let text = text.trim();
    let mut found = Alternative { allowed: EVERYTHING, excluded: Vec::new() };
    if let Some((low, high)) = text.split_once(" - ") {
        found.allow(comparison(&format!(">={low}"))?);
        found.allow(comparison(&format!("<={high}"))?);
        return Some(found);
    }
    let mut rest = 0;
    for captures in ONE.captures_iter(text) {
        let whole = captures.get(0)?;
        if !only_separators(&text[rest..whole.start()]) {
            return None;
        }
        rest = whole.end();
        match &captures.get(1).map(|sign| sign.as_str()) {
            Some("!=") => found.excluded.push(interval(&captures)),
            _ => found.allow(interval(&captures)),
        }
    }
    (rest > 0 && only_separators(&text[rest..])).then_some(found)
}

fn only_separators(text: &str) -> bool {
    text.chars().all(|c| c == ',' || c.is_whitespace())
}

fn comparison(text: &str) -> Option<Interval> {
    ONE.captures(text).map(|captures| interval(&captures))
}

impl Alternative {
    fn allow(&mut self, other: Interval) {
        let allowed = &mut self.allowed;
        if other.written > 0 && other.low >= allowed.low {
            allowed.low = other.low;
            allowed.written = other.written;
        }
        allowed.high = match (allowed.high, other.high) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
    }
}

/// What one comparison allows, or for `!=` what it excludes.
fn interval(captures: &Captures) -> Interval {
    let numbers: Vec<u32> = (2..=4)
        .filter_map(|group| captures.get(group))
        .map_while(|number| match number.as_str() {
            "x" | "X" | "*" => None,
            digits => Some(digits.parse().unwrap_or(u32::MAX)),
        })
        .collect();
    let same = whole(&numbers);
    let Interval { low, written, .. } = same;
    let up_to = |length: usize| Interval { high: Some(after(&low, length)), ..same };
    match captures.get(1).map_or("", |sign| sign.as_str()) {
        _ if written == 0 => EVERYTHING,
        ">=" => Interval { high: None, ..same },
        ">" => Interval { low: after(&low, written), high: None, written },
        "<" => Interval { high: Some(low), ..EVERYTHING },
        "<=" => Interval { high: same.high, ..EVERYTHING },
        "^" => up_to(1),
        "~" => up_to(written.min(2)),
        "~=" => up_to(written.saturating_sub(1)),
        _ => same,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        super::releases::{NODE, PYTHON},
        *,
    };

    fn chosen(range: &str, releases: &Releases) -> String {
        choose(range, releases).map_or("none".to_owned(), |version| version.to_string())
    }

    #[test]
    fn ranges_of_python() {
        for (range, expected) in [
            (">=3.9,<3.12", "3.11"),
            (">= 3.9, < 3.12", "3.11"),
            (">=3.12", "3.12"),
            (">=3.6", "3.10"),
            (">=3.8,<4.0", "3.10"),
            ("^3.11", "3.11"),
            ("~3.11", "3.11"),
            ("~=3.11", "3.11"),
            ("~=3.11.2", "3.11"),
            ("==3.11.*", "3.11"),
            ("==3.11.4", "3.11.4"),
            ("3.12", "3.12"),
            ("<=3.11", "3.11"),
            ("<3.13", "3.12"),
            (">3.11", "3.12"),
            (">=3.11,!=3.11.*", "3.12"),
            (">=3.9,<3.12,!=3.11.*", "3.10"),
            (">=3.9,!=3.9.1", "3.10"),
            (">=3.17", "3.17"),
            (">=3.11.2,<3.11.9", "3.11.2"),
            ("*", "3.13"),
            (">=3.12,<3.11", "none"),
            ("", "none"),
            ("latest", "none"),
            (">=3.9 or so", "none"),
        ] {
            assert_eq!(chosen(range, &PYTHON), expected, "{range}");
        }
    }

    #[test]
    fn ranges_of_node() {
        for (range, expected) in [
            ("^18.12 || >=20", "20"),
            (">=14", "20"),
            (">=20.11.0", "20"),
            (">=22", "22"),
            ("18", "18"),
            ("18.x", "18"),
            ("18.12.1", "18.12.1"),
            ("v18.12.1", "18.12.1"),
            ("^18.12", "18"),
            ("~18.12", "18.12"),
            (">=18 <18.15", "18.0"),
            (">=16 <19", "18"),
            (">=16.0.0 <=20", "20"),
            ("18 - 22", "22"),
            ("18.x || 20.x || 22.x", "22"),
            (">=18 <25", "24"),
            ("^24.1", "24"),
            ("^26.0.0", "26"),
            (">=26", "26"),
            ("<12", "none"),
            ("x", "24"),
        ] {
            assert_eq!(chosen(range, &NODE), expected, "{range}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(range in "[\\PC]{0,40}") {
            choose(&range, &PYTHON);
        }

        #[test]
        fn no_mix_of_comparisons_is_too_strange(range in "([<>=~^!|*., x0-9-]{0,4}[0-9]{0,12}){0,6}") {
            choose(&range, &NODE);
        }

        #[test]
        fn what_is_chosen_lies_in_the_range(low in 0u32..30, width in 1u32..12) {
            let high = low + width;
            let found = choose(&format!(">=3.{low},<3.{high}"), &PYTHON).unwrap();
            let [3, minor] = found.numbers() else { panic!("{found}") };
            prop_assert!((low..high).contains(minor), "{found}");
        }

        #[test]
        fn a_full_version_is_kept(major in 0u32..40, minor in 0u32..40, patch in 0u32..40) {
            let text = format!("{major}.{minor}.{patch}");
            prop_assert_eq!(choose(&text, &NODE).unwrap().to_string(), text);
        }
    }
}
