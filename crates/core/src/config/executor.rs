//! What carries out a run, as it is named in the configuration.

use std::{fmt, str::FromStr};

use super::{Kind, ValueError, words::words, written::Scalar};
use crate::policy::ProfileName;

words! {
    /// Something that carries out runs.
    ExecutorName {
        /// Linux's own isolation.
        Native = "native",
        /// Containers of Docker.
        Docker = "docker",
        /// Containers of Podman.
        Podman = "podman",
        /// No isolation at all.
        Local = "local",
    }
}

/// What a person asks for: one executor, or the first that works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExecutorType {
    /// The first of `executor.order` that works here.
    Auto,
    /// This one and no other.
    Named(ExecutorName),
}

impl ExecutorType {
    /// The word for [`ExecutorType::Auto`].
    const AUTO: &'static str = "auto";
    /// Every word.
    pub const WORDS: &'static [&'static str] = &["auto", "native", "docker", "podman", "local"];
}

impl From<ExecutorName> for ExecutorType {
    fn from(name: ExecutorName) -> ExecutorType {
        ExecutorType::Named(name)
    }
}

impl fmt::Display for ExecutorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExecutorType::Auto => f.write_str(ExecutorType::AUTO),
            ExecutorType::Named(name) => name.fmt(f),
        }
    }
}

impl FromStr for ExecutorType {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<ExecutorType, ValueError> {
        match given {
            ExecutorType::AUTO => Ok(ExecutorType::Auto),
            _ => given.parse().map(ExecutorType::Named).map_err(|_| ValueError::Word {
                given: given.to_owned(),
                words: ExecutorType::WORDS.to_vec(),
            }),
        }
    }
}

impl Scalar for ExecutorType {
    const KIND: Kind = Kind::Word(ExecutorType::WORDS);
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
        for word in ExecutorType::WORDS {
            assert_eq!(word.parse::<ExecutorType>().unwrap().to_string(), *word);
        }
        let named: Vec<&str> = ExecutorName::ALL.iter().map(|name| name.name()).collect();
        assert_eq!(ExecutorType::WORDS[1..], named, "all but auto name an executor");
    }

    #[test]
    fn every_profile_has_its_word() {
        let names: Vec<&str> = ProfileName::ALL.iter().map(|name| name.name()).collect();
        assert_eq!(names, PROFILES);
    }

    #[test]
    fn a_misspelt_word_is_answered_with_the_nearest() {
        let error = "dokcer".parse::<ExecutorType>().unwrap_err();
        assert_eq!(error.to_string(), "`dokcer` is not one of auto, native, docker, podman, local");
        assert_eq!(error.hint().unwrap(), "did you mean `docker`?");
        assert!("auto".parse::<ExecutorName>().is_err(), "auto runs nothing by itself");
    }
}
