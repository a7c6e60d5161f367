//! Problems with values that may come from different files: each is shown in its own.

use super::document::Texts;
use crate::source::{Origin, Problem};

impl Texts {
    /// A problem with a value, shown where the value stands.
    pub(crate) fn problem(
        &self,
        origin: &Origin,
        message: impl Into<String>,
        label: &str,
    ) -> Problem {
        match self.find(origin) {
            Some((name, text, place)) => Problem::new(name, text, place, message, label),
            None => Problem::of(origin.clone(), message),
        }
    }

    /// The same problem with a second place.
    pub(crate) fn also(&self, problem: Problem, origin: &Origin, label: &str) -> Problem {
        match self.find(origin) {
            Some((name, text, place)) => problem.and_at(name, text, place, label),
            None => problem.and_of(origin.clone()),
        }
    }
}
