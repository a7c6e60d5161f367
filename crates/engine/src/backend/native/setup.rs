//! The plan of a box, reduced to what the launcher carries out.

use std::path::Path;

use fumehood_core::protocol::{
    BOX_UID, BindMount, CgroupLimits, Resource, Rlimit, Setup, SetupFile, SetupLink,
};

use crate::{Access, BoxPlan, Error, MountSource, Network};

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

pub(super) fn from_plan(plan: &BoxPlan) -> Result<Setup, Error> {
    let mut writable = vec!["/tmp".to_owned(), "/dev/shm".to_owned(), "/var/tmp".to_owned()];
    let mut binds = Vec::new();
    for device in DEVICES {
        binds.push(BindMount {
            source: (*device).to_owned(),
            target: (*device).to_owned(),
            writable: true,
            owned: false,
            optional: *device == "/dev/tty",
        });
    }
    for mount in &plan.mounts {
        let target = text(&mount.target)?;
        match &mount.source {
            MountSource::Scratch => writable.push(target),
            MountSource::Host(source) => binds.push(BindMount {
                source: text(source)?,
                target,
                writable: mount.access == Access::ReadWrite,
                owned: mount.owned,
                optional: false,
            }),
        }
    }
    let mut links: Vec<SetupLink> = DEVICE_LINKS
        .iter()
        .map(|(path, target)| SetupLink { path: (*path).into(), target: (*target).into() })
        .collect();
    for link in &plan.links {
        links.push(SetupLink { path: text(&link.path)?, target: text(&link.target)? });
    }
    let limits = &plan.limits;
    Ok(Setup {
        hostname: HOST_NAME.into(),
        disk: limits.disk.get(),
        // As many as the space could hold in small files.
        inodes: (limits.disk.get() / 4096).clamp(256, 1 << 20),
        writable,
        binds,
        files: files(),
        links,
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
        without: plan.without.clone(),
    })
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
