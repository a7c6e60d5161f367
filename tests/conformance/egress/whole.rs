//! What an outcome and the ledger say of the network.

use fumehood::{Layer, Strength};
use fumehood_tests::{Case, Condition, Scene, lines, python, shell};

use super::{TRY, lent};

pub fn cases() -> Vec<Case> {
    let all = [
        Case::new(
            "egress::reported",
            |_| lent(shell("true"), &["near.test"]),
            |_, outcome| {
                let layer = outcome.enforced.get(Layer::NetNamespace).expect("a report");
                assert_eq!(layer.strength, Strength::Full);
                assert!(layer.detail.contains("lent by the gate"), "{}", layer.detail);
            },
        ),
        Case::steps("egress::planned", planned),
        Case::steps("egress::refusals_are_bounded", refusals_are_bounded),
    ];
    all.into_iter().map(|case| case.only(Condition::GATE)).collect()
}

/// The rules are part of the plan, and of its digest.
fn planned(scene: &Scene) {
    let plan = |allow: &[&str]| {
        let request = scene.place.request(lent(shell("true"), allow));
        scene.sandbox().plan(&request).expect("a plan")
    };
    let one = plan(&["near.test"]);
    let egress = one.run.egress.as_ref().expect("rules");
    assert_eq!(egress.allow[0].pattern.to_string(), "near.test");
    assert!(egress.allow[0].origin.contains("the policy"), "{}", egress.allow[0].origin);
    assert_eq!(one.digest(), plan(&["near.test"]).digest());
    assert_ne!(one.digest(), plan(&["far.test"]).digest());
}

fn refusals_are_bounded(scene: &Scene) {
    let source = format!("{TRY}for n in range(30): talk(f'n{{n}}.test', 80)\nprint('done')");
    let outcome = scene.run(lent(python(&source), &["near.test"]));
    assert_eq!(lines(&outcome), ["done"]);
    assert_eq!(outcome.network.len(), 30);
    assert_eq!(outcome.violations.len(), 6);
    assert_eq!(outcome.violations[5].message, "the gate refused 25 more");
}
