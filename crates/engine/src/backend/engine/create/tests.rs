//! The container of a plan, field by field.

use std::collections::BTreeMap;

use super::*;
use crate::{Command, Container, Identity, Limits, Strength};

fn plan() -> BoxPlan {
    BoxPlan {
        container: Some(Container { image: "an/image".into(), runtime: None, tmpfs: Vec::new() }),
        mounts: vec![
            Mount::scratch("/home/box"),
            Mount::read_write("/host/work", "/workspace"),
            Mount::read_only("/host/data", "/data"),
        ],
        links: Vec::new(),
        files: Vec::new(),
        masked: Vec::new(),
        protected: Vec::new(),
        command: Command { argv: vec!["true".into()], env: BTreeMap::new(), cwd: "/".into() },
        identity: Identity { uid: 12, gid: 34 },
        limits: Limits::default(),
        network: Network::None,
        egress: None,
        required: Vec::new(),
        without: Vec::new(),
    }
}

fn ground(engine: BackendName) -> Ground {
    Ground {
        engine,
        rootless: false,
        init: "/cache/init".into(),
        files: vec![("/etc/passwd".into(), "/cache/passwd".into())],
        blind: "/cache/blind".into(),
        labels: HashMap::from([("fumehood.owner".into(), "us".into())]),
        most_processes: 1000,
        has_ipv6: true,
        is_directory: |path| match path.to_str()? {
            "/host/work/.env" => Some(false),
            "/host/work/secrets" | "/host/work/.git" | "/host/work/.git/hooks" => Some(true),
            _ => None,
        },
    }
}

fn made(plan: &BoxPlan, ground: &Ground) -> (ContainerCreateBody, HostConfig, BoxOrder) {
    let (mut body, order) = container(plan, ground).unwrap();
    let host = body.host_config.take().unwrap();
    (body, host, order)
}

fn bound(host: &HostConfig, target: &str) -> Option<(String, bool)> {
    let mounts = host.mounts.as_ref()?;
    let mount = mounts.iter().find(|mount| mount.target.as_deref() == Some(target))?;
    assert_eq!(mount.typ, Some(MountType::BIND));
    Some((mount.source.clone()?, mount.read_only?))
}

#[test]
fn a_container_has_nothing_that_it_does_not_need() {
    let plan = plan();
    let (body, host, _) = made(&plan, &ground(BackendName::Docker));
    assert_eq!(body.image.as_deref(), Some("an/image"));
    assert_eq!(body.user.as_deref(), Some("12:34"));
    assert_eq!(body.entrypoint.unwrap(), ["/fumehood/init", "box"]);
    assert_eq!((body.tty, body.open_stdin, body.stdin_once), (Some(false), Some(true), Some(true)));
    assert_eq!(body.labels.unwrap()["fumehood.owner"], "us");
    assert_eq!(host.auto_remove, Some(true));
    assert_eq!(host.network_mode.as_deref(), Some("none"));
    assert_eq!(host.readonly_rootfs, Some(true));
    assert_eq!(host.cap_drop.unwrap(), ["ALL"]);
    assert!(host.cap_add.is_none() && host.privileged.is_none() && host.devices.is_none());
    assert!(host.security_opt.unwrap().contains(&"no-new-privileges".to_owned()));
    let memory = plan.limits.memory.get().cast_signed();
    assert_eq!((host.memory, host.memory_swap), (Some(memory), Some(memory)));
    assert_eq!(host.pids_limit, Some(i64::from(plan.limits.pids) + 1));
    assert_eq!(host.nano_cpus, Some(i64::from(plan.limits.cpus.milli()) * 1_000_000));
    assert_eq!((host.runtime, host.userns_mode), (None, None));
}

#[test]
fn mounts_are_as_wide_as_the_plan_says() {
    let (_, host, order) = made(&plan(), &ground(BackendName::Docker));
    assert_eq!(bound(&host, "/fumehood/init"), Some(("/cache/init".into(), true)));
    assert_eq!(bound(&host, "/etc/passwd"), Some(("/cache/passwd".into(), true)));
    assert_eq!(bound(&host, "/workspace"), Some(("/host/work".into(), false)));
    assert_eq!(bound(&host, "/data"), Some(("/host/data".into(), true)));
    assert_eq!(host.mounts.as_ref().map(Vec::len), Some(4), "and nothing else of the host");
    let tmpfs = host.tmpfs.unwrap();
    let disk = plan().limits.disk.get();
    for place in ["/tmp", "/var/tmp", "/home/box"] {
        assert!(tmpfs[place].contains(&format!("size={disk},nr_inodes=")), "{place}");
        assert!(tmpfs[place].ends_with("uid=12,gid=34"), "{place}");
    }
    assert_eq!(tmpfs.len(), 3);
    assert_eq!(order.setup.content.writable, ["/tmp", "/var/tmp", "/dev/shm", "/home/box"]);
    let writable: Vec<&str> =
        order.setup.content.binds.iter().map(|bind| bind.target.as_str()).collect();
    assert_eq!(writable, ["/workspace"]);
}

