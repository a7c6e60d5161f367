//! One case: a name, where it applies, and what is done and expected.

use fumehood::{Layer, Outcome, Request};

use crate::{Place, Scene};

/// Something that must hold at a place for a case to mean anything there.
#[derive(Clone, Copy)]
pub struct Condition {
    holds: fn(&Place) -> bool,
    /// Said of the places where it does not hold.
    otherwise: &'static str,
}

impl Condition {
    /// A condition with the sentence for where it does not hold.
    pub const fn new(holds: fn(&Place) -> bool, otherwise: &'static str) -> Condition {
        Condition { holds, otherwise }
    }

    /// The place keeps programs away from the machine.
    pub const ISOLATED: Condition =
        Condition::new(|place| place.isolates, "nothing is isolated here");
    /// The place does not.
    pub const NOT_ISOLATED: Condition =
        Condition::new(|place| !place.isolates, "shows what a program reaches without a box");
    /// The tests run as root.
    pub const AS_ROOT: Condition = Condition::new(|place| place.as_root, "only root can try this");
    /// The kernel bounds writable space and the number of files in it.
    pub const DISK_LIMIT: Condition =
        Condition::new(|place| place.enforces(Layer::Disk), "the number of files is not bounded");
    /// The kernel holds the memory limit.
    pub const MEMORY_LIMIT: Condition =
        Condition::new(|place| place.enforces(Layer::Memory), "no memory controller for this user");
    /// The box does not see the cgroups of the host.
    pub const CGROUP_NAMESPACE: Condition = Condition::new(
        |place| place.enforces(Layer::CgroupNamespace),
        "the engine shows the cgroups of the host",
    );
    /// The kernel has Landlock.
    pub const LANDLOCK: Condition =
        Condition::new(|place| place.enforces(Layer::Landlock), "this kernel has no Landlock");
    /// A directory can be shown as a copy of itself.
    pub const OVERLAY: Condition = Condition::new(
        |place| place.backend == fumehood::BackendName::Native,
        "nothing shows a directory as a copy here",
    );
    /// It cannot.
    pub const NO_OVERLAY: Condition = Condition::new(
        |place| place.backend != fumehood::BackendName::Native,
        "a directory can be shown as a copy here",
    );
    /// Boxes are lent connections by a gate.
    pub const GATE: Condition = Condition::new(|place| place.isolates, "boxes have no gate here");
    /// They are not.
    pub const NO_GATE: Condition =
        Condition::new(|place| !place.isolates, "boxes have a gate here");
    /// Boxes are containers of an engine.
    pub const ENGINE: Condition =
        Condition::new(|place| place.image.is_some(), "there is no engine here");
    /// The engine is Docker.
    pub const DOCKER: Condition = Condition::new(
        |place| place.backend == fumehood::BackendName::Docker,
        "one engine is enough for it",
    );
    /// Boxes open in milliseconds, so that hundreds of them can be tried.
    pub const FAST: Condition =
        Condition::new(|place| place.image.is_none(), "an engine would take minutes for it");
    /// The kernel holds the processor limit.
    pub const CPU_LIMIT: Condition =
        Condition::new(|place| place.enforces(Layer::Cpu), "no cpu controller for this user");
}

type Steps = Box<dyn Fn(&Scene) + Send + Sync>;

/// One thing that must be so, at every place where it applies.
pub struct Case {
    pub(crate) name: String,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) steps: Steps,
}

impl Case {
    /// A case of one request and what its outcome must be.
    pub fn new(
        name: impl Into<String>,
        request: impl Fn(&Scene) -> Request + Send + Sync + 'static,
        expect: impl Fn(&Scene, &Outcome) + Send + Sync + 'static,
    ) -> Case {
        Case::steps(name, move |scene| {
            let outcome = scene.run(request(scene));
            expect(scene, &outcome);
        })
    }

    /// A case that takes more than one request.
    pub fn steps(name: impl Into<String>, steps: impl Fn(&Scene) + Send + Sync + 'static) -> Case {
        Case { name: name.into(), conditions: Vec::new(), steps: Box::new(steps) }
    }

    /// The case applies only where this holds too.
    #[must_use]
    pub fn only(mut self, condition: Condition) -> Case {
        self.conditions.push(condition);
        self
    }

    /// Why the case does not apply at a place; `None` where it does.
    pub(crate) fn pointless_at(&self, place: &Place) -> Option<&'static str> {
        self.conditions
            .iter()
            .find(|condition| !(condition.holds)(place))
            .map(|condition| condition.otherwise)
    }
}
