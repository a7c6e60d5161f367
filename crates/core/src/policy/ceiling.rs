//! How far a further layer may go, and what becomes of values above a ceiling that was lowered.

use super::{
    Amount, GitAccess, HostLeave, HostPattern, HostRule, LimitKey, LimitTable, MountLeave,
    NetCeiling, NetMode, Policy, Sourced, ToolPattern, VariablePattern, choice::Choice as _,
    profile,
};
use crate::{Access, WorkspaceMode, egress::TlsRule, source::Origin};

/// How far a further layer may go.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceiling {
    /// The most of each limit. That of the grace is that of the timeout.
    pub limits: LimitTable<Sourced<Amount>>,
    /// The loosest workspace.
    pub workspace: Sourced<WorkspaceMode>,
    /// Which mounts may be added.
    pub mounts: Sourced<MountLeave>,
    /// What may be reached.
    pub net: Sourced<NetCeiling>,
    /// Which variables may enter.
    pub env: Sourced<Vec<VariablePattern>>,
    /// Which variables layers above the user's may put into requests.
    pub inject: Sourced<Vec<String>>,
    /// What may become of the repository.
    pub git: Sourced<GitAccess>,
    /// Which tools may be allowed.
    pub tools: Sourced<Vec<ToolPattern>>,
}

impl Ceiling {
    /// Nothing is above it, but for secrets: none may be used until the user names it.
    pub(super) fn unlimited(origin: &Origin) -> Ceiling {
        let every_host = HostLeave::any_way(HostPattern::any());
        Ceiling {
            limits: LimitTable::with(|key| Sourced::new(key.most(), origin.clone())),
            workspace: Sourced::new(WorkspaceMode::ReadWrite, origin.clone()),
            mounts: Sourced::new(MountLeave::ReadWrite, origin.clone()),
            net: Sourced::new(NetCeiling::Hosts(vec![every_host]), origin.clone()),
            env: Sourced::new(vec![VariablePattern::any()], origin.clone()),
            inject: Sourced::new(Vec::new(), origin.clone()),
            git: Sourced::new(GitAccess::ReadWrite, origin.clone()),
            tools: Sourced::new(vec![ToolPattern::any()], origin.clone()),
        }
    }

    /// Whether this variable may enter.
    pub fn covers_variable(&self, pattern: &VariablePattern) -> bool {
        self.env.value.iter().any(|own| own.covers(pattern))
    }

    /// Whether these tools may be allowed.
    pub fn covers_tool(&self, pattern: &ToolPattern) -> bool {
        self.tools.value.iter().any(|own| own.covers(pattern))
    }
}

/// The origin of a ceiling that nobody has set.
const UNSET: &str = "nobody has set a ceiling, so what holds is the most";

impl Policy {
    /// The same with every ceiling that only the default profile has lowered to what holds. The
    /// default ceilings are wide, since a person may do on their machine what they like; whoever is
    /// not that person is held to what somebody decided.
    pub(super) fn closed(&self) -> Policy {
        let mut closed = self.clone();
        let ceiling = &mut closed.ceiling;
        for key in LimitKey::ALL {
            close(&mut ceiling.limits[*key], || self.limits[*key].value);
        }
        close(&mut ceiling.workspace, || self.fs.workspace.value);
        close(&mut ceiling.mounts, || MountLeave::None);
        close(&mut ceiling.net, || match self.net.mode.value {
            NetMode::None => NetCeiling::None,
            NetMode::Localhost => NetCeiling::Localhost,
            NetMode::Allow => {
                let leave = |rule: &Sourced<HostRule>| HostLeave {
                    host: rule.value.host.clone(),
                    tls: rule.value.tls.unwrap_or(TlsRule::Any),
                };
                NetCeiling::Hosts(self.net.allow.iter().map(leave).collect())
            }
        });
        // Where a secret goes is nobody's business but its owner's.
        ceiling.inject.value.clear();
        close(&mut ceiling.env, || values(&self.env.pass));
        close(&mut ceiling.git, || self.fs.git.value);
        close(&mut ceiling.tools, || values(&self.tools.allow));
        closed
    }

    /// Lowers whatever is above the ceiling. Nothing is ever raised.
    pub(super) fn lower_to_ceiling(&mut self) {
        let ceiling = &self.ceiling;
        for key in LimitKey::ALL {
            lower(&mut self.limits[*key], &ceiling.limits[key.ceiling()]);
        }
        // A run that may take a second does not get two more to end.
        let timeout = self.limits[LimitKey::Timeout].clone();
        lower(&mut self.limits[LimitKey::Grace], &timeout);
        lower(&mut self.fs.workspace, &ceiling.workspace);
        lower(&mut self.fs.git, &ceiling.git);
        self.lower_mounts();
        self.lower_network();
        let ceiling = &self.ceiling;
        self.env.pass.retain(|name| ceiling.covers_variable(&name.value));
        self.tools.allow.retain(|name| ceiling.covers_tool(&name.value));
    }

    fn lower_mounts(&mut self) {
        match self.ceiling.mounts.value.access() {
            None => {
                self.fs.mounts.clear();
                self.fs.deps = None;
                self.fs.candidate = None;
                self.fs.datasets.clear();
            }
            Some(Access::ReadOnly) => {
                for mount in &mut self.fs.mounts {
                    mount.value.access = Access::ReadOnly;
                }
            }
            Some(Access::ReadWrite) => {}
        }
    }

    fn lower_network(&mut self) {
        let ceiling = &self.ceiling.net;
        lower(&mut self.net.mode, &ceiling.map(NetCeiling::mode));
        self.net.allow.retain_mut(|rule| {
            let said = rule.value.tls;
            let kept = ceiling.value.lower(&mut rule.value);
            if rule.value.tls != said {
                rule.origin.clone_from(&ceiling.origin);
            }
            kept
        });
        if self.net.mode.value == NetMode::Allow && self.net.allow.is_empty() {
            self.net.mode = ceiling.map(|_| NetMode::Localhost);
        }
    }
}

fn values<T: Clone>(list: &[Sourced<T>]) -> Vec<T> {
    list.iter().map(|one| one.value.clone()).collect()
}

fn close<T>(ceiling: &mut Sourced<T>, holds: impl FnOnce() -> T) {
    if profile::is_default(&ceiling.origin) {
        *ceiling = Sourced::new(holds(), Origin::named(UNSET));
    }
}

/// Lowers a value that is above its ceiling, and says that the ceiling did it.
fn lower<T: Ord + Clone>(value: &mut Sourced<T>, ceiling: &Sourced<T>) {
    if value.value > ceiling.value {
        value.clone_from(ceiling);
    }
}
