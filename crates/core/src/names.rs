//! Names that become directory names: of volumes and of data sets.

use std::{fmt, path::PathBuf, str::FromStr};

/// The longest name there may be.
const LONGEST: usize = 64;

/// Why a text is not a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing at all.
    #[error("the name of {what} is empty: write letters and digits, for example `{example}`")]
    Empty {
        /// What the name is for.
        what: &'static str,
        /// One that would be right.
        example: &'static str,
    },
    /// Longer than a name may be.
    #[error("the name of {what} has {length} characters and may have 64: choose a shorter one")]
    TooLong {
        /// What the name is for.
        what: &'static str,
        /// How long it is.
        length: usize,
    },
    /// Begins with something else than a letter or digit.
    #[error("`{}` cannot be the name of {what}: it must begin with a letter or a digit", crate::escape_controls(.given))]
    Start {
        /// What the name is for.
        what: &'static str,
        /// The text as given.
        given: String,
    },
    /// Holds a character that is not allowed.
    #[error("`{}` cannot be the name of {what}: use only letters, digits, `.`, `_` and `-`", crate::escape_controls(.given))]
    Character {
        /// What the name is for.
        what: &'static str,
        /// The text as given.
        given: String,
    },
}

fn check(given: &str, what: &'static str, example: &'static str) -> Result<String, NameError> {
    let Some(first) = given.chars().next() else {
        return Err(NameError::Empty { what, example });
    };
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if given.len() > LONGEST {
        return Err(NameError::TooLong { what, length: given.chars().count() });
    }
    if !given.chars().all(allowed) {
        return Err(NameError::Character { what, given: given.to_owned() });
    }
    if !first.is_ascii_alphanumeric() {
        return Err(NameError::Start { what, given: given.to_owned() });
    }
    Ok(given.to_owned())
}

/// The name of a volume: letters, digits, `.`, `_` and `-`, at most 64, the first one a letter or
/// a digit.
///
/// ```
/// use fumehood_core::VolumeName;
/// assert!("cargo-cache".parse::<VolumeName>().is_ok());
/// assert!("../elsewhere".parse::<VolumeName>().is_err());
/// ```
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct VolumeName(String);

/// The name of a data set, under the same rules as that of a volume.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DatasetName(String);

impl VolumeName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl DatasetName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for VolumeName {
    type Err = NameError;

    fn from_str(given: &str) -> Result<Self, NameError> {
        check(given, "a volume", "cache").map(VolumeName)
    }
}

impl FromStr for DatasetName {
    type Err = NameError;

    fn from_str(given: &str) -> Result<Self, NameError> {
        check(given, "a data set", "iris").map(DatasetName)
    }
}

impl TryFrom<String> for VolumeName {
    type Error = NameError;

    fn try_from(given: String) -> Result<Self, NameError> {
        given.parse()
    }
}

impl From<VolumeName> for String {
    fn from(name: VolumeName) -> String {
        name.0
    }
}

impl fmt::Display for VolumeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for DatasetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A named volume and its place in the box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeMount {
    /// The volume; made when it is first used.
    pub name: VolumeName,
    /// The path inside the box.
    pub target: PathBuf,
}

/// A data set: a file or directory that appears read-only below `/datasets`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataset {
    /// Its name below `/datasets`.
    pub name: DatasetName,
    /// Where it is on the host.
    pub path: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(given: &str) -> NameError {
        given.parse::<VolumeName>().expect_err(given)
    }

    #[test]
    fn plain_names_are_right() {
        for good in ["a", "9", "cargo-cache", "A.b_c-9", &"x".repeat(64)] {
            assert_eq!(good.parse::<VolumeName>().unwrap().as_str(), good);
            assert_eq!(good.parse::<DatasetName>().unwrap().as_str(), good);
        }
    }

    #[test]
    fn whatever_could_lead_elsewhere_is_refused() {
        assert!(matches!(error(""), NameError::Empty { .. }));
        assert!(matches!(error(&"x".repeat(65)), NameError::TooLong { length: 65, .. }));
        for start in [".", "..", ".hidden", "-flag", "_x"] {
            assert!(matches!(error(start), NameError::Start { .. }), "{start}");
        }
        for character in ["a/b", "../a", "a b", "a\0b", "a\nb", "é", "a:b", "/"] {
            assert!(matches!(error(character), NameError::Character { .. }), "{character}");
        }
    }

    #[test]
    fn the_message_says_what_is_allowed() {
        assert_eq!(
            error("a/\x1bb").to_string(),
            "`a/\\eb` cannot be the name of a volume: use only letters, digits, `.`, `_` and `-`"
        );
        assert_eq!(
            "".parse::<DatasetName>().unwrap_err().to_string(),
            "the name of a data set is empty: write letters and digits, for example `iris`"
        );
    }
}
