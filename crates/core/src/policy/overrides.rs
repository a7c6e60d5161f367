//! What a request asks for beside its program, as the topmost layer of the policy.

use std::{collections::BTreeMap, path::PathBuf};

use super::{
    Document, GitAccess, Glob, HostPattern, HostRule, LimitKey, NetMode, PolicyMount, Sourced,
    VariablePattern,
    choice::Choice as _,
    document::{EnvSection, FsSection, LedgerSection, NetSection},
    limit::LimitTable,
};
use crate::{
    Layer, LimitOverrides, WorkspaceMode,
    source::{Origin, Problem},
};

/// Typed values of a request. What is absent is not asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// How the caller speaks, so that messages name what was said.
    pub spoken: Spoken,
    /// Limits.
    pub limits: LimitOverrides,
    /// How the workspace is mounted.
    pub workspace: Option<WorkspaceMode>,
    /// Further mounts.
    pub mounts: Vec<PolicyMount>,
    /// A directory of dependencies.
    pub deps: Option<PathBuf>,
    /// A directory with what is to be tried.
    pub candidate: Option<PathBuf>,
    /// Data, by name.
    pub datasets: BTreeMap<String, PathBuf>,
    /// What becomes of the repository of a worktree.
    pub git: Option<GitAccess>,
    /// What cannot be seen.
    pub deny: Vec<Glob>,
    /// What cannot be changed.
    pub protect: Vec<Glob>,
    /// What can be reached.
    pub network: Option<NetMode>,
    /// Hosts that can be reached.
    pub allow: Vec<HostPattern>,
    /// Hosts that cannot.
    pub deny_hosts: Vec<HostPattern>,
    /// Whether names are answered.
    pub dns: Option<bool>,
    /// Variables of the caller that enter.
    pub pass: Vec<VariablePattern>,
    /// Variables with fixed values.
    pub env: BTreeMap<String, String>,
    /// Layers without which nothing may run.
    pub require: Vec<Layer>,
    /// Whether the run must be recorded.
    pub ledger_required: Option<bool>,
    /// A whole policy beside these values. Both must have leave for what they ask.
    pub further: Option<PolicyText>,
}

/// A policy as text that is in no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyText {
    /// What it is called in messages.
    pub name: String,
    /// The text.
    pub text: String,
}

/// How a caller speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spoken {
    /// With flags: `--memory`.
    #[default]
    Flags,
    /// With fields of an object: `request.memory`.
    Fields,
}

impl Spoken {
    /// Where a value was said, under the name that the caller used.
    fn origin(self, flag: &str) -> Origin {
        match self {
            Spoken::Flags => Origin::named(format!("--{flag}")),
            Spoken::Fields => Origin::named(format!("request.{}", flag.replace('-', "_"))),
        }
    }
}

impl LimitKey {
    /// The flag of the command line.
    fn flag(self) -> &'static str {
        match self {
            LimitKey::Output => "output-limit",
            LimitKey::OpenFiles => "open-files",
            LimitKey::FileSize => "file-size",
            other => other.word(),
        }
    }
}

impl Document {
    /// The document of a request. What contradicts itself is a problem that names the flags.
    pub fn from_overrides(overrides: Overrides) -> Result<Document, Problem> {
        let spoken = overrides.spoken;
        let limits = LimitTable::with(|key| {
            let amount = key.of_overrides(&overrides.limits)?;
            Some(Sourced::new(amount, spoken.origin(key.flag())))
        });
        let implied = (!overrides.allow.is_empty()).then_some(NetMode::Allow);
        let mode = sourced(overrides.network, spoken, "network");
        let mode = mode.or_else(|| sourced(implied, spoken, "allow"));
        let document = Document {
            fs: FsSection {
                workspace: sourced(overrides.workspace, spoken, "workspace"),
                mounts: all(overrides.mounts, spoken, "mount"),
                deps: sourced(overrides.deps, spoken, "deps"),
                candidate: sourced(overrides.candidate, spoken, "candidate"),
                datasets: named(overrides.datasets, spoken, "dataset"),
                deny: all(overrides.deny, spoken, "deny"),
                protect: all(overrides.protect, spoken, "protect"),
                git: sourced(overrides.git, spoken, "git"),
            },
            net: NetSection {
                mode,
                allow: all(overrides.allow.into_iter().map(HostRule::from), spoken, "allow"),
                deny: all(overrides.deny_hosts, spoken, "deny-host"),
                dns: sourced(overrides.dns, spoken, "allow-dns"),
                ..NetSection::default()
            },
            limits,
            env: EnvSection {
                pass: all(overrides.pass, spoken, "env"),
                set: named(overrides.env, spoken, "env"),
                deny: Vec::new(),
            },
            require: all(overrides.require, spoken, "require"),
            ledger: LedgerSection {
                required: sourced(overrides.ledger_required, spoken, "ledger"),
                ..LedgerSection::default()
            },
            ..Document::default()
        };
        document.checked()
    }
}

impl Document {
    /// Limits as the configuration has them.
    pub fn of_limits(limits: &LimitOverrides) -> Document {
        let limits = LimitTable::with(|key| {
            let amount = key.of_overrides(limits)?;
            let origin = Origin::named(format!("configuration limits.{}", key.word()));
            Some(Sourced::new(amount, origin))
        });
        Document { limits, ..Document::default() }
    }
}

fn sourced<T>(value: Option<T>, spoken: Spoken, flag: &str) -> Option<Sourced<T>> {
    value.map(|value| Sourced::new(value, spoken.origin(flag)))
}

fn all<T>(values: impl IntoIterator<Item = T>, spoken: Spoken, flag: &str) -> Vec<Sourced<T>> {
    values.into_iter().map(|value| Sourced::new(value, spoken.origin(flag))).collect()
}

fn named<T>(
    values: BTreeMap<String, T>,
    spoken: Spoken,
    flag: &str,
) -> BTreeMap<String, Sourced<T>> {
    let origin = |name: &str| Origin::named(format!("{} {name}", spoken.origin(flag).name));
    values
        .into_iter()
        .map(|(name, value)| {
            let origin = origin(&name);
            (name, Sourced::new(value, origin))
        })
        .collect()
}