#[test]
fn podman_gets_what_podman_understands() {
    let mut ground = ground(BackendName::Podman);
    let (_, host, _) = made(&plan(), &ground);
    let tmpfs = host.tmpfs.unwrap();
    assert!(!tmpfs["/tmp"].contains("uid="));
    assert!(tmpfs.values().all(|options| options.ends_with(",notmpcopyup")), "{tmpfs:?}");
    assert_eq!(host.userns_mode, None);
    ground.rootless = true;
    assert_eq!(made(&plan(), &ground).1.userns_mode.as_deref(), Some("keep-id"));
    let mut unwritable = plan();
    unwritable.mounts.remove(1);
    assert_eq!(made(&unwritable, &ground).1.userns_mode, None);
}

#[test]
fn covered_paths_are_mounts_of_their_own() {
    let mut plan = plan();
    let inside = |path: &str| Path::new("/workspace").join(path);
    plan.masked = vec![inside(".env"), inside("secrets")];
    plan.protected = vec![inside(".git/hooks"), inside("missing")];
    let (_, host, order) = made(&plan, &ground(BackendName::Docker));
    assert_eq!(bound(&host, "/workspace/.env"), Some(("/cache/blind".into(), true)));
    assert_eq!(bound(&host, "/workspace/.git"), Some(("/host/work/.git".into(), false)));
    assert_eq!(bound(&host, "/workspace/.git/hooks"), Some(("/host/work/.git/hooks".into(), true)));
    assert_eq!(bound(&host, "/workspace/missing"), None);
    assert!(host.tmpfs.unwrap()["/workspace/secrets"].contains("mode=0000"));
    let (_, of_podman, _) = made(&plan, &ground(BackendName::Podman));
    let options = &of_podman.tmpfs.unwrap()["/workspace/secrets"];
    assert!(options.ends_with(",notmpcopyup"), "or it would be filled with what it hides");
    let report = order.given.iter().find(|report| report.layer == Layer::CoveredPaths).unwrap();
    assert_eq!(report.detail, "2 hidden, 1 protected");
}

#[test]
fn what_is_to_be_hidden_and_is_gone_may_come_back() {
    let mut plan = plan();
    plan.masked = vec![Path::new("/workspace").join("missing")];
    let refused = container(&plan, &ground(BackendName::Docker)).err().unwrap().to_string();
    assert!(refused.contains("/workspace/missing"), "{refused}");
}

#[test]
fn a_layer_that_is_left_out_is_neither_asked_for_nor_claimed() {
    let mut plan = plan();
    plan.without =
        vec![Layer::ReadOnlyRoot, Layer::NetNamespace, Layer::Capabilities, Layer::Memory];
    let (_, host, order) = made(&plan, &ground(BackendName::Docker));
    assert_eq!(host.readonly_rootfs, Some(false));
    assert_eq!(host.network_mode.as_deref(), Some("host"));
    assert_eq!((host.cap_drop, host.memory), (None, None));
    assert!(order.given.iter().all(|report| !plan.without.contains(&report.layer)));
    assert_eq!(order.setup.without, plan.without);
}

#[test]
fn another_runtime_is_asked_for_by_name() {
    let mut plan = plan();
    plan.container =
        Some(Container { image: "x".into(), runtime: Some("runsc".into()), tmpfs: Vec::new() });
    assert_eq!(made(&plan, &ground(BackendName::Docker)).1.runtime.as_deref(), Some("runsc"));
}

#[test]
fn what_an_engine_cannot_do_is_not_claimed() {
    let disk = |engine: BackendName| {
        let order = made(&plan(), &ground(engine)).2;
        order.given.into_iter().find(|report| report.layer == Layer::Disk).unwrap().strength
    };
    assert_eq!(disk(BackendName::Docker), Strength::Full);
    assert_eq!(disk(BackendName::Podman), Strength::BestEffort, "files are not counted");
}

#[test]
fn loopback_has_both_addresses_where_there_are_two() {
    let mut plan = plan();
    let sysctls = |plan: &BoxPlan, ground: &Ground| made(plan, ground).1.sysctls;
    assert_eq!(sysctls(&plan, &ground(BackendName::Docker)), None);
    plan.network = Network::Localhost;
    let asked = sysctls(&plan, &ground(BackendName::Docker)).unwrap();
    assert_eq!(asked["net.ipv6.conf.lo.disable_ipv6"], "0");
    let without = Ground { has_ipv6: false, ..ground(BackendName::Docker) };
    assert_eq!(sysctls(&plan, &without), None);
}
