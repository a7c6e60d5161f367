//! Versions of toolchains: numbers that compare as numbers.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The numbers of a version: `3.9` is less than `3.11`, and `3.11` is less than `3.11.7`.
///
/// ```
/// use fumehood_core::language::Version;
/// let version: Version = "v20.19.2".parse().unwrap();
/// assert!(version > "9.5".parse().unwrap());
/// assert!("stable".parse::<Version>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version(Vec<u32>);

/// A text that does not start with a number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a version: write numbers with dots, for example 3.9")]
pub struct VersionError(String);

impl Version {
    /// A version of at least one number.
    pub fn new(first: u32, rest: &[u32]) -> Version {
        Version([&[first], rest].concat())
    }

    /// Its numbers, at least one.
    pub fn numbers(&self) -> &[u32] {
        &self.0
    }
}

impl FromStr for Version {
    type Err = VersionError;

    /// Reads the numbers at the start, after an optional `v`; what follows them is ignored.
    fn from_str(text: &str) -> Result<Self, VersionError> {
        let digits = text.strip_prefix('v').unwrap_or(text);
        let end = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
        let numbers: Option<Vec<u32>> = digits[..end]
            .split('.')
            .filter(|number| !number.is_empty())
            .map(|number| number.parse().ok())
            .collect();
        match numbers {
            Some(numbers) if !numbers.is_empty() => Ok(Version(numbers)),
            _ => Err(VersionError(text.to_owned())),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, number) in self.0.iter().enumerate() {
            let dot = if index == 0 { "" } else { "." };
            write!(f, "{dot}{number}")?;
        }
        Ok(())
    }
}

impl TryFrom<String> for Version {
    type Error = VersionError;

    fn try_from(text: String) -> Result<Self, VersionError> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> String {
        version.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_as_numbers() {
        let version = |text: &str| text.parse::<Version>().unwrap();
        assert!(version("3.9") < version("3.11"));
        assert!(version("3.11.7") > version("3.11"));
        assert!(version("17.0.2-tem") > version("8.0.392-tem"));
        assert_eq!(version("v20.1.0-rc1").to_string(), "20.1.0");
        for text in ["", "stable", "v", ".", "99999999999"] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }
}
