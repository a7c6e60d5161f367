//! Many boxes at once, from many threads, each with its own answer.

use std::{
    thread,
    time::{Duration, Instant},
};

use fumehood::{Outcome, Run};
use fumehood_tests::{Case, Condition, Scene, shell, with_limits};

const THREADS: usize = 8;
const BOXES_PER_THREAD: usize = 25;
const PATIENCE: Duration = Duration::from_secs(60);

pub fn cases() -> Vec<Case> {
    vec![
        Case::steps("crowd::two_hundred_at_once", two_hundred_at_once)
            .only(Condition::ISOLATED)
            .only(Condition::FAST),
        Case::steps("crowd::one_launcher_many_in_a_row", |scene| {
            for number in 0..100 {
                let outcome = scene.run(shell(&format!("echo {number}")));
                assert_eq!(outcome.stdout.text(), format!("{number}\n"));
            }
        })
        .only(Condition::FAST),
    ]
}

/// Every box waits until a file appears, which happens when all of them wait: they are alive at
/// the same time, whatever the order in which they were opened.
fn two_hundred_at_once(scene: &Scene) {
    let gate = scene.directory("gate");
    let outcomes: Vec<Outcome> = thread::scope(|threads| {
        let workers: Vec<_> = (0..THREADS)
            .map(|thread| {
                let gate = &gate;
                threads.spawn(move || {
                    let runs: Vec<Run> = (0..BOXES_PER_THREAD)
                        .map(|number| {
                            let number = thread * BOXES_PER_THREAD + number;
                            scene.start(waiting(number, gate))
                        })
                        .collect();
                    runs.into_iter()
                        .map(|run| scene.block_on(run.outcome()).expect("an outcome"))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        let all_there = || std::fs::read_dir(&gate).expect("the gate").count();
        let started = Instant::now();
        while all_there() < THREADS * BOXES_PER_THREAD && started.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(50));
        }
        // Opened in any case: what is there must not wait for what will never come.
        let count = all_there();
        std::fs::write(gate.join("open"), "").expect("the gate opens");
        assert_eq!(count, THREADS * BOXES_PER_THREAD, "boxes at once within {PATIENCE:?}");
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker")).collect()
    });
    assert_eq!(outcomes.len(), THREADS * BOXES_PER_THREAD);
    for (number, outcome) in outcomes.iter().enumerate() {
        assert!(outcome.success, "box {number}: {:?} {:?}", outcome.status, outcome.error);
        assert_eq!(outcome.stdout.text(), format!("box {number}\n"));
        assert_eq!(outcome.stderr.text(), format!("{}\n", number * number));
    }
}

fn waiting(number: usize, gate: &std::path::Path) -> fumehood::Request {
    let line = format!(
        "touch /gate/{number}; while [ ! -e /gate/open ]; do sleep 0.3; done; \
         echo box {number}; echo {} >&2",
        number * number
    );
    let request = with_limits(shell(&line), "memory=64m timeout=120s");
    request.mount(fumehood::Mount::read_write(gate, "/gate"))
}
