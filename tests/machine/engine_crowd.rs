//! A hundred containers at once, of which a third time out and a third lose their supervisor:
//! afterwards the engine has what it had before, and nothing more.

use std::{
    collections::BTreeSet,
    process::Child,
    thread,
    time::{Duration, Instant},
};

use fumehood_tests::{Case, Condition, Scene};
use serde_json::Value;

use crate::{
    engines::ask,
    residue::{assert_as_before, at_rest},
    tool::Tool,
};

const RUNS: usize = 100;
/// Two cores need a minute or two for a hundred containers.
const PATIENCE: Duration = Duration::from_secs(400);

pub fn cases() -> Vec<Case> {
    vec![Case::steps("engines::a_hundred_at_once", a_hundred).only(Condition::ENGINE)]
}

fn a_hundred(scene: &Scene) {
    let tool = Tool::find(scene);
    let start = |number: usize| -> Child {
        let mut command = match number % 3 {
            0 => tool.exec(scene, &["/bin/true"]),
            1 => tool.exec_with(scene, &["--timeout", "2s", "--grace", "100ms"], &["sleep", "600"]),
            _ => tool.exec(scene, &["sleep", "600"]),
        };
        command.spawn().expect("it starts")
    };
    assert!(start(0).wait().expect("an end").success(), "the first one prepares what all share");
    let (before, of_engine) = (at_rest(scene.path()), holdings(scene));
    let deadline = Instant::now() + PATIENCE;
    let mut children: Vec<(usize, Child)> =
        (0..RUNS).map(|number| (number, start(number))).collect();
    // Some of those that are killed have no container yet, some have one, some are being made.
    thread::sleep(Duration::from_secs(4));
    for (_, child) in children.iter_mut().filter(|(number, _)| number % 3 == 2) {
        child.kill().expect("it is ours");
        thread::sleep(Duration::from_millis(100));
    }
    let mut wrong = Vec::new();
    for (number, child) in &mut children {
        let status = loop {
            if let Some(status) = child.try_wait().expect("its state") {
                break status;
            }
            assert!(Instant::now() < deadline, "run {number} hangs");
            thread::sleep(Duration::from_millis(20));
        };
        let expected = [Some(0), Some(124), None][*number % 3];
        if status.code() != expected {
            wrong.push((*number, status));
        }
    }
    assert_eq!(wrong, [], "of {RUNS}");
    // The next one sweeps what the killed ones left. An engine with much to do still makes
    // containers for them after they are gone: those are left to the one after that.
    loop {
        assert!(start(0).wait().expect("an end").success());
        thread::sleep(Duration::from_secs(1));
        let now = holdings(scene);
        let left: Vec<&String> = now.difference(&of_engine).collect();
        if left.is_empty() {
            break;
        }
        assert!(Instant::now() < deadline, "left: {left:?}");
    }
    assert_as_before(&before, scene.path());
}

/// Containers, volumes and images of the engine, with the layers that images are made of.
fn holdings(scene: &Scene) -> BTreeSet<String> {
    let names = |path: &str, list: &str, key: &str| -> Vec<String> {
        let answer = ask(scene, "GET", path, "");
        let all = if list.is_empty() { &answer } else { &answer[list] };
        let one = |one: &Value| one[key].as_str().map(|name| format!("{path} {name}"));
        all.as_array().into_iter().flatten().filter_map(one).collect()
    };
    let mut all: BTreeSet<String> = names("/containers/json?all=1", "", "Id").into_iter().collect();
    all.extend(names("/volumes", "Volumes", "Name"));
    all.extend(names("/images/json?all=1", "", "Id"));
    all
}
