//! Names that end up in commands and boxes: of images, languages and variables.

use std::{fmt, path::Path, str::FromStr};

use serde_json::Value;

use super::{Kind, ValueError, written::Scalar};
use crate::language::Registry;

/// The most characters that a name may have; engines take fewer.
const MOST_CHARACTERS: usize = 512;

/// A text of one's own type, which exists only if its form is right.
macro_rules! name {
    ($(#[$about:meta])* $name:ident, $kind:expr) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl $crate::config::written::Scalar for $name {
            const KIND: $crate::config::Kind = $kind;
        }
    };
}

pub(super) use name;

name! {
    /// The name of a container image.
    ImageName,
    Kind::Text { what: "an image name", pattern: "^[A-Za-z0-9][A-Za-z0-9._/:@-]*$" }
}

impl FromStr for ImageName {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<ImageName, ValueError> {
        plain_name(given, "._/:@-").map(|()| ImageName(given.to_owned())).map_err(|reason| {
            let (what, example) = ("an image name", "python:3.12-slim");
            ValueError::Form { given: given.to_owned(), what, reason, example }
        })
    }
}

name! {
    /// The name of a language, whichever of its names was written.
    LanguageName,
    Kind::Text { what: "a language", pattern: "^[A-Za-z0-9+]+$" }
}

impl FromStr for LanguageName {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<LanguageName, ValueError> {
        let language = Registry::builtin().find(given)?;
        Ok(LanguageName(language.name.clone()))
    }
}

name! {
    /// The name of a variable.
    VariableName,
    Kind::Text { what: "a variable", pattern: "^[A-Za-z_][A-Za-z0-9_]*$" }
}

impl FromStr for VariableName {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<VariableName, ValueError> {
        let starts_well = given.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let letters = given.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if starts_well && letters {
            return Ok(VariableName(given.to_owned()));
        }
        Err(ValueError::Form {
            given: given.to_owned(),
            what: "the name of a variable",
            reason: "it is made of letters, digits and `_`, and does not begin with a digit",
            example: "LANG",
        })
    }
}

name! {
    /// An absolute path of the host.
    AbsolutePath,
    Kind::Text { what: "an absolute path", pattern: "^/|^[A-Za-z]:" }
}

impl FromStr for AbsolutePath {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<AbsolutePath, ValueError> {
        let what = "an absolute path";
        let reason = match Path::new(given) {
            path if !path.is_absolute() => "it does not begin at the root",
            _ if given.contains('\0') => "no path has a NUL in it",
            _ => return Ok(AbsolutePath(given.to_owned())),
        };
        let (given, example) = (given.replace('\0', "\u{fffd}"), "/var/lib/fumehood/ledger");
        Err(ValueError::Form { given, what, reason, example })
    }
}

/// The value of a variable: any text that a program can be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableValue(String);

impl VariableValue {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for VariableValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for VariableValue {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<VariableValue, ValueError> {
        if given.contains('\0') {
            return Err(ValueError::Form {
                given: given.replace('\0', "\u{fffd}"),
                what: "the value of a variable",
                reason: "no program can be given a NUL",
                example: "C.UTF-8",
            });
        }
        Ok(VariableValue(given.to_owned()))
    }
}

impl Scalar for VariableValue {
    const KIND: Kind = Kind::Text { what: "its value", pattern: "" };

    fn show(&self) -> Value {
        Value::String(self.0.clone())
    }
}

/// Says what is wrong with a name that is passed to an engine. One that begins with `-` would be
/// an option.
pub(super) fn plain_name(given: &str, besides: &str) -> Result<(), &'static str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || besides.contains(c);
    match given {
        "" => Err("it is empty"),
        _ if given.len() > MOST_CHARACTERS => Err("it is too long"),
        _ if !given.starts_with(|c: char| c.is_ascii_alphanumeric()) => {
            Err("it does not begin with a letter or digit")
        }
        _ if !given.chars().all(fits) => Err("it has a character that no name has"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_act_are_refused() {
        assert!("registry.example:5000/a/b@sha256:00".parse::<ImageName>().is_ok());
        for text in ["", "-v", "--privileged", "a b", "a;b", "a\nb", "../a", &"a".repeat(600)] {
            assert!(text.parse::<ImageName>().is_err(), "{text}");
        }
        for text in ["", "1A", "A-B", "A=B", "A B"] {
            assert!(text.parse::<VariableName>().is_err(), "{text}");
        }
        for text in ["", "ledger", "./ledger", "~/ledger", "/a\0b"] {
            assert!(text.parse::<AbsolutePath>().is_err(), "{text}");
        }
        assert!("a\0b".parse::<VariableValue>().is_err());
    }

    #[test]
    fn a_language_has_one_name() {
        assert_eq!("PY".parse::<LanguageName>().unwrap().as_str(), "python");
        assert!("pyhton".parse::<LanguageName>().unwrap_err().to_string().contains("`python`"));
    }
}
