//! What of a plan becomes the same for every box, whoever builds it.

use std::path::Path;

use fumehood_core::{
    egress::Egress,
    protocol::{CgroupLimits, Cover, CoverKind, Lend, MOST_LENT_PORTS, Resource, Rlimit},
};

use crate::{BoxPlan, Error, Limits};

/// Ports that a rule without one is taken to mean where each needs a listener of its own.
const USUAL_PORTS: [u16; 2] = [80, 443];

/// Limits for all processes together.
pub(super) fn together(limits: &Limits) -> CgroupLimits {
    CgroupLimits {
        memory: limits.memory.get(),
        pids: limits.pids,
        milli_cores: limits.cpus.milli(),
    }
}

/// Limits per process.
pub(super) fn rlimits(limits: &Limits) -> Vec<Rlimit> {
    vec![
        Rlimit { resource: Resource::OpenFiles, value: u64::from(limits.open_files) },
        Rlimit { resource: Resource::FileSize, value: limits.file_size.get() },
        // Not zero: a core pattern that pipes to a program ignores zero, but not one.
        Rlimit { resource: Resource::CoreDump, value: 1 },
        Rlimit { resource: Resource::LockedMemory, value: 64 << 10 },
    ]
}

/// As many as the writable space could hold in small files.
pub(super) fn inodes(limits: &Limits) -> u64 {
    (limits.disk.get() / 4096).clamp(256, 1 << 20)
}

/// What of a plan is covered. What a protected path is in must not be moved away with it, so that
/// something else could take its place.
pub(super) fn covers(plan: &BoxPlan) -> Result<Vec<Cover>, Error> {
    let mut covers: Vec<Cover> = Vec::new();
    let mut add = |path: &Path, kind: CoverKind| {
        let path = text(path)?;
        if !covers.iter().any(|cover| cover.path == path) {
            covers.push(Cover { path, kind });
        }
        Ok::<(), Error>(())
    };
    let is_mount = |path: &Path| plan.mounts.iter().any(|mount| mount.target == path);
    let is_protected = |path: &Path| plan.protected.iter().any(|other| other == path);
    for path in &plan.protected {
        let mut above: Vec<&Path> = path
            .ancestors()
            .skip(1)
            .take_while(|directory| !is_mount(directory) && !is_protected(directory))
            .collect();
        above.reverse();
        for directory in above.into_iter().filter(|directory| directory.parent().is_some()) {
            add(directory, CoverKind::Pinned)?;
        }
    }
    for path in &plan.protected {
        add(path, CoverKind::Protected)?;
    }
    for path in &plan.masked {
        add(path, CoverKind::Hidden)?;
    }
    Ok(covers)
}

/// What init makes for connections to be lent.
pub(super) fn lend(egress: &Egress) -> Lend {
    let mut ports: Vec<u16> = Vec::new();
    for rule in &egress.allow {
        let named = rule.pattern.ports();
        let every = named == (1..=u16::MAX);
        let wanted = named.filter(|_| !every).chain(USUAL_PORTS.into_iter().filter(|_| every));
        for port in wanted.take(MOST_LENT_PORTS) {
            if !ports.contains(&port) && ports.len() < MOST_LENT_PORTS {
                ports.push(port);
            }
        }
    }
    Lend { address: egress.synthetic.first(), dns: egress.dns, ports }
}

/// A path as the kernel and the engines take it.
pub(super) fn text(path: &Path) -> Result<String, Error> {
    path.to_str().map(str::to_owned).ok_or_else(|| Error::Path {
        what: "the path",
        path: path.to_owned(),
        reason: "it is not UTF-8".into(),
    })
}
