//! What carries out a run, as it is asked for and configured.

use std::{fmt, str::FromStr};

use super::{Kind, ValueError, words::words, written::Scalar};
use crate::{BackendName, UnknownBackend, policy::ProfileName};

/// What a person asks for: one backend, or the first that can serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BackendChoice {
    /// The first of `executor.order` that can serve the request.
    Auto,
    /// This one and no other.
    Named(BackendName),
}

impl BackendChoice {
    /// The word for [`BackendChoice::Auto`].
    const AUTO: &'static str = "auto";
    /// Every word.
    pub const WORDS: &'static [&'static str] = &["auto", "native", "docker", "podman", "local"];
    /// Every word but [`BackendChoice::Auto`].
    pub(crate) const NAMES: &'static [&'static str] = BackendChoice::WORDS.split_at(1).1;
}

impl From<BackendName> for BackendChoice {
    fn from(name: BackendName) -> BackendChoice {
        BackendChoice::Named(name)
    }
}

impl serde::Serialize for BackendChoice {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for BackendChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BackendChoice::Auto => f.write_str(BackendChoice::AUTO),
            BackendChoice::Named(name) => name.fmt(f),
        }
    }
}

impl FromStr for BackendChoice {
    type Err = UnknownBackend;

    fn from_str(given: &str) -> Result<BackendChoice, UnknownBackend> {
        match given {
            BackendChoice::AUTO => Ok(BackendChoice::Auto),
            _ => given.parse().map(BackendChoice::Named).map_err(|unknown: UnknownBackend| {
                UnknownBackend { words: BackendChoice::WORDS, ..unknown }
            }),
        }
    }
}

impl Scalar for BackendChoice {
    const KIND: Kind = Kind::Word(BackendChoice::WORDS);
}

impl Scalar for BackendName {
    const KIND: Kind = Kind::Word(BackendChoice::NAMES);
}

impl From<UnknownBackend> for ValueError {
    fn from(UnknownBackend { given, words }: UnknownBackend) -> ValueError {
        ValueError::Word { given, words: words.to_vec() }
    }
}

words! {
    /// What is done where no executor of the order works.
    Fallback {
        /// Nothing is run.
        None = "none",
        /// The program is run without isolation.
        Local = "local",
    }
}

/// The words for profiles, in their order.
const PROFILES: &[&str] = &["default", "strict", "build", "agent"];

impl FromStr for ProfileName {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<ProfileName, ValueError> {
        ProfileName::find(given)
            .map_err(|_| ValueError::Word { given: given.to_owned(), words: PROFILES.to_vec() })
    }
}

impl Scalar for ProfileName {
    const KIND: Kind = Kind::Word(PROFILES);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_and_shown() {
        for word in BackendChoice::WORDS {
            assert_eq!(word.parse::<BackendChoice>().unwrap().to_string(), *word);
        }
        let named: Vec<&str> = BackendName::ALL.iter().map(|name| name.name()).collect();
        assert_eq!(BackendChoice::WORDS[1..], named, "all but auto name an executor");
    }

    #[test]
    fn every_profile_has_its_word() {
        let names: Vec<&str> = ProfileName::ALL.iter().map(|name| name.name()).collect();
        assert_eq!(names, PROFILES);
    }

    #[test]
    fn a_misspelt_word_is_answered_with_the_nearest() {
        let error = ValueError::from("dokcer".parse::<BackendChoice>().unwrap_err());
        assert_eq!(error.to_string(), "`dokcer` is not one of auto, native, docker, podman, local");
        assert_eq!(error.hint().unwrap(), "did you mean `docker`?");
        assert!("auto".parse::<BackendName>().is_err(), "auto runs nothing by itself");
    }
}
