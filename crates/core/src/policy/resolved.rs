//! The policy that holds: every value there, every value with its origin.

use std::{collections::BTreeMap, path::PathBuf};

use super::{
    Amount, Ceiling, GitAccess, Glob, HostPattern, HostRule, LimitKey, LimitTable, NetLimits,
    NetMode, PolicyMount, Sourced, Tools, VariablePattern, choice::Choice as _, document::Texts,
    profile,
};
use crate::{
    Digest, Layer, LimitOverrides, Limits, WorkspaceMode, egress::Ipv4Network, source::Origin,
};

/// What is allowed, merged from all layers.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// The texts that the origins point into.
    pub(crate) texts: Texts,
    /// Files.
    pub fs: Fs,
    /// The network.
    pub net: Net,
    /// What a box may use.
    pub limits: LimitTable<Sourced<Amount>>,
    /// Variables.
    pub env: Env,
    /// Layers without which nothing may run.
    pub require: Vec<Sourced<Layer>>,
    /// The tools of an agent.
    pub tools: Tools,
    /// The record of runs.
    pub ledger: Ledger,
    /// How far a further layer may go. Nothing above is beyond it.
    pub ceiling: Ceiling,
}

/// Files.
#[derive(Clone, Debug, PartialEq)]
pub struct Fs {
    /// How the workspace is mounted.
    pub workspace: Sourced<WorkspaceMode>,
    /// Further mounts.
    pub mounts: Vec<Sourced<PolicyMount>>,
    /// A directory of dependencies.
    pub deps: Option<Sourced<PathBuf>>,
    /// A directory with what is to be tried.
    pub candidate: Option<Sourced<PathBuf>>,
    /// Data, by name.
    pub datasets: BTreeMap<String, Sourced<PathBuf>>,
    /// What cannot be seen.
    pub deny: Vec<Sourced<Glob>>,
    /// What cannot be changed.
    pub protect: Vec<Sourced<Glob>>,
    /// The repository of a worktree.
    pub git: Sourced<GitAccess>,
}

/// The network.
#[derive(Clone, Debug, PartialEq)]
pub struct Net {
    /// What can be reached.
    pub mode: Sourced<NetMode>,
    /// Hosts that can be reached; empty unless the mode is `allow`.
    pub allow: Vec<Sourced<HostRule>>,
    /// Hosts that cannot. They win.
    pub deny: Vec<Sourced<HostPattern>>,
    /// Whether names are answered.
    pub dns: Sourced<bool>,
    /// Where the addresses come from that stand for names inside the box.
    pub synthetic: Sourced<Ipv4Network>,
    /// How much may be used.
    pub limits: NetLimits,
}

/// Variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Env {
    /// Variables of the caller that may enter.
    pub pass: Vec<Sourced<VariablePattern>>,
    /// Variables with fixed values.
    pub set: BTreeMap<String, Sourced<String>>,
    /// Variables that never enter. They win.
    pub deny: Vec<Sourced<VariablePattern>>,
}

/// The record of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Ledger {
    /// Whether a run must be recorded.
    pub required: Sourced<bool>,
    /// Whether the record holds the code.
    pub record_code: Sourced<bool>,
    /// Whether the record holds the values of variables.
    pub record_env: Sourced<bool>,
}

impl Policy {
    /// What holds where nothing was said. The default profile is laid upon it and says everything.
    pub(super) fn unsaid() -> Policy {
        let origin = Origin::named(profile::DEFAULT_ORIGIN);
        let limits = Limits::default();
        let no = || Sourced::new(false, origin.clone());
        Policy {
            texts: Texts::default(),
            fs: Fs {
                workspace: Sourced::new(WorkspaceMode::ReadOnly, origin.clone()),
                mounts: Vec::new(),
                deps: None,
                candidate: None,
                datasets: BTreeMap::new(),
                deny: Vec::new(),
                protect: Vec::new(),
                git: Sourced::new(GitAccess::Off, origin.clone()),
            },
            net: Net {
                mode: Sourced::new(NetMode::None, origin.clone()),
                allow: Vec::new(),
                deny: Vec::new(),
                dns: no(),
                synthetic: Sourced::new(Ipv4Network::BENCHMARK, origin.clone()),
                limits: NetLimits::default(),
            },
            limits: LimitTable::with(|key| Sourced::new(key.of(&limits), origin.clone())),
            env: Env { pass: Vec::new(), set: BTreeMap::new(), deny: Vec::new() },
            require: Vec::new(),
            tools: Tools::default(),
            ledger: Ledger { required: no(), record_code: no(), record_env: no() },
            ceiling: Ceiling::unlimited(&origin),
        }
    }

    /// The limits, for a program that needs nothing special.
    pub fn limits(&self) -> Limits {
        self.limits.limits()
    }

    /// The limits for a program of a language that needs other ones. What the language needs takes
    /// the place of what only the default profile says, and never goes beyond a ceiling.
    pub fn limits_for(&self, language: &LimitOverrides) -> Limits {
        let mut limits = self.limits();
        for key in LimitKey::ALL {
            if let Some(wanted) = key.of_overrides(language)
                && profile::is_default(&self.limits[*key].origin)
            {
                key.put(wanted.min(self.ceiling.limits[key.ceiling()].value), &mut limits);
            }
        }
        limits
    }

    /// The pattern that hides this path, if one does. The path is relative to the workspace, or to
    /// the root of a mount.
    pub fn denies_path(&self, relative: &str) -> Option<&Sourced<Glob>> {
        self.fs.deny.iter().find(|glob| glob.value.covers(relative))
    }

    /// The pattern that keeps this path from being changed, if one does.
    pub fn protects_path(&self, relative: &str) -> Option<&Sourced<Glob>> {
        self.fs.protect.iter().find(|glob| glob.value.covers(relative))
    }

    /// The digest of what is allowed. Where it was said, and in which order, does not matter.
    pub fn digest(&self) -> Digest {
        // Built from strings, numbers and lists only, which always serialize.
        Digest::of(&serde_json::to_vec(&self.values()).unwrap_or_default())
    }
}
