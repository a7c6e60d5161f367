//! What of the caller's files a policy hides or protects, as paths inside the box.

mod walk;
mod watch;

use std::path::{Path, PathBuf};

pub(super) use self::walk::Rule;
pub(crate) use self::watch::Watch;
use crate::{
    BoxPlan, Error, Mount, MountSource,
    policy::{Glob, Sourced},
};

/// More mounts than this make a box slow to build and do not fit into its set-up.
const MOST_COVERED: usize = 2000;

/// Hides what the rule says, in everything of the caller that the plan mounts.
pub(super) fn hide(plan: &mut BoxPlan, rule: &dyn Rule) -> Result<(), Error> {
    let mut masked = Vec::new();
    for mount in plan.mounts.iter().filter(|mount| mount.owned) {
        let Some(source) = host_path(mount) else { continue };
        if source.is_dir() {
            masked.extend(walk::find(source, rule)?.iter().map(|path| mount.target.join(path)));
        } else if source.file_name().and_then(|name| name.to_str()).is_some_and(|n| rule.finds(n)) {
            return Err(Error::Path {
                what: "the mount source",
                path: source.to_owned(),
                reason: "the policy denies this file".into(),
            });
        }
    }
    plan.masked = masked;
    count(plan)
}

/// Protects these paths of the workspace. Those that are not there are watched instead.
pub(super) fn protect(
    plan: &mut BoxPlan,
    workspace: &Path,
    patterns: &[Sourced<Glob>],
) -> Result<(), Error> {
    let (wild, plain): (Vec<&Glob>, Vec<&Glob>) =
        patterns.iter().map(|pattern| &pattern.value).partition(|glob| is_wild(glob));
    let mut paths: Vec<PathBuf> = plain.iter().map(|glob| PathBuf::from(glob.as_str())).collect();
    let mount = plan.mounts.iter().find(|mount| mount.target == workspace);
    if let Some(directory) = mount.and_then(host_path) {
        if !wild.is_empty() {
            paths.extend(walk::find(directory, &Wild(&wild))?);
        }
        // The file that stands for the repository of a worktree says where git finds its settings.
        if std::fs::symlink_metadata(directory.join(".git")).is_ok_and(|found| !found.is_dir()) {
            paths.push(".git".into());
        }
    }
    plan.protected = paths.iter().map(|path| workspace.join(path)).collect();
    plan.protected.sort();
    plan.protected.dedup();
    count(plan)
}

fn count(plan: &BoxPlan) -> Result<(), Error> {
    match plan.masked.len() + plan.protected.len() {
        count if count > MOST_COVERED => Err(Error::TooMuchCovered { count, most: MOST_COVERED }),
        _ => Ok(()),
    }
}

fn is_wild(glob: &Glob) -> bool {
    glob.as_str().contains(['*', '?', '[', '{'])
}

/// Patterns that name more than one path.
struct Wild<'a>(&'a [&'a Glob]);

impl Rule for Wild<'_> {
    fn finds(&self, path: &str) -> bool {
        self.0.iter().any(|glob| glob.matches(path))
    }

    fn may_find_below(&self, directory: &str) -> bool {
        self.0.iter().any(|glob| glob.may_match_below(directory))
    }
}

/// What of the host is behind a mount.
fn host_path(mount: &Mount) -> Option<&Path> {
    match &mount.source {
        MountSource::Host(path) | MountSource::Overlay { lower: path } => Some(path),
        MountSource::Scratch => None,
    }
}
