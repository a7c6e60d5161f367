//! From the plan of a box to the container that an engine is asked for. Pure: whatever of the
//! machine it depends on is in [`Ground`].

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use bollard::models::{
    ContainerCreateBody, HealthConfig, HostConfig, HostConfigCgroupnsModeEnum, HostConfigLogConfig,
    Mount as EngineMount, MountType, ResourcesUlimits,
};
use fumehood_core::protocol::{BindMount, BoxOrder, Content, CoverKind, Setup};

use super::{
    super::{
        common::{covers, inodes, lend, rlimits, text, together},
        etc::HOST_NAME,
    },
    given,
};
use crate::{Access, BackendName, BoxPlan, Bytes, Error, Layer, Mount, MountSource, Network};

/// Where init is in a container.
const INIT: &str = "/fumehood/init";

/// Writable places that every box has besides those of its plan.
const ALWAYS_WRITABLE: [&str; 2] = ["/tmp", "/var/tmp"];

/// What of the machine a container depends on.
pub(super) struct Ground {
    pub(super) engine: BackendName,
    pub(super) rootless: bool,
    /// The init program, on the host.
    pub(super) init: PathBuf,
    /// Files that say who is who: the path in the box, and the file of the host.
    pub(super) files: Vec<(String, PathBuf)>,
    /// A file that nobody can open.
    pub(super) blind: PathBuf,
    /// Whose the container is.
    pub(super) labels: HashMap<String, String>,
    /// The most processes that a user of this process may have, if that is bounded.
    pub(super) most_processes: i64,
    /// Whether this machine has IPv6 at all.
    pub(super) has_ipv6: bool,
    /// Whether a path of the host is a directory; `None` if it is not there.
    pub(super) is_directory: fn(&Path) -> Option<bool>,
}

/// A path that is covered, and the place of the host that is under it.
pub(super) struct Covered {
    pub(super) kind: CoverKind,
    target: String,
    source: PathBuf,
    is_directory: bool,
}

/// The container for a plan, and what its init is told first.
pub(super) fn container(
    plan: &BoxPlan,
    ground: &Ground,
) -> Result<(ContainerCreateBody, BoxOrder), Error> {
    let image = plan.container.as_ref().map_or("", |container| container.image.as_str());
    let covered = covered(plan, ground)?;
    let body = ContainerCreateBody {
        image: Some(image.to_owned()),
        entrypoint: Some(vec![INIT.to_owned(), "box".to_owned()]),
        cmd: Some(Vec::new()),
        working_dir: Some("/".to_owned()),
        user: Some(format!("{}:{}", plan.identity.uid, plan.identity.gid)),
        hostname: (!plan.without.contains(&Layer::UtsNamespace)).then(|| HOST_NAME.to_owned()),
        // The control channel: what is written by init is read by us, and the other way round.
        // When we are gone, so is its input, and it ends.
        open_stdin: Some(true),
        stdin_once: Some(true),
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        tty: Some(false),
        // Who is to end by itself is told so on the control channel. Whoever stops the container,
        // or the whole engine, need not wait.
        stop_signal: Some("SIGKILL".to_owned()),
        labels: Some(ground.labels.clone()),
        healthcheck: Some(HealthConfig {
            test: Some(vec!["NONE".to_owned()]),
            ..HealthConfig::default()
        }),
        host_config: Some(host_config(plan, ground, &covered)?),
        ..ContainerCreateBody::default()
    };
    let root = format!("the container's own, its root is the image {image}");
    let order = BoxOrder {
        setup: setup(plan)?,
        given: given::reports(plan, ground.engine, &covered, &root),
    };
    Ok((body, order))
}

