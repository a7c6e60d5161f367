//! A point in time, written as RFC 3339 in UTC.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

/// A point in time, to the millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Moment(u64);

const DAY: u64 = 86_400_000;

impl Moment {
    /// The latest moment whose year has four digits.
    const LATEST: Moment = Moment(253_402_300_799_999);

    /// This many milliseconds after the beginning of 1970.
    pub fn from_unix_millis(millis: u64) -> Moment {
        Moment(millis.min(Moment::LATEST.0))
    }

    /// Milliseconds since the beginning of 1970.
    pub fn unix_millis(self) -> u64 {
        self.0
    }

    /// The moment that was this long before.
    #[must_use]
    pub fn before(self, span: Duration) -> Moment {
        Moment(self.0.saturating_sub(u64::try_from(span.as_millis()).unwrap_or(u64::MAX)))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date_of(self.0 / DAY);
        let millis = self.0 % DAY;
        let (hour, minute) = (millis / 3_600_000, millis / 60_000 % 60);
        let (second, rest) = (millis / 1000 % 60, millis % 1000);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{rest:03}Z")
    }
}

/// A text that is not a point in time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is not a date or time since 1970: write for example 2026-11-01 or 2026-11-01T08:30:00Z"
)]
pub struct NotAMoment {
    given: String,
}

impl FromStr for Moment {
    type Err = NotAMoment;

    /// Reads RFC 3339, and a date alone, which is its beginning in UTC.
    fn from_str(given: &str) -> Result<Moment, NotAMoment> {
        read(given).ok_or_else(|| NotAMoment { given: given.chars().take(80).collect() })
    }
}

fn read(text: &str) -> Option<Moment> {
    let (date, time) = match text.get(..10) {
        Some(date) if text.len() > 10 => (date, &text[10..]),
        _ => (text, "T00:00:00Z"),
    };
    let [year, month, day] = numbers(date, b'-', [4, 2, 2])?;
    let days = days_until(year, month, day)?;
    let time = time.strip_prefix(['T', 't', ' '])?;
    let (clock, rest) = time.split_at_checked(8)?;
    let [hour, minute, second] = numbers(clock, b':', [2, 2, 2])?;
    // A leap second is the same as the one after it.
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (millis, zone) = fraction(rest)?;
    let clock = (hour * 3600 + minute * 60 + second) * 1000 + millis;
    let local = i64::try_from(days * DAY + clock).ok()?;
    let utc = u64::try_from(local - offset_millis(zone)?).ok()?;
    (utc <= Moment::LATEST.0).then_some(Moment(utc))
}

/// Three numbers of fixed widths with a separator between them.
fn numbers(text: &str, separator: u8, widths: [usize; 3]) -> Option<[u64; 3]> {
    let mut parts = text.split(char::from(separator));
    let mut found = [0; 3];
    for (number, width) in found.iter_mut().zip(widths) {
        let part = parts.next()?;
        if part.len() != width || !part.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(found)
}

/// Milliseconds behind the point, if there is one, and what follows.
fn fraction(rest: &str) -> Option<(u64, &str)> {
    let Some(digits) = rest.strip_prefix('.') else { return Some((0, rest)) };
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    if end == 0 {
        return None;
    }
    let (digits, zone) = digits.split_at(end);
    let millis: String = digits.chars().chain("000".chars()).take(3).collect();
    Some((millis.parse().ok()?, zone))
}

/// How far a zone is ahead of UTC.
fn offset_millis(zone: &str) -> Option<i64> {
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    let (sign, clock) = match zone.split_at_checked(1)? {
        ("+", clock) => (1, clock),
        ("-", clock) => (-1, clock),
        _ => return None,
    };
    let [hours, minutes, _] = numbers(&format!("{clock}:00"), b':', [2, 2, 2])?;
    let minutes = i64::try_from(hours * 60 + minutes).ok()?;
    (hours < 24 && minutes % 60 < 60).then_some(sign * minutes * 60_000)
}

/// The date that is this many days after the beginning of 1970. Counts in eras of 400 years, each
/// beginning with the first of March, so that the leap day is the last day of a year.
fn date_of(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// The days from the beginning of 1970 to a date that exists.
fn days_until(year: u64, month: u64, day: u64) -> Option<u64> {
    if year < 1970 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let from_march = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, year_of_era) = (from_march.0 / 400, from_march.0 % 400);
    let day_of_year = (153 * from_march.1 + 2) / 5 + day - 1;
    let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100
        + day_of_year
        - 719_468;
    // The thirty-first of June is the first of July: not the date that was given.
    (date_of(days) == (year, month, day)).then_some(days)
}

impl TryFrom<String> for Moment {
    type Error = NotAMoment;

    fn try_from(text: String) -> Result<Moment, NotAMoment> {
        text.parse()
    }
}

impl From<Moment> for String {
    fn from(moment: Moment) -> String {
        moment.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_moments() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_794_724_230_007, "2026-11-15T06:30:30.007Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (u64::MAX, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Moment::from_unix_millis(millis).to_string(), text);
        }
        let noon = "2026-11-01T12:00:00Z".parse::<Moment>();
        for same in ["2026-11-01T14:30:00+02:30", "2026-11-01 07:00:00.0009-05:00"] {
            assert_eq!(same.parse::<Moment>(), noon, "{same}");
        }
        assert_eq!("2026-11-01".parse::<Moment>(), "2026-11-01T00:00:00Z".parse());
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in [
            "",
            "yesterday",
            "2026-02-29",
            "2026-06-31",
            "2026-13-01",
            "1969-12-31",
            "2026-11-01T",
            "2026-11-01T24:00:00Z",
            "2026-11-01T12:00:00",
            "2026-11-01T12:00:00.Z",
            "2026-11-01T12:00:00+25:00",
            "2026-11-01é12:00:00Z",
            "+026-11-01",
        ] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_can_be_read_back(millis in 0..=Moment::LATEST.0) {
            prop_assert_eq!(Moment(millis).to_string().parse(), Ok(Moment(millis)));
        }

        #[test]
        fn nothing_makes_it_panic(text in "\\PC{0,40}") {
            let _ = text.parse::<Moment>();
        }
    }
}
