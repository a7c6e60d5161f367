//! What one file says: every value optional, every value with its place.

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc};

use serde::Serialize;

use super::{
    GitAccess, Glob, HostLeave, HostPattern, HostRule, MountLeave, NetLimits, NetMode, ProfileName,
    ToolPattern, VariablePattern, limit::SaidLimits,
};
use crate::{
    Access, Layer, WorkspaceMode,
    egress::{Ipv4Network, TlsRule},
    source::{Origin, Place},
};

/// A value and where it came from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it was said.
    pub origin: Origin,
}

impl<T> Sourced<T> {
    /// A value from somewhere.
    pub fn new(value: T, origin: Origin) -> Sourced<T> {
        Sourced { value, origin }
    }

    /// The same place, another value.
    pub(crate) fn map<U>(&self, change: impl FnOnce(&T) -> U) -> Sourced<U> {
        Sourced { value: change(&self.value), origin: self.origin.clone() }
    }
}

/// A value that a file may say.
pub type Said<T> = Option<Sourced<T>>;

/// What one file, or the command line, says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// The texts that the origins of its values point into, by name.
    pub(crate) texts: Texts,
    /// The profile it builds on.
    pub extends: Said<ProfileName>,
    /// `fs`
    pub fs: FsSection,
    /// `net`
    pub net: NetSection,
    /// `proc`, and `fs.disk`
    pub limits: SaidLimits,
    /// `env`
    pub env: EnvSection,
    /// `require`
    pub require: Vec<Sourced<Layer>>,
    /// `tools`
    pub tools: ToolsSection,
    /// `ledger`
    pub ledger: LedgerSection,
    /// `ceiling`
    pub ceiling: CeilingSection,
}

/// Files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FsSection {
    /// How the workspace is mounted.
    pub workspace: Said<WorkspaceMode>,
    /// Further mounts.
    pub mounts: Vec<Sourced<PolicyMount>>,
    /// A directory of dependencies.
    pub deps: Said<PathBuf>,
    /// A directory with what is to be tried.
    pub candidate: Said<PathBuf>,
    /// Data, by name.
    pub datasets: BTreeMap<String, Sourced<PathBuf>>,
    /// What cannot be seen.
    pub deny: Vec<Sourced<Glob>>,
    /// What cannot be changed.
    pub protect: Vec<Sourced<Glob>>,
    /// The repository of a worktree.
    pub git: Said<GitAccess>,
}

/// The network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetSection {
    /// What can be reached. A file that lists hosts and says nothing else means `allow`.
    pub mode: Said<NetMode>,
    /// Hosts that can be reached.
    pub allow: Vec<Sourced<HostRule>>,
    /// Hosts that cannot.
    pub deny: Vec<Sourced<HostPattern>>,
    /// Whether names are answered.
    pub dns: Said<bool>,
    /// Where the addresses come from that stand for names inside the box.
    pub synthetic: Said<Ipv4Network>,
    /// How much may be used.
    pub limits: NetLimits,
}

/// Variables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnvSection {
    /// Variables of the caller that may enter.
    pub pass: Vec<Sourced<VariablePattern>>,
    /// Variables with fixed values.
    pub set: BTreeMap<String, Sourced<String>>,
    /// Variables that never enter.
    pub deny: Vec<Sourced<VariablePattern>>,
}

/// The tools of an agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolsSection {
    /// Tools that need no further question.
    pub allow: Vec<Sourced<ToolPattern>>,
    /// Tools that are refused.
    pub deny: Vec<Sourced<ToolPattern>>,
    /// Tools whose command is carried out in a box instead.
    pub rewrite: Vec<Sourced<ToolPattern>>,
}

/// The record of runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LedgerSection {
    /// Whether a run must be recorded.
    pub required: Said<bool>,
    /// Whether the record holds the code.
    pub record_code: Said<bool>,
    /// Whether the record holds the values of variables.
    pub record_env: Said<bool>,
}

