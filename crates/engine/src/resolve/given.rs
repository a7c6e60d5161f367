//! What a box is given besides the workspace and plain mounts: volumes, dependencies, a candidate,
//! data sets, and the git directory of a worktree.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use super::{
    Layout, Machine, git,
    paths::{self, CANDIDATE, DATASETS, DEPS},
};
use crate::{
    BackendName, Error, GitAccess, Mount, MountSource, Plan, Request, Volumes,
    archive::{self, UnpackLimits},
};

/// Adds everything to the run of a plan.
pub(super) fn add(
    plan: &mut Plan,
    request: &Request,
    machine: &Machine<'_>,
    layout: &Layout,
) -> Result<(), Error> {
    // Looked at first: paths that are not there are refused whatever the backend.
    let mut mounts = read_only(request, machine)?;
    mounts.extend(volumes(request, machine)?);
    if plan.backend == BackendName::Local {
        return match mounts.is_empty() {
            true => Ok(()),
            false => Err(paths::cannot_mount(plan.backend)),
        };
    }
    check_distinct(request.mounts.iter().chain(&mounts))?;
    plan.run.mounts.extend(mounts);
    plan.volumes = request
        .volumes
        .iter()
        .map(|volume| volume.name.clone())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    add_git(plan, request.git, layout);
    Ok(())
}

fn read_only(request: &Request, machine: &Machine<'_>) -> Result<Vec<Mount>, Error> {
    let mut mounts = Vec::new();
    if let Some(directory) = &request.deps {
        const WHAT: &str = "the directory of dependencies";
        let real = paths::real(WHAT, directory)?;
        if !real.is_dir() {
            let reason = "it is not a directory".to_owned();
            return Err(Error::Path { what: WHAT, path: directory.clone(), reason });
        }
        mounts.push(Mount::read_only(real, DEPS));
    }
    if let Some(path) = &request.candidate {
        let real = paths::real("the candidate", path)?;
        let directory = match real.is_dir() {
            true => real,
            false => archive::unpacked(&real, machine.cache, &UnpackLimits::default())?,
        };
        mounts.push(Mount::read_only(directory, CANDIDATE));
    }
    for dataset in &request.datasets {
        let real = paths::real("the data set", &dataset.path)?;
        let target = Path::new(DATASETS).join(dataset.name.as_str());
        mounts.push(Mount::read_only(real, target));
    }
    Ok(mounts)
}

fn volumes(request: &Request, machine: &Machine<'_>) -> Result<Vec<Mount>, Error> {
    if request.volumes.is_empty() {
        return Ok(Vec::new());
    }
    let kept = Volumes::of(machine.state)?;
    let mount = |volume: &crate::VolumeMount| {
        let target = paths::target(&volume.target)?;
        Ok(Mount::read_write(kept.data(&volume.name)?, target))
    };
    request.volumes.iter().map(mount).collect()
}

/// One of two things at the same place would hide the other.
fn check_distinct<'a>(mounts: impl Iterator<Item = &'a Mount>) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    for mount in mounts {
        if !seen.insert(mount.target.components().collect::<PathBuf>()) {
            let target = mount.target.clone();
            return Err(Error::MountTarget { target, reason: "two things are mounted there" });
        }
    }
    Ok(())
}

fn add_git(plan: &mut Plan, access: GitAccess, layout: &Layout) {
    let workspace = plan.run.mounts.iter().find_map(|mount| match &mount.source {
        MountSource::Host(path) if mount.target == layout.workspace => Some(path.clone()),
        _ => None,
    });
    let Some(workspace) = workspace.filter(|_| access != GitAccess::Off) else { return };
    match git::worktree(&workspace, &layout.workspace) {
        None => {}
        Some(Err(note)) => plan.notes.push(note),
        Some(Ok(found)) => match git::place(&found, &plan.run.mounts) {
            Err(note) => plan.notes.push(note),
            Ok(target) => plan.run.mounts.push(match access {
                GitAccess::ReadWrite => Mount::read_write(found.directory, target),
                GitAccess::ReadOnly | GitAccess::Off => Mount::read_only(found.directory, target),
            }),
        },
    }
}