fn host_config(plan: &BoxPlan, ground: &Ground, covered: &[Covered]) -> Result<HostConfig, Error> {
    let without = |layer: Layer| plan.without.contains(&layer);
    let with = |layer: Layer| !without(layer);
    let limits = &plan.limits;
    let memory = with(Layer::Memory).then_some(limits.memory.get().cast_signed());
    let host_or = |layer: Layer, own: &str| {
        Some(if without(layer) { "host".to_owned() } else { own.to_owned() })
    };
    let mut security = Vec::new();
    if with(Layer::NoNewPrivileges) {
        security.push("no-new-privileges".to_owned());
    }
    // Ours is installed by init before the program starts, the same on every backend. That of the
    // engine would keep init from using Landlock on older ones.
    security.push("seccomp=unconfined".to_owned());
    let (mounts, tmpfs) = mounts(plan, ground, covered)?;
    let keeps_caller = ground.rootless
        && ground.engine == BackendName::Podman
        && plan.mounts.iter().any(is_writable_host);
    Ok(HostConfig {
        auto_remove: Some(true),
        init: Some(false),
        runtime: plan.container.as_ref().and_then(|container| container.runtime.clone()),
        network_mode: host_or(Layer::NetNamespace, "none"),
        ipc_mode: host_or(Layer::IpcNamespace, "private"),
        uts_mode: without(Layer::UtsNamespace).then(|| "host".to_owned()),
        cgroupns_mode: Some(HostConfigCgroupnsModeEnum::PRIVATE),
        userns_mode: keeps_caller.then(|| "keep-id".to_owned()),
        readonly_rootfs: Some(with(Layer::ReadOnlyRoot)),
        cap_drop: with(Layer::Capabilities).then(|| vec!["ALL".to_owned()]),
        security_opt: Some(security),
        memory,
        // The same as memory means: no swap.
        memory_swap: memory,
        nano_cpus: with(Layer::Cpu).then(|| i64::from(limits.cpus.milli()) * 1_000_000),
        // One more for init.
        pids_limit: with(Layer::Pids).then(|| i64::from(limits.pids) + 1),
        ulimits: Some(ulimits(plan, ground)),
        shm_size: with(Layer::IpcNamespace).then_some(limits.disk.get().cast_signed()),
        sysctls: loopback_sysctls(plan, ground),
        tmpfs: Some(tmpfs),
        mounts: Some(mounts),
        // What goes over the control channel is nobody's log.
        log_config: Some(HostConfigLogConfig { typ: Some("none".to_owned()), config: None }),
        ..HostConfig::default()
    })
}

/// Where none are named Podman sets some that only root of the whole machine may.
fn ulimits(plan: &BoxPlan, ground: &Ground) -> Vec<ResourcesUlimits> {
    // Init itself needs a few until it serves.
    let files = i64::from(plan.limits.open_files).max(64);
    let ulimit = |name: &str, value: i64| ResourcesUlimits {
        name: Some(name.to_owned()),
        soft: Some(value),
        hard: Some(value),
    };
    let mut all = vec![ulimit("nofile", files)];
    if !plan.without.contains(&Layer::Files) {
        all.push(ulimit("core", 0));
    }
    if ground.engine == BackendName::Podman {
        all.push(ulimit("nproc", ground.most_processes));
    }
    all
}

/// Docker leaves the loopback of a container without its IPv6 address.
fn loopback_sysctls(plan: &BoxPlan, ground: &Ground) -> Option<HashMap<String, String>> {
    let wanted = plan.network == Network::Localhost
        && ground.engine == BackendName::Docker
        && ground.has_ipv6
        && !plan.without.contains(&Layer::NetNamespace);
    let setting = ("net.ipv6.conf.lo.disable_ipv6".to_owned(), "0".to_owned());
    wanted.then(|| HashMap::from([setting]))
}

type Mounts = (Vec<EngineMount>, HashMap<String, String>);

fn mounts(plan: &BoxPlan, ground: &Ground, covered: &[Covered]) -> Result<Mounts, Error> {
    let mut binds = vec![bind(&ground.init, INIT, true)?];
    for (target, source) in &ground.files {
        binds.push(bind(source, target, true)?);
    }
    let mut tmpfs = HashMap::new();
    for place in ALWAYS_WRITABLE {
        tmpfs.insert(place.to_owned(), scratch(plan, ground, "1777"));
    }
    for further in plan.container.iter().flat_map(|container| &container.tmpfs) {
        tmpfs.insert(text(&further.path)?, in_memory(plan, ground, "0755", further.size));
    }
    for mount in &plan.mounts {
        let target = text(&mount.target)?;
        match &mount.source {
            MountSource::Scratch => {
                tmpfs.insert(target, scratch(plan, ground, "0755"));
            }
            MountSource::Host(source) => {
                binds.push(bind(source, &target, mount.access == Access::ReadOnly)?);
            }
            // No plan for a container has one.
            MountSource::Overlay { .. } => {}
        }
    }
    for Covered { kind, target, source, is_directory } in covered {
        match (kind, is_directory) {
            (CoverKind::Pinned, _) => binds.push(bind(source, target, false)?),
            (CoverKind::Protected, _) => binds.push(bind(source, target, true)?),
            (CoverKind::Hidden, false) => binds.push(bind(&ground.blind, target, true)?),
            (CoverKind::Hidden, true) => {
                let nothing = format!("ro,noexec,nosuid,nodev,size=4k,mode=0000{}", empty(ground));
                tmpfs.insert(target.clone(), nothing);
            }
        }
    }
    Ok((binds, tmpfs))
}

