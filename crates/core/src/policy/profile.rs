//! The profiles that come with fumehood. They are policies like any other, in `profiles/`.

use std::{fmt, path::Path, sync::OnceLock};

use super::{Document, Policy, Rank, choice::Choice, merge::stack};
use crate::{nearest, source::Origin};

/// A profile that comes with fumehood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProfileName {
    /// No network, a workspace that can be written, protected paths.
    Default,
    /// A workspace that can only be read, secrets hidden, low ceilings.
    Strict,
    /// Room for compilers; package sources as far as they are named.
    Build,
    /// For coding agents: changes go beside the worktree, secrets are hidden.
    Agent,
}

/// A name that no profile has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no profile `{given}`; the profiles are default, strict, build, agent{}", hint(.given))]
pub struct UnknownProfile {
    given: String,
}

fn hint(given: &str) -> String {
    match nearest(given, ProfileName::ALL.iter().map(|name| name.word())).first() {
        Some(near) => format!(" (did you mean `{near}`?)"),
        None => String::new(),
    }
}

impl Choice for ProfileName {
    const ALL: &'static [Self] =
        &[ProfileName::Default, ProfileName::Strict, ProfileName::Build, ProfileName::Agent];

    fn word(self) -> &'static str {
        match self {
            ProfileName::Default => "default",
            ProfileName::Strict => "strict",
            ProfileName::Build => "build",
            ProfileName::Agent => "agent",
        }
    }
}

const BUILT_IN: &str = "built-in profile ";
pub(super) const DEFAULT_ORIGIN: &str = "built-in profile default";

impl ProfileName {
    /// Every profile.
    pub const ALL: &'static [ProfileName] = <ProfileName as Choice>::ALL;

    /// The profile with this name.
    pub fn find(given: &str) -> Result<ProfileName, UnknownProfile> {
        ProfileName::of_word(given).ok_or_else(|| UnknownProfile { given: given.to_owned() })
    }

    /// The name in files.
    pub fn name(self) -> &'static str {
        self.word()
    }

    /// Its text.
    pub fn text(self) -> &'static str {
        match self {
            ProfileName::Default => include_str!("../../../../profiles/default.yaml"),
            ProfileName::Strict => include_str!("../../../../profiles/strict.yaml"),
            ProfileName::Build => include_str!("../../../../profiles/build.yaml"),
            ProfileName::Agent => include_str!("../../../../profiles/agent.yaml"),
        }
    }

    /// What it says. Read once.
    pub fn document(self) -> &'static Document {
        static READ: [OnceLock<Document>; 4] = [const { OnceLock::new() }; 4];
        READ[self as usize].get_or_init(|| {
            let name = match self {
                ProfileName::Default => DEFAULT_ORIGIN.to_owned(),
                other => format!("{BUILT_IN}{}", other.name()),
            };
            Document::read(&name, self.text(), Path::new("/"))
                .expect("the file is part of the program, and a test reads every one of them")
        })
    }
}

impl fmt::Display for ProfileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether the default profile said this: nobody decided it.
pub(super) fn is_default(origin: &Origin) -> bool {
    &*origin.name == DEFAULT_ORIGIN
}

/// Whether any profile that comes with fumehood said this.
pub(super) fn is_built_in(origin: &Origin) -> bool {
    origin.name.starts_with(BUILT_IN)
}

/// What lies under all layers: the default profile. Merged once.
pub(super) fn bottom() -> &'static Policy {
    static MERGED: OnceLock<Policy> = OnceLock::new();
    MERGED.get_or_init(|| {
        stack(Policy::unsaid(), Rank::BuiltIn, &[ProfileName::Default.document()])
            .expect("a test merges the default profile")
    })
}
