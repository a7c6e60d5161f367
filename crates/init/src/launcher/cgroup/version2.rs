//! Version 2: one hierarchy, controllers switched on level by level.

use alloc::{format, string::String, vec::Vec};

use fumehood_core::{Layer, protocol::CgroupLimits};
use rustix::fs::{Access, access};

use super::hierarchy::{Directory, Hierarchies};
use crate::{
    held::Means,
    meters::{self, Meter},
};

/// Our directory in the unified hierarchy, and the layers it can enforce for boxes below it.
///
/// Root takes the top. An ordinary user takes the highest cgroup above its own that was delegated
/// to it, if any.
pub(super) fn find(hierarchies: &Hierarchies) -> (Option<Directory>, Vec<Layer>) {
    let nothing = (None, Vec::new());
    let Some(unified) = hierarchies.all.iter().find(|hierarchy| hierarchy.version_2) else {
        return nothing;
    };
    let Some(parent_path) = delegated(&unified.mount_point, &hierarchies.own_path) else {
        return nothing;
    };
    let Some(parent) = Directory::open(&parent_path) else { return nothing };
    let Some(own) = parent.make("fumehood") else { return nothing };
    if own.open_for_writing("cgroup.procs").is_none() {
        return nothing;
    }
    let listed = |directory: &Directory, file: &str| directory.read(file).unwrap_or_default();
    let has = |list: &str, name: &str| list.split_whitespace().any(|one| one == name);
    // On hybrid hosts this is empty, and there is nothing more to look at.
    let offered = listed(&parent, "cgroup.controllers");
    let mut layers = Vec::new();
    for (name, layer) in [("memory", Layer::Memory), ("pids", Layer::Pids), ("cpu", Layer::Cpu)] {
        if !has(&offered, name) {
            continue;
        }
        let switch = format!("+{name}");
        for directory in [&parent, &own] {
            if !has(&listed(directory, "cgroup.subtree_control"), name) {
                directory.write("cgroup.subtree_control", switch.as_bytes());
            }
        }
        if has(&listed(&own, "cgroup.subtree_control"), name) {
            layers.push(layer);
        }
    }
    (Some(own), layers)
}

fn delegated(mount_point: &str, own_path: &str) -> Option<String> {
    if rustix::process::geteuid().is_root() {
        return Some(mount_point.into());
    }
    let mut highest = None;
    let mut path = own_path;
    while path.len() > 1 {
        let candidate = format!("{mount_point}{path}");
        let ours = ["", "/cgroup.procs", "/cgroup.subtree_control"]
            .iter()
            .all(|file| access(format!("{candidate}{file}"), Access::WRITE_OK).is_ok());
        if ours {
            highest = Some(candidate);
        }
        path = path.rfind('/').map_or("", |slash| &path[..slash]);
    }
    highest
}

/// Sets a limit; says whether it holds.
pub(super) fn limit(own: &Directory, layer: Layer, limits: &CgroupLimits) -> bool {
    match layer {
        Layer::Memory => {
            let set = own.write_number("memory.max", limits.memory);
            // Absent on kernels without swap.
            own.write("memory.swap.max", b"0");
            set
        }
        // One more for the init of the box.
        Layer::Pids => own.write_number("pids.max", u64::from(limits.pids) + 1),
        Layer::Cpu => {
            let quota = (u64::from(limits.milli_cores) * 100).max(1000);
            own.write("cpu.max", format!("{quota} 100000").as_bytes())
        }
        _ => false,
    }
}

/// The files that tell what the box used, for the layers that version 2 enforces.
pub(super) fn meters(layer: Layer) -> &'static [(Meter, &'static str)] {
    meters::files(layer, Means::Version2)
}
