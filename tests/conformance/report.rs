//! What an outcome says of the box it came from: all of it, and nothing that is not so.

use fumehood::{Layer, Phase, Strength};
use fumehood_tests::{Case, Condition, assert_printed, command_line, python};

/// What a native box has on every machine that can open one, with root and without.
const ALWAYS: &[Layer] = &[
    Layer::UserNamespace,
    Layer::MountNamespace,
    Layer::PidNamespace,
    Layer::NetNamespace,
    Layer::IpcNamespace,
    Layer::UtsNamespace,
    Layer::ReadOnlyRoot,
    Layer::Seccomp,
    Layer::Landlock,
    Layer::Capabilities,
    Layer::NoNewPrivileges,
    Layer::Disk,
    Layer::Files,
    Layer::Descriptors,
    Layer::Nesting,
];

/// What depends on the engine and on how it was started.
const ENGINES_MAY_LACK: &[Layer] = &[Layer::UserNamespace, Layer::Disk, Layer::Nesting];

/// What root has besides, on a machine with cgroups.
const WITH_ROOT: &[Layer] = &[Layer::Memory, Layer::Cpu, Layer::Pids];

pub fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "report::enforced",
            |_| python("print(6 * 7)"),
            |scene, outcome| {
                assert_printed(outcome, "42\n");
                assert!(outcome.memory_used > 0);
                for layer in Layer::ALL {
                    let report = outcome.enforced.get(*layer);
                    let report = report.unwrap_or_else(|| panic!("nothing is said of {layer}"));
                    assert!(!report.detail.is_empty(), "{layer} says how, or why not");
                }
                let strength = |layer: Layer| outcome.enforced.strength(layer);
                let image = scene.place.image.is_some();
                let may_lack = |layer: &Layer| image && ENGINES_MAY_LACK.contains(layer);
                for layer in ALWAYS.iter().filter(|layer| !may_lack(layer)) {
                    assert_eq!(strength(*layer), Strength::Full, "{layer}");
                }
                for layer in WITH_ROOT.iter().filter(|_| scene.place.as_root) {
                    assert_eq!(strength(*layer), Strength::Full, "{layer}");
                }
            },
        )
        .only(Condition::ISOLATED),
        Case::steps("report::what_was_left_out", |scene| {
            let request = command_line(&["/bin/true"]);
            let outcome = scene.run_without(request, &[Layer::Seccomp, Layer::Landlock]);
            assert!(outcome.success);
            assert_eq!(outcome.enforced.strength(Layer::Seccomp), Strength::Off);
            assert_eq!(outcome.enforced.strength(Layer::Landlock), Strength::Off);
            assert_eq!(outcome.enforced.strength(Layer::PidNamespace), Strength::Full);
        })
        .only(Condition::ISOLATED),
        Case::new(
            "report::nothing_enforced",
            |_| command_line(&["/bin/true"]),
            |_, outcome| {
                for layer in Layer::ALL {
                    let report = outcome.enforced.get(*layer).expect("every layer is named");
                    assert_eq!(report.strength, Strength::Off, "{layer}");
                }
            },
        )
        .only(Condition::NOT_ISOLATED),
        Case::new(
            "report::usage",
            |_| {
                python(
                    "import time\n\
                     end = time.process_time() + 0.3\n\
                     while time.process_time() < end: pass",
                )
            },
            |_, outcome| {
                let stats = &outcome.stats;
                let processor = stats.user_time + stats.system_time;
                assert!((0.28..1.5).contains(&processor), "{processor} s of processor time");
                assert!(stats.wall_time >= 0.28, "{} s", stats.wall_time);
                assert!(stats.memory_peak > 1 << 20, "{} bytes", stats.memory_peak);
                assert_eq!(outcome.memory_used, stats.memory_peak);
                assert!(stats.start_time > 0.0 && stats.start_time < 60.0);
            },
        ),
        Case::steps("report::names_and_digests", |scene| {
            let runs = [(); 3].map(|()| scene.run(command_line(&["/bin/true"])));
            assert!(runs[0].id < runs[1].id && runs[1].id < runs[2].id, "ids sort by time");
            if scene.place.isolates {
                // Without a box each run has a directory of its own, which its plan names.
                assert_eq!(runs[0].plan_digest, runs[1].plan_digest, "the same plan");
            }
            let other = scene.run(command_line(&["/bin/true", "differently"]));
            assert_ne!(other.plan_digest, runs[0].plan_digest);
            assert_eq!(other.backend, scene.place.backend);
            assert_eq!(other.phases.last().map(|phase| phase.phase), Some(Phase::Run));
        }),
    ]
}
