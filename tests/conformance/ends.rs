//! How a run ends: by itself, by a signal, by the clock, by its caller.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use fumehood::{Error, Event, Request, Status, ViolationKind};
use fumehood_tests::{Case, Scene, assert_ended, command_line, python, shell, with_limits};

use crate::processes::on_host;

pub fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "ends::exit_code",
            |_| shell("exit 42"),
            |_, outcome| {
                assert_ended(outcome, Status::Exited);
                assert_eq!(outcome.exit_code, Some(42));
                assert!(!outcome.success);
                assert_eq!(outcome.cli_exit_code(), 42);
            },
        ),
        Case::new(
            "ends::signal",
            |_| shell("kill -SEGV $$"),
            |_, outcome| {
                assert_ended(outcome, Status::Signaled);
                assert_eq!((outcome.exit_code, outcome.signal), (None, Some(11)));
                assert_eq!(outcome.cli_exit_code(), 139);
            },
        ),
        Case::steps("ends::timeout", |scene| {
            let started = Instant::now();
            let outcome = scene.run(with_limits(command_line(&["sleep", "60"]), "timeout=1s"));
            assert_ended(&outcome, Status::Timeout);
            assert_eq!(outcome.cli_exit_code(), 124);
            assert!(outcome.violations.iter().any(|v| v.kind == ViolationKind::Timeout));
            let taken = started.elapsed();
            assert!(taken >= Duration::from_millis(950), "it had its second: {taken:?}");
            // The time that an engine takes for a container is not the program's.
            let most = if scene.place.image.is_some() { 20 } else { 2 };
            assert!(taken < Duration::from_secs(most), "and no more: {taken:?}");
        }),
        Case::steps("ends::polite_signal_first", |scene| {
            let line = "trap 'echo asked to end; exit 3' TERM; sleep 60 & wait";
            let outcome = scene.run(with_limits(shell(line), "timeout=2s grace=2s"));
            assert_ended(&outcome, Status::Timeout);
            assert_eq!(outcome.stdout.text(), "asked to end\n");
        }),
        Case::steps("ends::term_ignored", |scene| {
            let source = "import signal, time\n\
                          for s in (1, 2, 3, 10, 12, 13, 14, 15): signal.signal(s, signal.SIG_IGN)\n\
                          print('deaf')\n\
                          while True: time.sleep(1)";
            ends_after_grace(scene, python(source), "deaf\n");
        }),
        Case::steps("ends::stopped_self", |scene| {
            ends_after_grace(scene, shell("echo still; kill -STOP $$; echo awake"), "still\n");
        }),
        Case::steps("ends::double_fork_dies_too", double_fork),
        Case::steps("ends::left_behind_dies_too", left_behind),
        Case::steps("ends::killed_by_caller", |scene| {
            let run = scene.start(command_line(&["sleep", "60"]));
            let canceller = run.canceller();
            let started = Instant::now();
            let outcome = scene.block_on(async {
                tokio::time::sleep(Duration::from_millis(300)).await;
                canceller.kill();
                run.outcome().await.expect("an outcome")
            });
            assert_ended(&outcome, Status::Cancelled);
            // An engine takes its time; the program would have taken a minute.
            assert!(started.elapsed() < Duration::from_secs(20));
        }),
        Case::steps("ends::interrupted_by_caller", |scene| {
            let line = "trap 'echo interrupted; exit 5' INT; echo ready; sleep 60 & wait";
            let mut run = scene.start(shell(line));
            let canceller = run.canceller();
            let outcome = scene.block_on(async {
                // Before that nobody would hear it.
                while let Some(event) = run.next_event().await {
                    if matches!(event, Event::Output { .. }) {
                        break;
                    }
                }
                canceller.signal(2);
                run.outcome().await.expect("an outcome")
            });
            assert_eq!(outcome.stdout.text(), "ready\ninterrupted\n");
        }),
        Case::steps("ends::dropped_by_caller", |scene| {
            let marker = marker(scene, 61);
            let run = scene.start(command_line(&["sleep", &marker]));
            wait_until("the program runs", || !on_host(&marker).is_empty());
            drop(run);
            wait_until("the program is gone", || on_host(&marker).is_empty());
        }),
        Case::new(
            "ends::no_such_program",
            |_| command_line(&["/no/such/program"]),
            |_, outcome| assert_eq!(outcome.cli_exit_code(), 127),
        ),
        Case::new(
            "ends::not_a_program",
            |_| command_line(&["/etc"]),
            |_, outcome| assert_eq!(outcome.cli_exit_code(), 126),
        ),
        Case::steps("ends::empty_requests_are_refused", |scene| {
            let empty = scene.try_run(Request::command(Vec::<String>::new()));
            assert!(matches!(empty, Err(Error::EmptyCommand)));
            let empty = scene.try_run(Request::code("python", ""));
            assert!(matches!(empty, Err(Error::EmptyCode)));
            let unknown = scene.try_run(Request::code("pyhton", "print(1)"));
            let error = unknown.expect_err("there is no such language");
            assert!(error.to_string().contains("python"), "it names the nearest: {error}");
        }),
    ]
}

/// A program that cannot be asked to end is ended one grace period after its time.
fn ends_after_grace(scene: &Scene, request: Request, output: &str) {
    let started = Instant::now();
    let outcome = scene.run(with_limits(request, "timeout=1s grace=500ms"));
    let taken = started.elapsed();
    assert_ended(&outcome, Status::Timeout);
    assert_eq!(outcome.stdout.text(), output);
    assert!(taken < Duration::from_secs(3), "{taken:?}");
}

/// A number of seconds that no other test sleeps, by which its process is found on the host.
fn marker(scene: &Scene, seconds: u32) -> String {
    let name = scene.path().to_string_lossy();
    let digits: String = name.bytes().rev().take(6).map(|byte| format!("{byte:03}")).collect();
    format!("{seconds}.{digits}")
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(3), "after 3 s: not yet: {what}");
        sleep(Duration::from_millis(20));
    }
}

/// A new session and two forks do not outlive the timeout.
fn double_fork(scene: &Scene) {
    let marker = marker(scene, 62);
    let source = format!(
        "import os, time\n\
         if os.fork() == 0:\n\
         \x20os.setsid()\n\
         \x20if os.fork() == 0: os.execvp('sleep', ['sleep', '{marker}'])\n\
         \x20os._exit(0)\n\
         time.sleep(60)"
    );
    let run = scene.start(with_limits(python(&source), "timeout=2s grace=100ms"));
    wait_until("the grandchild runs", || !on_host(&marker).is_empty());
    let outcome = scene.block_on(run.outcome()).expect("an outcome");
    assert_ended(&outcome, Status::Timeout);
    wait_until("the grandchild is gone", || on_host(&marker).is_empty());
}

/// Neither does it outlive a program that ends by itself, nor hold up its outcome.
fn left_behind(scene: &Scene) {
    let marker = marker(scene, 63);
    let started = Instant::now();
    let outcome = scene.run(shell(&format!("setsid sleep {marker} & exit 0")));
    assert_ended(&outcome, Status::Exited);
    assert!(started.elapsed() < Duration::from_secs(5), "nobody waits for what is left behind");
    wait_until("what was left behind is gone", || on_host(&marker).is_empty());
}
