//! The plan of a box, reduced to what the launcher carries out.

use std::path::Path;

use fumehood_core::protocol::{
    BOX_UID, BindMount, Content, OverlayMount, Setup, SetupFile, SetupLink,
};

use super::super::{
    common::{covers, inodes, lend, rlimits, text, together},
    etc::{self, HOST_NAME},
};
use crate::{
    Access, BoxPlan, Error, Link, Mount, MountSource, Network, OverlayError, resolve::BaseRoot,
};

/// Devices that every program may expect, and none besides.
const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

const DEVICE_LINKS: &[(&str, &str)] = &[
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
    ("/dev/ptmx", "pts/ptmx"),
];

/// What every box of a launcher starts with, prepared ahead of need.
pub(super) struct SharedBase {
    pub(super) root: BaseRoot,
    pub(super) content: Content,
}

impl SharedBase {
    pub(super) fn new(root: BaseRoot) -> Result<SharedBase, Error> {
        let mut content = own_content();
        add(&mut content, &root.mounts, &root.links, None)?;
        Ok(SharedBase { root, content })
    }

    /// What a plan has beyond the base, if it begins with the base.
    fn rest<'a>(&self, plan: &'a BoxPlan) -> Option<&'a [Mount]> {
        (plan.links == self.root.links)
            .then(|| plan.mounts.strip_prefix(self.root.mounts.as_slice()))?
    }
}

pub(super) fn from_plan(
    plan: &BoxPlan,
    storage: Option<&Path>,
    base: Option<&SharedBase>,
) -> Result<Setup, Error> {
    let rest = base.and_then(|base| base.rest(plan)).filter(|_| plan.without.is_empty());
    let mut content = if rest.is_some() { Content::default() } else { own_content() };
    match rest {
        Some(mounts) => add(&mut content, mounts, &[], storage)?,
        None => add(&mut content, &plan.mounts, &plan.links, storage)?,
    }
    let limits = &plan.limits;
    Ok(Setup {
        hostname: HOST_NAME.into(),
        disk: limits.disk.get(),
        inodes: inodes(limits),
        on_base: rest.is_some(),
        content,
        covers: covers(plan)?,
        loopback: plan.network == Network::Localhost,
        lend: plan.egress.as_ref().map(lend),
        cgroup: together(limits),
        rlimits: rlimits(limits),
        required: plan.required.clone(),
        without: plan.without.clone(),
    })
}

/// Devices, the files that say who is who, and the usual places for temporary files.
fn own_content() -> Content {
    Content {
        writable: ["/tmp", "/dev/shm", "/var/tmp"].map(str::to_owned).to_vec(),
        overlays: Vec::new(),
        binds: DEVICES
            .iter()
            .map(|device| BindMount {
                source: (*device).to_owned(),
                target: (*device).to_owned(),
                writable: true,
                owned: false,
                optional: *device == "/dev/tty",
            })
            .collect(),
        files: etc::files(BOX_UID, BOX_UID)
            .into_iter()
            .map(|(path, content)| SetupFile {
                path: path.to_owned(),
                mode: 0o644,
                content: content.into_bytes(),
            })
            .collect(),
        links: DEVICE_LINKS
            .iter()
            .map(|(path, target)| SetupLink { path: (*path).into(), target: (*target).into() })
            .collect(),
    }
}

fn add(
    content: &mut Content,
    mounts: &[Mount],
    links: &[Link],
    storage: Option<&Path>,
) -> Result<(), Error> {
    for mount in mounts {
        let target = text(&mount.target)?;
        match &mount.source {
            MountSource::Scratch => content.writable.push(target),
            MountSource::Overlay { lower } => {
                let storage = storage.ok_or(OverlayError::NoStorage)?;
                content.overlays.push(OverlayMount {
                    lower: text(lower)?,
                    storage: text(storage)?,
                    target,
                });
            }
            MountSource::Host(source) => content.binds.push(BindMount {
                source: text(source)?,
                target,
                writable: mount.access == Access::ReadWrite,
                owned: mount.owned,
                optional: false,
            }),
        }
    }
    for link in links {
        content.links.push(SetupLink { path: text(&link.path)?, target: text(&link.target)? });
    }
    Ok(())
}
