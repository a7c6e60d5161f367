//! Yes or no, and which line says so.

use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use super::Policy;
use crate::{Access, WorkspaceMode, source::Origin};

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decision {
    /// Yes or no.
    pub allowed: bool,
    /// The line that decides.
    pub origin: Origin,
    /// Why, in one sentence.
    pub reason: String,
}

impl Decision {
    fn yes(origin: &Origin, reason: impl Into<String>) -> Decision {
        Decision { allowed: true, origin: origin.clone(), reason: reason.into() }
    }

    pub(super) fn no(origin: &Origin, reason: impl Into<String>) -> Decision {
        Decision { allowed: false, origin: origin.clone(), reason: reason.into() }
    }
}

/// What may be done with a path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathDecision {
    /// Whether it can be read.
    pub read: Decision,
    /// Whether it can be written.
    pub write: Decision,
}

impl Policy {
    /// Whether a variable of this name enters, from the caller or with a fixed value.
    pub fn env_decision(&self, name: &str) -> Decision {
        if let Some(deny) = self.env.deny.iter().find(|deny| deny.value.matches(name)) {
            return Decision::no(&deny.origin, format!("`{}` is denied", deny.value));
        }
        if let Some(set) = self.env.set.get(name) {
            return Decision::yes(&set.origin, "it has a fixed value");
        }
        match self.env.pass.iter().find(|pass| pass.value.matches(name)) {
            Some(pass) => Decision::yes(&pass.origin, format!("`{}` is passed on", pass.value)),
            None => Decision::no(&self.ceiling.env.origin, "nothing passes it on"),
        }
    }

    /// What may be done with a path: relative ones begin at the workspace, absolute ones are paths
    /// of the host. The path must be real, since links lead elsewhere.
    pub fn path_decision(&self, path: &Path) -> PathDecision {
        if !path.is_absolute() {
            let workspace = &self.fs.workspace;
            let write = match workspace.value {
                WorkspaceMode::ReadOnly => {
                    Decision::no(&workspace.origin, "the workspace can only be read")
                }
                WorkspaceMode::Overlay => {
                    Decision::yes(&workspace.origin, "changes go beside the workspace")
                }
                WorkspaceMode::ReadWrite => {
                    Decision::yes(&workspace.origin, "the workspace can be written")
                }
            };
            let read = Decision::yes(&workspace.origin, "it is in the workspace");
            return self.patterns_decide(path, PathDecision { read, write }, true);
        }
        match self.mounted(path) {
            Some((relative, decision)) => self.patterns_decide(&relative, decision, false),
            None => {
                let reason = "it is neither in the workspace nor in a mount";
                let no = Decision::no(&self.ceiling.mounts.origin, reason);
                PathDecision { read: no.clone(), write: no }
            }
        }
    }

    /// The path within the mount that holds it, and what the mount alone allows. Of mounts within
    /// each other the inner one counts.
    fn mounted(&self, path: &Path) -> Option<(PathBuf, PathDecision)> {
        let mounts = self
            .fs
            .mounts
            .iter()
            .map(|mount| (&mount.value.source, mount.value.access, &mount.origin));
        let named = [&self.fs.deps, &self.fs.candidate].into_iter().flatten();
        let named = named.chain(self.fs.datasets.values());
        let named = named.map(|place| (&place.value, Access::ReadOnly, &place.origin));
        let (source, access, origin) = mounts
            .chain(named)
            .filter(|(source, ..)| path.starts_with(source))
            .max_by_key(|(source, ..)| source.components().count())?;
        let write = match access {
            Access::ReadOnly => Decision::no(origin, "the mount can only be read"),
            Access::ReadWrite => Decision::yes(origin, "the mount can be written"),
        };
        let read = Decision::yes(origin, "it is in a mount");
        Some((path.strip_prefix(source).ok()?.to_owned(), PathDecision { read, write }))
    }

    /// Denied and protected patterns win. Only the workspace has protected ones.
    fn patterns_decide(
        &self,
        relative: &Path,
        mut decision: PathDecision,
        protect: bool,
    ) -> PathDecision {
        let text = relative.to_string_lossy();
        if leaves(relative) {
            let no = Decision::no(&decision.read.origin, "it is not below its root");
            return PathDecision { read: no.clone(), write: no };
        }
        if let Some(deny) = self.denies_path(&text) {
            let no = Decision::no(&deny.origin, format!("`{}` is denied", deny.value));
            return PathDecision { read: no.clone(), write: no };
        }
        if let Some(glob) = self.protects_path(&text).filter(|_| protect)
            && decision.write.allowed
        {
            decision.write = Decision::no(&glob.origin, format!("`{}` is protected", glob.value));
        }
        decision
    }
}

/// Whether a path goes above where it begins.
fn leaves(path: &Path) -> bool {
    let mut depth = 0usize;
    for part in path.components() {
        match part {
            Component::ParentDir if depth == 0 => return true,
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            _ => {}
        }
    }
    false
}
