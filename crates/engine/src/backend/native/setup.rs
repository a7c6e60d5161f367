//! The plan of a box, reduced to what the launcher carries out.

use std::path::Path;

use fumehood_core::protocol::{
    BOX_UID, BindMount, CgroupLimits, Content, Cover, CoverKind, OverlayMount, Resource, Rlimit,
    Setup, SetupFile, SetupLink,
};

use crate::{
    Access, BoxPlan, Error, Link, Mount, MountSource, Network, OverlayError, resolve::BaseRoot,
};

const HOST_NAME: &str = "fumehood";

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
        // As many as the space could hold in small files.
        inodes: (limits.disk.get() / 4096).clamp(256, 1 << 20),
        on_base: rest.is_some(),
        content,
        covers: covers(plan)?,
        loopback: plan.network == Network::Localhost,
        cgroup: CgroupLimits {
            memory: limits.memory.get(),
            pids: limits.pids,
            milli_cores: limits.cpus.milli(),
        },
        rlimits: vec![
            Rlimit { resource: Resource::OpenFiles, value: u64::from(limits.open_files) },
            Rlimit { resource: Resource::FileSize, value: limits.file_size.get() },
            // Not zero: a core pattern that pipes to a program ignores zero, but not one.
            Rlimit { resource: Resource::CoreDump, value: 1 },
            Rlimit { resource: Resource::LockedMemory, value: 64 << 10 },
        ],
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
        files: files(),
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

/// What of a plan is covered. What a protected path is in must not be moved away with it, so that
/// something else could take its place.
fn covers(plan: &BoxPlan) -> Result<Vec<Cover>, Error> {
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

/// The few files that say who is who in the box.
fn files() -> Vec<SetupFile> {
    let passwd = format!(
        "root:x:0:0:root:/:/usr/sbin/nologin\n\
         box:x:{BOX_UID}:{BOX_UID}:box:/home/box:/bin/sh\n\
         nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n"
    );
    let group = format!("root:x:0:\nbox:x:{BOX_UID}:\nnogroup:x:65534:\n");
    let hosts = format!("127.0.0.1 localhost {HOST_NAME}\n::1 localhost {HOST_NAME}\n");
    [
        ("/etc/passwd", passwd),
        ("/etc/group", group),
        ("/etc/hosts", hosts),
        ("/etc/hostname", format!("{HOST_NAME}\n")),
        ("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n".to_owned()),
        ("/etc/resolv.conf", String::new()),
    ]
    .into_iter()
    .map(|(path, content)| SetupFile {
        path: path.to_owned(),
        mode: 0o644,
        content: content.into_bytes(),
    })
    .collect()
}

fn text(path: &Path) -> Result<String, Error> {
    path.to_str().map(str::to_owned).ok_or_else(|| Error::Path {
        what: "the path",
        path: path.to_owned(),
        reason: "it is not UTF-8".into(),
    })
}
