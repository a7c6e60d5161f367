//! What stands after `--since`, `--status`, `--violation`, `--tools` and `--plan`.

use std::time::Duration;

use fumehood::{
    Digest, Status, TimeSpan,
    ledger::{ChainHash, Moment, ViolationFilter, now},
};
use serde_json::Value;

use super::tools::ToolFilter;

/// Why a value cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// Neither a length of time nor a date.
    #[error(
        "`{given}` is not a time: write for example 2h, 3d, 2026-11-01 or 2026-11-01T08:30:00Z"
    )]
    Since {
        /// The text as given.
        given: String,
    },
    /// Not a digest.
    #[error("`{given}` is not a digest: give the 64 hexadecimal digits of `plan_digest`")]
    Digest {
        /// The text as given.
        given: String,
    },
    /// Not one of a few names.
    #[error("unknown {what} `{given}`; {known}")]
    Name {
        /// What it names.
        what: &'static str,
        /// The text as given.
        given: String,
        /// The names that are known.
        known: String,
    },
}

/// A date, a time, or how long ago.
pub fn since(given: &str) -> Result<Moment, ValueError> {
    since_from(given, now())
}

fn since_from(given: &str, now: Moment) -> Result<Moment, ValueError> {
    let ago = |span: Duration| now.before(span);
    let days = || given.strip_suffix('d')?.parse::<u32>().ok();
    if let Some(days) = days() {
        return Ok(ago(Duration::from_secs(u64::from(days) * 86_400)));
    }
    // A bare number would be seconds, and is more likely a year.
    if !given.ends_with(|c: char| c.is_ascii_digit())
        && let Ok(span) = given.parse::<TimeSpan>()
    {
        return Ok(ago(span.duration()));
    }
    given.parse().map_err(|_| ValueError::Since { given: given.to_owned() })
}

/// A status by its name in outcomes.
pub fn status(given: &str) -> Result<Status, ValueError> {
    by_name("status", given, serde_json::from_value)
}

/// A kind of violation by its name in outcomes, or `any`.
pub fn violation(given: &str) -> Result<ViolationFilter, ValueError> {
    match given {
        "any" => Ok(ViolationFilter::Any),
        name => by_name("violation", name, serde_json::from_value).map(ViolationFilter::Kind),
    }
}

/// A verdict about a tool by its name in the ledger, or `any`.
pub fn tools(given: &str) -> Result<ToolFilter, ValueError> {
    match given {
        "any" => Ok(ToolFilter::Any),
        name => by_name("verdict", name, serde_json::from_value).map(ToolFilter::Verdict),
    }
}

/// The digest of a plan.
pub fn plan(given: &str) -> Result<Digest, ValueError> {
    let refused = || ValueError::Digest { given: given.to_owned() };
    let hash: ChainHash = given.parse().map_err(|_| refused())?;
    serde_json::from_value(Value::String(hash.to_string())).map_err(|_| refused())
}

/// Reads a name as JSON does, so that every name in an outcome is one here.
fn by_name<T>(
    what: &'static str,
    given: &str,
    read: impl FnOnce(Value) -> Result<T, serde_json::Error>,
) -> Result<T, ValueError> {
    read(Value::String(given.to_owned())).map_err(|error| {
        let error = error.to_string();
        let known = error.split_once("expected ").map_or("see the guide", |(_, known)| known);
        ValueError::Name { what, given: given.to_owned(), known: known.replace('`', "") }
    })
}

#[cfg(test)]
mod tests {
    use fumehood::ViolationKind;

    use super::*;

    #[test]
    fn since_is_a_span_or_a_date() {
        let now: Moment = "2026-11-15T12:00:00Z".parse().unwrap();
        for (given, expected) in [
            ("2h", "2026-11-15T10:00:00.000Z"),
            ("90m", "2026-11-15T10:30:00.000Z"),
            ("3d", "2026-11-12T12:00:00.000Z"),
            ("2026-11-01", "2026-11-01T00:00:00.000Z"),
            ("2026-11-01T08:30:00+01:00", "2026-11-01T07:30:00.000Z"),
        ] {
            assert_eq!(since_from(given, now).unwrap().to_string(), expected, "{given}");
        }
        for given in ["", "2026", "yesterday", "-2h", "2026-02-30", "d"] {
            assert!(since_from(given, now).is_err(), "{given}");
        }
    }

    #[test]
    fn names_are_those_of_outcomes() {
        assert_eq!(status("output_limit"), Ok(Status::OutputLimit));
        assert_eq!(violation("any"), Ok(ViolationFilter::Any));
        assert_eq!(violation("memory"), Ok(ViolationFilter::Kind(ViolationKind::Memory)));
        let message = status("tiemout").unwrap_err().to_string();
        assert!(
            message.starts_with("unknown status `tiemout`; one of exited, signaled, timeout,"),
            "{message}"
        );
        let digest = "ab".repeat(32);
        assert_eq!(plan(&digest).unwrap().as_str(), digest);
        assert!(plan("abc").is_err());
    }
}
