//! Protected paths that did not exist when the box opened. Nothing can be mounted on what is not
//! there, so the outcome says when one of them has appeared.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use crate::{Access, BoxPlan, MountSource, Violation, ViolationKind};

/// Protected paths of the host as they were before a run.
pub(crate) struct Watch {
    watched: Vec<(PathBuf, State)>,
}

/// What is at a path, as far as a mount cannot guarantee that it stays.
#[derive(PartialEq, Eq)]
enum State {
    Absent,
    /// A link cannot be mounted on. It is recognized by its inode and its target.
    Link(u64, Option<PathBuf>),
    /// Covered by the kernel.
    Covered,
}

impl Watch {
    /// Looks at what a plan protects and cannot cover.
    pub(crate) fn begin(plan: &BoxPlan) -> Watch {
        let watched = plan
            .protected
            .iter()
            .filter_map(|path| host_path(plan, path))
            .map(|path| {
                let state = State::of(&path);
                (path, state)
            })
            .filter(|(_, state)| *state != State::Covered)
            .collect();
        Watch { watched }
    }

    /// What has appeared or changed since.
    pub(crate) fn end(self) -> Vec<Violation> {
        self.watched
            .into_iter()
            .filter(|(path, before)| State::of(path) != *before)
            .map(|(path, before)| {
                let what = if before == State::Absent { "appeared" } else { "was replaced" };
                Violation {
                    kind: ViolationKind::ProtectedPath,
                    message: format!(
                        "{} {what} during the run, and the policy protects it: look at it before \
                         you use the directory",
                        crate::escape_controls(&path.display().to_string())
                    ),
                }
            })
            .collect()
    }
}

impl State {
    fn of(path: &Path) -> State {
        match fs::symlink_metadata(path) {
            Err(_) => State::Absent,
            Ok(found) if found.is_symlink() => State::Link(found.ino(), fs::read_link(path).ok()),
            Ok(_) => State::Covered,
        }
    }
}

/// Where on the host a path of the box is, if the program can write there.
fn host_path(plan: &BoxPlan, path: &Path) -> Option<PathBuf> {
    let mount = plan
        .mounts
        .iter()
        .filter(|mount| path.starts_with(&mount.target))
        .max_by_key(|mount| mount.target.components().count())?;
    match &mount.source {
        MountSource::Host(source) if mount.access == Access::ReadWrite => {
            Some(source.join(path.strip_prefix(&mount.target).ok()?))
        }
        _ => None,
    }
}
