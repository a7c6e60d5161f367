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
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::{
    held::{Held, Means},
    meters::{Meter, Meters},
};

use self::{
    hierarchy::{Directory, Hierarchies},
    version1::Controller,
};

/// The hierarchies in which boxes can be put.
pub(super) struct Cgroups {
    hierarchies: Hierarchies,
    version_2: Option<Directory>,
    /// Which controllers version 2 has for us.
    version_2_controllers: Vec<Layer>,
    /// Found when the first box needs them.
    version_1: Option<Vec<(Controller, Directory)>>,
}

/// The cgroups of one box that is not running yet. Afterwards its name is enough.
pub(super) struct BoxCgroup {
    pub(super) name: String,
    version_1: Vec<(Controller, Directory)>,
    version_2: Option<Directory>,
    version_2_controllers: Vec<Layer>,
}

impl Cgroups {
    /// Finds what this process may use. Finding nothing is not an error: it is reported with
    /// every box.
    pub(super) fn find() -> Cgroups {
        let hierarchies = Hierarchies::read();
        let (version_2, version_2_controllers) = version2::find(&hierarchies);
        Cgroups { hierarchies, version_2, version_2_controllers, version_1: None }
    }

    /// Makes the version 2 cgroup of a box, in which its first process is born: to be moved there
    /// later would make it wait for every processor of the machine.
    pub(super) fn begin(&self, name: &str) -> BoxCgroup {
        BoxCgroup {
            name: name.into(),
            version_1: Vec::new(),
            version_2: self.version_2.as_ref().and_then(|parent| parent.make(name)),
            version_2_controllers: self.version_2_controllers.clone(),
        }
    }

    /// Makes the version 1 cgroups of a box, which its process joins by itself.
    pub(super) fn complete(&mut self, cgroup: &mut BoxCgroup) {
        let found = self.version_1.get_or_insert_with(|| version1::find(&self.hierarchies));
        cgroup.version_1 = found
            .iter()
            .filter_map(|(controller, parent)| Some((*controller, parent.make(&cgroup.name)?)))
            .collect();
    }

    /// Our directory of every hierarchy.
    fn parents(&self) -> impl Iterator<Item = &Directory> {
        self.version_1.iter().flatten().map(|(_, directory)| directory).chain(&self.version_2)
    }

    /// Kills every process of a box where the kernel can do that in one go.
    pub(super) fn kill(&self, name: &str) {
        if let Some(own) = self.version_2.as_ref().and_then(|parent| parent.open_below(name)) {
            own.write("cgroup.kill", b"1");
        }
    }

    /// What a box used, for when its init did not live to tell.
    pub(super) fn usage(&self, name: &str) -> BoxUsage {
        let below = |parent: &Directory| parent.open_below(name);
        BoxCgroup {
            name: name.into(),
            version_1: self
                .version_1
                .iter()
                .flatten()
                .filter_map(|(controller, parent)| Some((*controller, below(parent)?)))
                .collect(),
            version_2: self.version_2.as_ref().and_then(below),
            version_2_controllers: self.version_2_controllers.clone(),
        }
        .meters()
        .read()
    }

    /// Removes the cgroups of a box whose processes are gone.
    pub(super) fn remove(&self, name: &str) {
        for parent in self.parents() {
            parent.remove(name);
        }
    }

    /// Removes directories whose launcher is gone. Only empty ones can be removed, so a living
    /// box is never touched.
    pub(super) fn sweep(&self) {
        for directory in self.parents() {
            directory.sweep();
        }
    }
}

impl BoxCgroup {
    /// The version 2 cgroup in which the box is born.
    pub(super) fn version_2(&self) -> Option<BorrowedFd<'_>> {
        self.version_2.as_ref().map(AsFd::as_fd)
    }

    /// The files by which a process of the box joins its version 1 cgroups.
    pub(super) fn joins(&self) -> Vec<OwnedFd> {
        self.version_1.iter().filter_map(|(_, own)| own.open_for_writing("tasks")).collect()
    }

    /// The files that tell what the box used.
    pub(super) fn meters(&self) -> Meters {
        let mut meters = Vec::new();
        let mut open = |directory: &Directory, files: &[(Meter, &str)]| {
            for (meter, name) in files {
                if let Some(file) = directory.open_for_reading(name) {
                    meters.push((*meter, file));
                }
            }
        };
        for (controller, own) in &self.version_1 {
            open(own, controller.meters());
        }
        if let Some(own) = &self.version_2 {
            for layer in &self.version_2_controllers {
                open(own, version2::meters(*layer));
            }
        }
        Meters(meters)
    }

    /// Sets the limits and says which of them hold.
    pub(super) fn limit(&self, limits: &CgroupLimits, without: &[Layer]) -> Held {
        let mut held = Held::default();
        for layer in [Layer::Memory, Layer::Pids, Layer::Cpu] {
            if without.contains(&layer) {
                continue;
            }
            let by_version_2 = self.version_2_controllers.contains(&layer)
                && self.version_2.as_ref().is_some_and(|own| version2::limit(own, layer, limits));
            if by_version_2 {
                held.add(layer, Means::Version2);
                continue;
            }
            let by_version_1 = self
                .version_1
                .iter()
                .filter(|(controller, _)| controller.layer() == layer)
                .any(|(controller, own)| controller.limit(own, limits));
            if by_version_1 {
                held.add(layer, Means::Version1);
            }
        }
        held
    }
}
