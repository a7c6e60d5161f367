//! Patterns for environment variables: a name, a beginning such as `CI_*`, or `*`.

use std::{fmt, str::FromStr};

use serde::{Serialize, Serializer};

/// A pattern for the names of variables.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariablePattern {
    start: String,
    /// Whether more may follow.
    open: bool,
}

/// Why a text names no variable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VariableError {
    /// Nothing in it.
    #[error("the name is empty; write for example LANG or LC_*")]
    Empty,
    /// A star that is not at the end.
    #[error("`{given}` has a `*` inside; it can only stand at the end, as in LC_*")]
    Star {
        /// The text as given.
        given: String,
    },
    /// A character that no name has.
    #[error(
        "`{given}` is no name of a variable; write letters, digits and `_`, and no digit in front"
    )]
    Character {
        /// The text as given, made harmless.
        given: String,
    },
}

impl VariablePattern {
    /// `*`: every variable.
    pub fn any() -> VariablePattern {
        VariablePattern { start: String::new(), open: true }
    }

    /// Whether this variable is meant.
    pub fn matches(&self, name: &str) -> bool {
        if self.open { name.starts_with(&self.start) } else { name == self.start }
    }

    /// Whether it means everything that the other one means.
    pub fn covers(&self, other: &VariablePattern) -> bool {
        match (self.open, other.open) {
            (false, true) => false,
            _ => self.matches(&other.start),
        }
    }
}

/// A name, and nothing but a name.
pub fn variable_name(text: &str) -> Result<&str, VariableError> {
    if text.is_empty() {
        return Err(VariableError::Empty);
    }
    let sound = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !text.starts_with(|c: char| c.is_ascii_digit());
    match sound {
        true => Ok(text),
        false if text.contains('*') => Err(VariableError::Star { given: text.to_owned() }),
        false => Err(VariableError::Character { given: text.escape_debug().to_string() }),
    }
}

impl FromStr for VariablePattern {
    type Err = VariableError;

    fn from_str(text: &str) -> Result<VariablePattern, VariableError> {
        match text.strip_suffix('*') {
            Some("") => Ok(VariablePattern::any()),
            Some(start) => {
                Ok(VariablePattern { start: variable_name(start)?.to_owned(), open: true })
            }
            None => Ok(VariablePattern { start: variable_name(text)?.to_owned(), open: false }),
        }
    }
}

impl fmt::Display for VariablePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.start, if self.open { "*" } else { "" })
    }
}

impl Serialize for VariablePattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_beginnings() {
        let pattern = |text: &str| text.parse::<VariablePattern>().unwrap();
        assert!(pattern("LC_*").matches("LC_ALL") && pattern("LC_*").matches("LC_"));
        assert!(!pattern("LC_*").matches("LANG") && !pattern("LANG").matches("LANGUAGE"));
        assert!(pattern("*").matches("ANYTHING"));
        assert!(pattern("*").covers(&pattern("A*")) && pattern("A*").covers(&pattern("AB*")));
        assert!(pattern("A*").covers(&pattern("AB")) && pattern("A").covers(&pattern("A")));
        assert!(!pattern("A").covers(&pattern("A*")) && !pattern("AB*").covers(&pattern("A*")));
        for bad in ["", "A B", "1A", "A=b", "*A", "A*B", "**", "A\0"] {
            assert!(bad.parse::<VariablePattern>().is_err(), "{bad:?}");
        }
    }
}