/// How far later files may go.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CeilingSection {
    /// The most of each limit.
    pub limits: SaidLimits,
    /// The loosest workspace.
    pub workspace: Said<WorkspaceMode>,
    /// Which mounts may be added.
    pub mounts: Said<MountLeave>,
    /// What may be reached.
    pub net: Said<NetCeiling>,
    /// Which variables may enter.
    pub env: Said<Vec<VariablePattern>>,
    /// Which variables may be put into requests.
    pub inject: Said<Vec<String>>,
    /// What may become of the repository.
    pub git: Said<GitAccess>,
    /// Which tools may be allowed.
    pub tools: Said<Vec<ToolPattern>>,
}

/// A mount that a policy asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyMount {
    /// The path on the host.
    pub source: PathBuf,
    /// The path in the box.
    pub target: PathBuf,
    /// Whether it can be written.
    pub access: Access,
}

impl fmt::Display for PolicyMount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = MountLeave::for_access(self.access);
        write!(f, "{}:{}:{mode}", self.source.display(), self.target.display())
    }
}

/// The most that a network may be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "serde_json::Value")]
pub enum NetCeiling {
    /// Nothing.
    None,
    /// The loopback of the box.
    Localhost,
    /// These hosts.
    Hosts(Vec<HostLeave>),
}

impl NetCeiling {
    /// The loosest mode below it.
    pub fn mode(&self) -> NetMode {
        match self {
            NetCeiling::None => NetMode::None,
            NetCeiling::Localhost => NetMode::Localhost,
            NetCeiling::Hosts(_) => NetMode::Allow,
        }
    }

    /// Whether this rule may be made.
    pub fn covers(&self, rule: &HostRule) -> bool {
        self.hosts().iter().any(|own| own.covers(rule))
    }

    /// Makes a rule as tight as it must be; false if there can be no such rule at all.
    pub(super) fn lower(&self, rule: &mut HostRule) -> bool {
        let leaves = self.hosts().iter().filter(|own| own.host.covers(&rule.host));
        let Some(loosest) = leaves.map(|own| own.tls).max() else { return false };
        if loosest == TlsRule::Required {
            rule.tls = Some(TlsRule::Required);
        }
        true
    }

    /// Whether it lets later layers do no more than this one.
    pub(super) fn is_within(&self, most: &NetCeiling) -> bool {
        let held = |leave: &HostLeave| most.hosts().iter().any(|own| own.holds(leave));
        self.mode() <= most.mode() && self.hosts().iter().all(held)
    }

    /// The hosts it lists.
    pub fn hosts(&self) -> &[HostLeave] {
        match self {
            NetCeiling::Hosts(hosts) => hosts,
            NetCeiling::None | NetCeiling::Localhost => &[],
        }
    }
}

impl From<NetCeiling> for serde_json::Value {
    fn from(ceiling: NetCeiling) -> serde_json::Value {
        match ceiling {
            // Words only, which always serialize.
            NetCeiling::Hosts(hosts) => serde_json::to_value(hosts).unwrap_or_default(),
            other => other.mode().to_string().into(),
        }
    }
}

impl fmt::Display for NetCeiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetCeiling::Hosts(hosts) => write!(f, "{}", in_words(hosts)),
            other => other.mode().fmt(f),
        }
    }
}

/// A list for people.
pub(crate) fn in_words<T: fmt::Display>(items: &[T]) -> String {
    match items {
        [] => "nothing".to_owned(),
        items => items.iter().map(T::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// Texts by name, so that a problem can show the line of a value that came from any of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Texts(Vec<(Arc<str>, Arc<str>)>);

impl Texts {
    /// One text.
    pub(crate) fn of(name: &Arc<str>, text: &str) -> Texts {
        Texts(vec![(Arc::clone(name), text.into())])
    }

    /// Takes in the texts of another.
    pub(crate) fn add(&mut self, other: &Texts) {
        for text in &other.0 {
            if !self.0.contains(text) {
                self.0.push(text.clone());
            }
        }
    }

    /// The text and the place of an origin, if it has lines.
    pub(crate) fn find(&self, origin: &Origin) -> Option<(&Arc<str>, &str, Place)> {
        let (name, text) = self.0.iter().find(|(name, _)| *name == origin.name)?;
        origin.place.map(|place| (name, &**text, place))
    }
}