fn bind(source: &Path, target: &str, read_only: bool) -> Result<EngineMount, Error> {
    Ok(EngineMount {
        typ: Some(MountType::BIND),
        source: Some(text(source)?),
        target: Some(target.to_owned()),
        read_only: Some(read_only),
        ..EngineMount::default()
    })
}

/// The options of private writable space. Podman knows neither owners nor numbers of files there.
fn scratch(plan: &BoxPlan, ground: &Ground, mode: &str) -> String {
    in_memory(plan, ground, mode, plan.limits.disk)
}

fn in_memory(plan: &BoxPlan, ground: &Ground, mode: &str, size: Bytes) -> String {
    let size = size.get();
    let common = format!("rw,exec,nosuid,nodev,size={size}");
    if ground.engine == BackendName::Podman {
        return format!("{common},mode=1777{}", empty(ground));
    }
    let (uid, gid) = (plan.identity.uid, plan.identity.gid);
    format!("{common},nr_inodes={},mode={mode},uid={uid},gid={gid}", inodes(&plan.limits))
}

/// Podman would put into a tmpfs what the place under it holds, hidden files included.
fn empty(ground: &Ground) -> &'static str {
    if ground.engine == BackendName::Podman { ",notmpcopyup" } else { "" }
}

fn is_writable_host(mount: &Mount) -> bool {
    mount.access == Access::ReadWrite && matches!(mount.source, MountSource::Host(_))
}

/// The covers of a plan whose places are there, each with the path of the host that it covers.
fn covered(plan: &BoxPlan, ground: &Ground) -> Result<Vec<Covered>, Error> {
    if plan.without.contains(&Layer::CoveredPaths) {
        return Ok(Vec::new());
    }
    let covers = covers(plan)?;
    covers
        .into_iter()
        .filter_map(|cover| {
            let source = host_path(plan, Path::new(&cover.path))?;
            match ((ground.is_directory)(&source), cover.kind) {
                (Some(is_directory), kind) => {
                    Some(Ok(Covered { kind, target: cover.path, source, is_directory }))
                }
                // It was there when the plan was made, and may come back when nothing covers it.
                (None, CoverKind::Hidden) => Some(Err(Error::Setup {
                    step: format!("covering {}", cover.path),
                    reason: "it was moved away while the box was made".into(),
                })),
                (None, _) => None,
            }
        })
        .collect()
}

/// What of the host is at a path of the box.
fn host_path(plan: &BoxPlan, path: &Path) -> Option<PathBuf> {
    plan.mounts.iter().rev().find_map(|mount| {
        let rest = path.strip_prefix(&mount.target).ok()?;
        match &mount.source {
            MountSource::Host(source) if rest.as_os_str().is_empty() => Some(source.clone()),
            MountSource::Host(source) => Some(source.join(rest)),
            MountSource::Scratch | MountSource::Overlay { .. } => None,
        }
    })
}

/// What init does itself.
fn setup(plan: &BoxPlan) -> Result<Setup, Error> {
    let mut content = Content {
        writable: ALWAYS_WRITABLE.iter().chain(&["/dev/shm"]).map(|path| (*path).into()).collect(),
        ..Content::default()
    };
    for further in plan.container.iter().flat_map(|container| &container.tmpfs) {
        content.writable.push(text(&further.path)?);
    }
    for mount in &plan.mounts {
        let target = text(&mount.target)?;
        match &mount.source {
            MountSource::Scratch => content.writable.push(target),
            MountSource::Host(source) if mount.access == Access::ReadWrite => {
                content.binds.push(BindMount {
                    source: text(source)?,
                    target,
                    writable: true,
                    owned: mount.owned,
                    optional: false,
                });
            }
            MountSource::Host(_) | MountSource::Overlay { .. } => {}
        }
    }
    Ok(Setup {
        hostname: HOST_NAME.into(),
        disk: plan.limits.disk.get(),
        inodes: inodes(&plan.limits),
        on_base: false,
        content,
        covers: Vec::new(),
        loopback: plan.network == Network::Localhost,
        lend: plan.egress.as_ref().map(lend),
        cgroup: together(&plan.limits),
        rlimits: rlimits(&plan.limits),
        required: plan.required.clone(),
        without: plan.without.clone(),
    })
}

#[cfg(test)]
mod tests;
