//! What became of an attack, for people and for programs.

use serde::Serialize;

use super::{Family, Row};
use crate::Layer;

/// What one attempt got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// Which attempt.
    pub label: String,
    /// What it got: the name of an error, or a word.
    pub answer: String,
}

impl Answer {
    pub(super) fn new(label: &str, answer: impl Into<String>) -> Answer {
        Answer { label: label.to_owned(), answer: answer.into() }
    }
}

/// Whether an attack was stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// Every attempt got what it must.
    Stopped,
    /// An attempt got something else.
    GotThrough,
    /// Nothing can be said. Never counted as stopped.
    NotRun {
        /// Why.
        reason: String,
        /// Whether it should have been possible: then something is broken.
        failed: bool,
    },
}

/// Whether the same attack got further where a layer was off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum TwinVerdict {
    /// It did: the refusal is that layer's doing.
    Shown,
    /// It did not.
    NotShown,
    /// Nothing can be said.
    NotRun {
        /// Why.
        reason: String,
    },
}

/// What became of the twin of an attack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TwinFinding {
    /// What was weaker, in words.
    pub weaker: String,
    /// Whether it was shown.
    #[serde(flatten)]
    pub verdict: TwinVerdict,
    /// What its attempts got.
    pub seen: Vec<Answer>,
}

/// What became of an attack.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The row's id.
    pub id: &'static str,
    /// What it aims at.
    pub family: Family,
    /// What was tried.
    pub attack: &'static str,
    /// What it must get.
    pub expected: &'static str,
    /// What stops it, in words.
    pub wall: &'static str,
    /// The layers of a box among that.
    pub layers: &'static [Layer],
    /// Whether it was stopped.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// What its attempts got.
    pub seen: Vec<Answer>,
    /// The same where a layer was off, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub twin: Option<TwinFinding>,
    /// How long it took.
    pub seconds: f64,
}

impl Finding {
    pub(super) fn new(row: &Row, verdict: Verdict, seen: Vec<Answer>) -> Finding {
        Finding {
            id: row.id,
            family: row.family(),
            attack: row.attack,
            expected: row.expected,
            wall: row.wall,
            layers: row.layers,
            verdict,
            seen,
            twin: None,
            seconds: 0.0,
        }
    }

    /// What its attempts got, each answer once, in the order in which they came.
    pub fn outcome(&self) -> String {
        let mut words: Vec<&str> = Vec::new();
        for Answer { answer, .. } in &self.seen {
            if !words.contains(&answer.as_str()) {
                words.push(answer);
            }
        }
        words.join(", ")
    }
}
