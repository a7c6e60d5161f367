//! Version 1: one hierarchy per controller.

use alloc::vec::Vec;

use fumehood_core::{Layer, protocol::CgroupLimits};

use super::hierarchy::{Directory, Hierarchies};
use crate::{
    held::Means,
    meters::{self, Meter},
};

/// The controllers that limit a box.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Controller {
    Memory,
    Pids,
    Cpu,
}

/// Our directory in each hierarchy that has a controller we use and lets us in.
pub(super) fn find(hierarchies: &Hierarchies) -> Vec<(Controller, Directory)> {
    let controllers =
        [("memory", Controller::Memory), ("pids", Controller::Pids), ("cpu", Controller::Cpu)];
    let mut found = Vec::new();
    for (name, controller) in controllers {
        let directory = hierarchies
            .all
            .iter()
            .filter(|hierarchy| !hierarchy.version_2)
            .filter(|hierarchy| hierarchy.options.split(',').any(|option| option == name))
            .find_map(|hierarchy| Directory::open(&hierarchy.mount_point)?.make("fumehood"))
            // Readable by all, but ours only if a file in it can be written.
            .filter(|directory| directory.open_for_writing("tasks").is_some());
        if let Some(directory) = directory {
            found.push((controller, directory));
        }
    }
    found
}

impl Controller {
    pub(super) fn layer(self) -> Layer {
        match self {
            Controller::Memory => Layer::Memory,
            Controller::Pids => Layer::Pids,
            Controller::Cpu => Layer::Cpu,
        }
    }

    /// Sets the limit; says whether it holds.
    pub(super) fn limit(self, own: &Directory, limits: &CgroupLimits) -> bool {
        match self {
            Controller::Memory => {
                let set = own.write_number("memory.limit_in_bytes", limits.memory);
                // Absent on kernels that do not account swap.
                own.write_number("memory.memsw.limit_in_bytes", limits.memory);
                set
            }
            // One more for the init of the box.
            Controller::Pids => own.write_number("pids.max", u64::from(limits.pids) + 1),
            Controller::Cpu => {
                let quota = u64::from(limits.milli_cores) * 100;
                own.write_number("cpu.cfs_period_us", 100_000)
                    && own.write_number("cpu.cfs_quota_us", quota.max(1000))
            }
        }
    }

    /// The files that tell what the box used.
    pub(super) fn meters(self) -> &'static [(Meter, &'static str)] {
        meters::files(self.layer(), Means::Version1)
    }
}
