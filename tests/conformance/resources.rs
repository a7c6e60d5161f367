//! Bombs: the box is held, and the machine goes on working for everybody else.

use std::{
    thread,
    time::{Duration, Instant},
};

use fumehood::{Outcome, Request, Status};
use fumehood_tests::{Case, Condition, Scene, assert_ended, command_line, python, with_limits};

/// What another caller may have to wait while a bomb goes off beside it, on a small machine.
const BEARABLE: Duration = Duration::from_secs(4);

pub fn cases() -> Vec<Case> {
    vec![
        Case::steps("resources::fork_bomb", |scene| {
            let source = "import os\n\
                while True:\n\
                \x20try: os.fork()\n\
                \x20except OSError: pass";
            let bomb = with_limits(python(source), "pids=64 timeout=3s grace=100ms");
            let outcome = beside(scene, bomb);
            assert_ended(&outcome, Status::Timeout);
            assert!(outcome.stats.wall_time < 8.0, "{} s", outcome.stats.wall_time);
        }),
        Case::steps("resources::memory_bomb", |scene| {
            let source = "import os\n\
                os.fork(); os.fork()\n\
                hoard = []\n\
                while True: hoard.append(bytearray(1 << 20))";
            let bomb = with_limits(python(source), "memory=128m timeout=20s");
            let outcome = beside(scene, bomb);
            assert_ended(&outcome, Status::Oom);
        }),
        Case::steps("resources::output_bomb", |scene| {
            let source = "import os\nwhile True: os.write(1, b'x' * 65536)";
            let bomb = with_limits(python(source), "output=1m timeout=20s");
            assert_ended(&beside(scene, bomb), Status::OutputLimit);
        }),
        Case::steps("resources::deep_directories", |scene| {
            // The private workspace goes away however deep it is.
            let source = "import os\n\
                for i in range(10000): os.mkdir('d'); os.chdir('d')\n\
                print('deep')";
            let outcome = scene.run(python(source));
            assert_eq!(outcome.stdout.text(), "deep\n", "stderr: {}", outcome.stderr.text());
        }),
    ]
    .into_iter()
    .map(|case| case.only(Condition::ISOLATED))
    .collect()
}

/// Runs a bomb, and beside it harmless programs that must not wait long.
fn beside(scene: &Scene, bomb: Request) -> Outcome {
    thread::scope(|threads| {
        let bombing = threads.spawn(|| scene.run(bomb));
        let mut harmless = 0;
        while !bombing.is_finished() || harmless == 0 {
            let started = Instant::now();
            let run = scene.start(command_line(&["/bin/true"]));
            let outcome = scene.block_on(run.outcome()).expect("an outcome");
            let taken = started.elapsed();
            assert!(outcome.success);
            assert!(taken < BEARABLE, "a harmless run took {taken:?}");
            harmless += 1;
            thread::sleep(Duration::from_millis(50));
        }
        bombing.join().expect("the bomb's thread")
    })
}
