//! Which programs a language takes and how to recognize a usable installation of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{source::Pattern, version::Version};

/// The programs a language takes and where they may be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolchainSpec {
    /// The program that decides which installation is used; the others are looked for beside it
    /// first.
    pub main: String,
    /// Names as used in commands, each with the file names it may have, best first.
    pub programs: BTreeMap<String, Vec<String>>,
    /// Directories to look in after `PATH`. `~` is the home directory, `$NAME` a variable, `*`
    /// any name (newest version first).
    #[serde(default)]
    pub places: Vec<String>,
    /// A prefix outside the system directories is mounted only if it has one of these; `*` stands
    /// for any part of a name.
    #[serde(default)]
    pub markers: Vec<String>,
    /// A prefix with one of these is not an installation of its own.
    #[serde(default)]
    pub rejects: Vec<String>,
    /// How to learn the version.
    pub version: VersionSpec,
    /// The least version that works.
    #[serde(default)]
    pub minimum: Option<Version>,
    /// What to type to install it on Debian.
    pub install: String,
    /// Variables that every box with this toolchain gets; `{prefix}` is the installation.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

impl ToolchainSpec {
    /// Every program under its usual name, for boxes that look programs up in their own `PATH`.
    pub fn usual_programs(&self) -> BTreeMap<String, String> {
        let usual = |(name, candidates): (&String, &Vec<String>)| {
            (name.clone(), candidates.first().unwrap_or(name).clone())
        };
        self.programs.iter().map(usual).collect()
    }
}

/// How to learn the version of an installation: the ways are tried in the order of the fields,
/// and only the last one starts a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersionSpec {
    /// A file of the prefix.
    #[serde(default)]
    pub file: Option<String>,
    /// The version is group 1 in that file.
    #[serde(default)]
    pub file_pattern: Option<Pattern>,
    /// The version is group 1 in the prefix's own name.
    #[serde(default)]
    pub directory_pattern: Option<Pattern>,
    /// Arguments that make the main program print its version.
    pub arguments: Vec<String>,
    /// The version is group 1 in what it prints.
    pub pattern: Pattern,
}
