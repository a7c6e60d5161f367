//! Cgroups by hand: version 2, version 1, both at once on hybrid hosts, or none.
//!
//! Each box gets a directory named after its launcher below a directory `fumehood` that is ours.

mod hierarchy;
mod version1;
mod version2;

use alloc::{string::String, vec::Vec};

use fumehood_core::{
    Layer,
    protocol::{BoxUsage, CgroupLimits},
};
use rustix::fd::{AsFd, BorrowedFd};

use crate::held::{Held, Means};

use self::{
    hierarchy::{Directory, Hierarchies},
    version1::Controller,
};

/// The hierarchies in which boxes can be put.
pub(super) struct Cgroups {
    version_1: Vec<(Controller, Directory)>,
    version_2: Option<Directory>,
    /// Which controllers version 2 has for us.
    version_2_controllers: Vec<Layer>,
}

/// The cgroups of one box.
pub(super) struct BoxCgroup {
    name: String,
    version_1: Vec<(Controller, Directory, Directory)>,
    version_2: Option<(Directory, Directory)>,
    version_2_controllers: Vec<Layer>,
}

impl Cgroups {
    /// Finds what this process may use. Finding nothing is not an error: it is reported with
    /// every box.
    pub(super) fn find() -> Cgroups {
        let hierarchies = Hierarchies::read();
        let (version_2, version_2_controllers) = version2::find(&hierarchies);
        let version_1 = version1::find(&hierarchies);
        Cgroups { version_1, version_2, version_2_controllers }
    }

    /// Makes the cgroups of a box, as far as that works.
    pub(super) fn make(&self, name: &str) -> BoxCgroup {
        BoxCgroup {
            name: name.into(),
            version_1: self
                .version_1
                .iter()
                .filter_map(|(controller, parent)| {
                    Some((*controller, parent.duplicate()?, parent.make(name)?))
                })
                .collect(),
            version_2: self
                .version_2
                .as_ref()
                .and_then(|parent| Some((parent.duplicate()?, parent.make(name)?))),
            version_2_controllers: self.version_2_controllers.clone(),
        }
    }

    /// Removes directories whose launcher is gone. Only empty ones can be removed, so a living
    /// box is never touched.
    pub(super) fn sweep(&self) {
        let all = self.version_1.iter().map(|(_, directory)| directory).chain(&self.version_2);
        for directory in all {
            directory.sweep();
        }
    }
}

impl BoxCgroup {
    /// The version 2 cgroup in which the box is born.
    pub(super) fn version_2(&self) -> Option<BorrowedFd<'_>> {
        self.version_2.as_ref().map(|(_, own)| own.as_fd())
    }

    /// The files by which a process of the box joins its version 1 cgroups.
    pub(super) fn version_1_tasks(&self) -> impl Iterator<Item = rustix::fd::OwnedFd> {
        self.version_1.iter().filter_map(|(_, _, own)| own.open_for_writing("tasks"))
    }

    /// Sets the limits and says which of them hold.
    pub(super) fn limit(&self, limits: &CgroupLimits, without: &[Layer]) -> Held {
        let mut held = Held::default();
        for layer in [Layer::Memory, Layer::Pids, Layer::Cpu] {
            if without.contains(&layer) {
                continue;
            }
            let by_version_2 = self.version_2_controllers.contains(&layer)
                && self
                    .version_2
                    .as_ref()
                    .is_some_and(|(_, own)| version2::limit(own, layer, limits));
            if by_version_2 {
                held.add(layer, Means::Version2);
                continue;
            }
            let by_version_1 = self
                .version_1
                .iter()
                .filter(|(controller, ..)| controller.layer() == layer)
                .any(|(controller, _, own)| controller.limit(own, limits));
            if by_version_1 {
                held.add(layer, Means::Version1);
            }
        }
        held
    }

    /// Kills every process of the box where the kernel can do that in one go.
    pub(super) fn kill(&self) {
        if let Some((_, own)) = &self.version_2 {
            own.write("cgroup.kill", b"1");
        }
    }

    /// What the box used.
    pub(super) fn usage(&self) -> BoxUsage {
        let mut usage = BoxUsage::default();
        for (controller, _, own) in &self.version_1 {
            controller.read_usage(own, &mut usage);
        }
        if let Some((_, own)) = &self.version_2 {
            version2::read_usage(own, &self.version_2_controllers, &mut usage);
        }
        usage
    }

    /// Removes the cgroups of a box whose processes are gone.
    pub(super) fn remove(&self) {
        for (_, parent, _) in &self.version_1 {
            parent.remove(&self.name);
        }
        if let Some((parent, _)) = &self.version_2 {
            parent.remove(&self.name);
        }
    }
}
