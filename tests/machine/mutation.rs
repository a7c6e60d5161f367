//! Every layer is taken away in turn, and at least one attack must notice. A layer that nobody
//! notices could be gone tomorrow; those that may be are a list with reasons.

use std::collections::BTreeMap;

use fumehood::{
    BackendName, Error, Layer,
    verify::{self, NOT_NOTICED, Row, TwinVerdict, Verdict, Verification},
};
use fumehood_tests::{Case, Condition, Scene};

pub fn cases() -> Vec<Case> {
    let native = Condition::new(
        |place| place.backend == BackendName::Native,
        "an engine does not build boxes without its own walls",
    );
    let quiet = verify::rows().filter(|row| row.wants_quiet()).map(|row| {
        Case::steps(format!("attacks::{}", row.id), move |scene| {
            let finding = scene.attack(row);
            assert_eq!(finding.verdict, Verdict::Stopped, "{finding:#?}");
            let twin = finding.twin.as_ref().map(|twin| &twin.verdict);
            assert_eq!(twin, Some(&TwinVerdict::Shown), "{finding:#?}");
        })
        .only(Condition::ISOLATED)
    });
    let all = [
        Case::steps("mutation::every_layer_is_noticed", every_layer),
        Case::steps("mutation::the_list_of_those_that_are_not_is_true", the_list),
    ];
    all.into_iter().map(|case| case.only(native)).chain(quiet).collect()
}

fn row(id: &str) -> &'static Row {
    verify::rows().find(|row| row.id == id).expect("a row")
}

/// Whether an attack gets through; `None` if no box is built.
fn gets_through(scene: &Scene, row: &'static Row, layers: &[Layer]) -> Option<bool> {
    let attack =
        async |verification: &Verification| verification.gets_through_without(row, layers).await;
    match scene.with_verification(attack) {
        Ok(through) => Some(through),
        Err(Error::Setup { .. } | Error::NotEnforced { .. }) => None,
        Err(error) => panic!("{} without {layers:?}: {error}", row.id),
    }
}

fn every_layer(scene: &Scene) {
    let explained = |layer: &Layer| NOT_NOTICED.iter().any(|one| one.layer == *layer);
    let mut survivors = Vec::new();
    let mut noticed = BTreeMap::new();
    for layer in Layer::ALL.iter().copied().filter(|layer| !explained(layer)) {
        // Where a limit needs a cgroup that this user does not have, there is nothing to take away.
        if !scene.place.enforces(layer) {
            continue;
        }
        // First those that name it.
        let (naming, others): (Vec<_>, Vec<_>) = verify::rows()
            .filter(|row| row.runs_inside())
            .partition(|row| row.layers.contains(&layer));
        let by = naming
            .into_iter()
            .chain(others)
            .find(|row| gets_through(scene, row, &[layer]) == Some(true));
        match by {
            Some(row) => drop(noticed.insert(layer, row.id)),
            None => survivors.push(layer),
        }
    }
    assert_eq!(survivors, [], "no attack notices that these are gone; noticed: {noticed:?}");
}

/// Layers are explained for a reason that still holds.
fn the_list(scene: &Scene) {
    let without = |id: &str, layers: &[Layer]| gets_through(scene, row(id), layers);
    for layer in [Layer::UserNamespace, Layer::MountNamespace, Layer::NoNewPrivileges] {
        assert_eq!(without("K5", &[layer]), None, "no box is built without {layer}");
    }
    // The second wall holds where the first is gone, and only both together give way.
    assert_eq!(without("K6", &[Layer::Nesting]), Some(false));
    if scene.place.enforces(Layer::Nesting) {
        assert_eq!(without("K6", &[Layer::Seccomp]), Some(false));
    }
    assert_eq!(without("K6", &[Layer::Seccomp, Layer::Nesting]), Some(true));
    assert_eq!(without("K2", &[Layer::Descriptors]), Some(false));
}
