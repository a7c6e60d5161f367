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
    BackendName, Error, Mount, MountSource, Plan, Request, Volumes,
    archive::{self, UnpackLimits},
    policy::{Fs, GitAccess, MountLeave, Policy, Sourced},
};

/// Adds everything to the run of a plan.
pub(super) fn add(
    plan: &mut Plan,
    policy: &Policy,
    request: &Request,
    machine: &Machine<'_>,
    layout: &Layout,
) -> Result<(), Error> {
    // Looked at first: paths that are not there are refused whatever the backend.
    let mut mounts = read_only(&policy.fs, machine)?;
    mounts.extend(volumes(policy, request, machine)?);
    if plan.backend == BackendName::Local {
        return match mounts.is_empty() {
            true => Ok(()),
            false => Err(paths::cannot_mount(plan.backend)),
        };
    }
    let of_caller = plan.run.mounts.iter().filter(|mount| mount.owned);
    check_distinct(of_caller.chain(&mounts))?;
    plan.run.mounts.extend(mounts);
    plan.volumes = request
        .volumes
        .iter()
        .map(|volume| volume.name.clone())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    add_git(plan, policy.fs.git.value, layout);
    Ok(())
}

fn read_only(fs: &Fs, machine: &Machine<'_>) -> Result<Vec<Mount>, Error> {
    let mut mounts = Vec::new();
    if let Some(Sourced { value: directory, .. }) = &fs.deps {
        const WHAT: &str = "the directory of dependencies";
        let real = paths::real(WHAT, directory)?;
        if !real.is_dir() {
            let reason = "it is not a directory".to_owned();
            return Err(Error::Path { what: WHAT, path: directory.clone(), reason });
        }
        mounts.push(Mount::read_only(real, DEPS));
    }
    if let Some(Sourced { value: path, .. }) = &fs.candidate {
        let real = paths::real("the candidate", path)?;
        let directory = match real.is_dir() {
            true => real,
            false => archive::unpacked(&real, machine.cache, &UnpackLimits::default())?,
        };
        mounts.push(Mount::read_only(directory, CANDIDATE));
    }
    for (name, dataset) in &fs.datasets {
        let real = paths::real("the data set", &dataset.value)?;
        let target = Path::new(DATASETS).join(name);
        mounts.push(Mount::read_only(real, target));
    }
    Ok(mounts)
}

fn volumes(policy: &Policy, request: &Request, machine: &Machine<'_>) -> Result<Vec<Mount>, Error> {
    let Some(first) = request.volumes.first() else { return Ok(Vec::new()) };
    // What is kept between runs is a mount that can be written.
    let most = &policy.ceiling.mounts;
    if most.value < MountLeave::ReadWrite {
        return Err(Error::VolumeRefused {
            name: first.name.to_string(),
            most: most.value.to_string(),
            origin: most.origin.to_string(),
        });
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
        MountSource::Host(path) | MountSource::Overlay { lower: path }
            if mount.target == layout.workspace =>
        {
            Some(path.clone())
        }
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
