//! The catalogue of attacks, a case for each row: stopped, and not stopped where the layer that
//! stops it is off. What cannot be switched off is said in the catalogue.

use fumehood::{
    Layer,
    verify::{self, Row, TwinVerdict, Verdict},
};
use fumehood_tests::{Case, Condition, Scene};

pub fn cases() -> Vec<Case> {
    // What looks at the machine as a whole is with the tests of the machine.
    verify::rows().filter(|row| !row.wants_quiet()).map(case).collect()
}

fn case(row: &'static Row) -> Case {
    let case = Case::steps(format!("attacks::{}", row.id), move |scene| attack(scene, row));
    let case = row.needs().into_iter().fold(case.only(Condition::ISOLATED), |case, layer| {
        case.only(match layer {
            Layer::Cpu => Condition::CPU_LIMIT,
            Layer::Disk => Condition::DISK_LIMIT,
            Layer::Memory => Condition::MEMORY_LIMIT,
            Layer::CgroupNamespace => Condition::CGROUP_NAMESPACE,
            _ => Condition::LANDLOCK,
        })
    });
    // An engine opens mount sources itself, by their paths.
    if row.id == "F2" { case.only(Condition::FAST) } else { case }
}

fn attack(scene: &Scene, row: &'static Row) {
    let finding = scene.attack(row);
    assert_eq!(finding.verdict, Verdict::Stopped, "{finding:#?}");
    let twin = finding.twin.expect("it was asked for");
    assert_ne!(twin.verdict, TwinVerdict::NotShown, "{twin:#?}");
}
