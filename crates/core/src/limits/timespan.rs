//! A length of time.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

use super::{LimitError, split_number};

/// A length of time, to the millisecond. Reads `500ms`, `30s`, `5m`, `1h`; a bare number is seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeSpan(u64);

impl TimeSpan {
    /// This many milliseconds.
    pub const fn from_millis(millis: u64) -> TimeSpan {
        TimeSpan(millis)
    }

    /// This many seconds.
    pub const fn from_secs(secs: u32) -> TimeSpan {
        TimeSpan(secs as u64 * 1000)
    }

    /// The same as a standard duration.
    pub const fn duration(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

impl FromStr for TimeSpan {
    type Err = LimitError;

    fn from_str(given: &str) -> Result<Self, LimitError> {
        let (number, unit) = split_number(given, "a time", "30s")?;
        let factor = match unit {
            "ms" => 1.0,
            "" | "s" => 1_000.0,
            "m" | "min" => 60_000.0,
            "h" => 3_600_000.0,
            _ => {
                return Err(LimitError::UnknownUnit {
                    given: given.to_owned(),
                    unit: unit.to_owned(),
                    units: "ms, s, m (or min), h",
                });
            }
        };
        let millis = (number * factor).round();
        if millis < 1.0 {
            return Err(LimitError::TooSmall {
                given: given.to_owned(),
                what: "time",
                least: "1ms",
            });
        }
        if millis > 8_784.0 * 3_600_000.0 {
            return Err(LimitError::TooLarge {
                given: given.to_owned(),
                what: "time",
                most: "8784h (a year)",
            });
        }
        Ok(TimeSpan(millis as u64))
    }
}

impl fmt::Display for TimeSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ms if ms % 3_600_000 == 0 && ms > 0 => write!(f, "{}h", ms / 3_600_000),
            ms if ms % 60_000 == 0 && ms > 0 => write!(f, "{}m", ms / 60_000),
            ms if ms % 1_000 == 0 => write!(f, "{}s", ms / 1_000),
            ms => write!(f, "{ms}ms"),
        }
    }
}

impl TryFrom<String> for TimeSpan {
    type Error = LimitError;

    fn try_from(text: String) -> Result<Self, LimitError> {
        text.parse()
    }
}

impl From<TimeSpan> for String {
    fn from(span: TimeSpan) -> String {
        span.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_and_errors() {
        for (text, millis) in
            [("500ms", 500), ("30s", 30_000), ("5m", 300_000), ("1h", 3_600_000), ("1.5", 1_500)]
        {
            assert_eq!(text.parse::<TimeSpan>().map(|t| t.0), Ok(millis), "{text}");
        }
        for (text, message) in [
            ("-1s", "`-1s` is negative, and a time cannot be: write for example 30s"),
            ("0", "`0` is too small: the least time is 1ms"),
            ("3 days", "`3 days`: unknown unit `days`; the units are ms, s, m (or min), h"),
            ("9000h", "`9000h` is too large: the most time is 8784h (a year)"),
        ] {
            assert_eq!(text.parse::<TimeSpan>().unwrap_err().to_string(), message);
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_can_be_read_back(millis in 1u64..31_622_400_000) {
            prop_assert_eq!(TimeSpan(millis).to_string().parse(), Ok(TimeSpan(millis)));
        }
    }
}
