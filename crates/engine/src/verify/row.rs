//! One attack of the catalogue, as data.

use std::{fmt, future::Future, pin::Pin};

use super::{
    judge::{Rule, Seen},
    stage::{Stage, Trouble},
};
use crate::{Layer, Request};

/// What an attack aims at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// The kernel, and privileges.
    Kernel,
    /// What a box may use.
    Resources,
    /// Files of the host.
    Files,
    /// The network.
    Network,
    /// The supervisor, and its record.
    Supervisor,
}

impl Family {
    /// Every family, in the order of the catalogue.
    pub const ALL: &'static [Family] =
        &[Family::Kernel, Family::Resources, Family::Files, Family::Network, Family::Supervisor];

    /// The letter that the ids of its rows begin with.
    pub fn letter(self) -> char {
        match self {
            Family::Kernel => 'K',
            Family::Resources => 'R',
            Family::Files => 'F',
            Family::Network => 'N',
            Family::Supervisor => 'S',
        }
    }

    /// Its name, for people.
    pub fn title(self) -> &'static str {
        match self {
            Family::Kernel => "Kernel and privilege",
            Family::Resources => "Resources",
            Family::Files => "Files",
            Family::Network => "Network",
            Family::Supervisor => "Supervisor and record",
        }
    }
}

/// One attack.
pub struct Row {
    /// Its id, such as `K6`.
    pub id: &'static str,
    /// What is tried.
    pub attack: &'static str,
    /// What it must get.
    pub expected: &'static str,
    /// What stops it, in words.
    pub wall: &'static str,
    /// The layers of a box among that.
    pub layers: &'static [Layer],
    pub(super) trial: Trial,
    pub(super) rules: &'static [Rule],
    pub(super) twin: Twin,
    /// It looks at the machine as a whole, so nothing may run beside it.
    pub(super) alone: bool,
}

impl Row {
    /// What it aims at.
    pub fn family(&self) -> Family {
        let letter = self.id.chars().next();
        let found = Family::ALL.iter().find(|family| Some(family.letter()) == letter);
        found.copied().unwrap_or(Family::Supervisor)
    }
}

impl Row {
    /// The layers that must be held in full for it to mean anything.
    pub fn needs(&self) -> Vec<Layer> {
        self.rules.iter().filter_map(|rule| rule.needs).collect()
    }

    /// Whether it looks at the machine as a whole, so that nothing may run beside it.
    pub fn wants_quiet(&self) -> bool {
        self.alone
    }

    /// Whether it is made by a box, so that taking a layer away changes something.
    pub fn runs_inside(&self) -> bool {
        !self.layers.is_empty()
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Row").field("id", &self.id).field("attack", &self.attack).finish()
    }
}

/// A row, or a family, that is not in the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no attack `{given}`: name a family (K, R, F, N, S) or a row such as K6")]
pub struct UnknownRow {
    /// What was given.
    pub given: String,
}

/// Something that takes its time.
pub(super) type Pending<'a> = Pin<Box<dyn Future<Output = Result<Seen, Trouble>> + 'a>>;

/// Prepares what an attack needs, and gives the request for it.
pub(super) type Prepare = fn(&Stage<'_>) -> Result<Request, Trouble>;

/// Makes an attack from outside, and says what was seen.
pub(super) type Check = for<'a> fn(&'a Stage<'a>) -> Pending<'a>;

/// How an attack is made.
#[derive(Clone, Copy)]
pub(super) enum Trial {
    /// By the attack program in a box; it says itself what it got.
    Inside(Prepare),
    /// From outside, or by more than one box.
    Host(Check),
}

/// Where the same attack must get further.
#[derive(Clone, Copy)]
pub(super) enum Twin {
    /// In a box that lacks these layers.
    Without(&'static [Layer]),
    /// The same, but not in containers, where something else stands in the way.
    WithoutNatively(&'static [Layer], &'static str),
    /// Where nothing is isolated.
    NoBox,
    /// The same, where it takes root even then.
    NoBoxAsRoot,
    /// Where something else is weaker, in these words.
    Staged(&'static str, Trial),
    /// It is not shown, for this reason.
    Not(&'static str),
}

/// One attack: how it is made, what it may get, and its twin.
pub(super) const fn row(
    id: &'static str,
    attack: &'static str,
    expected: &'static str,
    wall: &'static str,
    layers: &'static [Layer],
    (trial, rules, twin): (Trial, &'static [Rule], Twin),
) -> Row {
    Row { id, attack, expected, wall, layers, trial, rules, twin, alone: false }
}

/// By the attack program in a box.
pub(super) const fn inside(prepare: Prepare) -> Trial {
    Trial::Inside(prepare)
}

/// From outside.
pub(super) const fn host(check: Check) -> Trial {
    Trial::Host(check)
}
