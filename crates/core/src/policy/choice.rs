//! Values that are one of a few words, ordered from tight to loose.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{Access, WorkspaceMode};

/// One of a few words. The order of the type is the order of looseness.
pub(crate) trait Choice: Copy + Ord + 'static {
    /// Every choice, the tightest first.
    const ALL: &'static [Self];

    /// The word in files.
    fn word(self) -> &'static str;

    /// The choice with this word.
    fn of_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|choice| choice.word() == word)
    }
}

macro_rules! choices {
    ($(#[doc = $doc:literal] $name:ident { $(#[doc = $each:literal] $variant:ident = $word:literal,)* })*) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $(#[doc = $each] $variant,)* }

        impl Choice for $name {
            const ALL: &'static [Self] = &[$($name::$variant,)*];

            fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                let word = String::deserialize(deserializer)?;
                $name::of_word(&word)
                    .ok_or_else(|| D::Error::custom(format_args!("unknown choice `{word}`")))
            }
        }
    )*};
}

choices! {
    /// What a box may reach.
    NetMode {
        /// Nothing, not even itself.
        None = "none",
        /// Its own loopback.
        Localhost = "localhost",
        /// Its own loopback and the hosts of the list.
        Allow = "allow",
    }
    /// What becomes of the repository that the `.git` file of a worktree points to.
    GitAccess {
        /// It is not there.
        Off = "off",
        /// It can be read.
        ReadOnly = "ro",
        /// It can be changed.
        ReadWrite = "rw",
    }
    /// Which mounts may be added.
    MountLeave {
        /// None.
        None = "none",
        /// Those that can only be read.
        ReadOnly = "ro",
        /// All.
        ReadWrite = "rw",
    }
}

impl Choice for WorkspaceMode {
    const ALL: &'static [Self] =
        &[WorkspaceMode::ReadOnly, WorkspaceMode::Overlay, WorkspaceMode::ReadWrite];

    fn word(self) -> &'static str {
        self.name()
    }
}

impl MountLeave {
    /// The least leave that a mount needs.
    pub fn for_access(access: Access) -> MountLeave {
        match access {
            Access::ReadOnly => MountLeave::ReadOnly,
            Access::ReadWrite => MountLeave::ReadWrite,
        }
    }

    /// The loosest access that a mount with this leave has.
    pub fn access(self) -> Option<Access> {
        match self {
            MountLeave::None => None,
            MountLeave::ReadOnly => Some(Access::ReadOnly),
            MountLeave::ReadWrite => Some(Access::ReadWrite),
        }
    }
}

impl Choice for crate::Layer {
    const ALL: &'static [Self] = crate::Layer::ALL;

    fn word(self) -> &'static str {
        self.name()
    }
}
