//! Why the text of a value is not one.

use crate::{LimitError, language::UnknownLanguage, nearest};

/// Why a value could not be read. What to do about it is in the message or in its hint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// It is none of the words that can stand here.
    #[error("`{given}` is not one of {}", words.join(", "))]
    Word {
        /// The text as given.
        given: String,
        /// The words that are known.
        words: Vec<&'static str>,
    },
    /// It is not the size, time or number that it should be.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// It is not a number of things.
    #[error("`{given}` is not a number from 1 to 4294967295: write for example 100")]
    Count {
        /// The text as given.
        given: String,
    },
    /// It is neither true nor false.
    #[error("`{given}` is neither true nor false: write one of the two")]
    Flag {
        /// The text as given.
        given: String,
    },
    /// The language is not known.
    #[error(transparent)]
    Language(#[from] UnknownLanguage),
    /// It does not look like what it should be.
    #[error("`{given}` is not {what}: {reason}; write for example {example}")]
    Form {
        /// The text as given.
        given: String,
        /// What it should be.
        what: &'static str,
        /// What is wrong.
        reason: &'static str,
        /// A value that works.
        example: &'static str,
    },
    /// A network of the engine was asked for.
    #[error("a box never has a network of its engine, and `{given}` asks for one")]
    EngineNetwork {
        /// The text as given.
        given: String,
    },
    /// A map in a variable is not made of pairs.
    #[error("`{given}` is not NAME=VALUE: separate names and values with `=`, pairs with commas")]
    Pair {
        /// The text as given.
        given: String,
    },
    /// A name is there twice, perhaps under two spellings.
    #[error("`{name}` is there twice: keep one of them")]
    Twice {
        /// The name.
        name: String,
    },
}

impl ValueError {
    /// What to do about it, where the message does not already say so.
    pub fn hint(&self) -> Option<String> {
        match self {
            ValueError::Word { given, words } => nearest(given, words.iter().copied())
                .first()
                .map(|near| format!("did you mean `{near}`?")),
            ValueError::EngineNetwork { .. } => Some(
                "write `none`; what a program may reach is said by the policy, in `network`".into(),
            ),
            _ => None,
        }
    }
}
