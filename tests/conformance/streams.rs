//! Input and output: whole, apart, in time, bounded.

use std::time::{Duration, Instant};

use fumehood::{Event, Run, Status, StdinSource, StreamName, ViolationKind};
use fumehood_tests::{
    Case, Scene, assert_ended, assert_printed, command_line, python, shell, with_limits,
};

pub fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "streams::stdin_bytes",
            |_| command_line(&["cat"]).stdin(every_byte()),
            |_, outcome| {
                assert!(outcome.success);
                assert_eq!(outcome.stdout.0, every_byte());
            },
        ),
        Case::new(
            "streams::stdin_is_empty_by_default",
            |_| command_line(&["cat"]),
            |_, outcome| assert_printed(outcome, ""),
        ),
        Case::new(
            "streams::stdin_never_read",
            |_| command_line(&["echo", "done"]).stdin(vec![b'x'; 1 << 20]),
            |_, outcome| assert_printed(outcome, "done\n"),
        ),
        Case::new(
            "streams::large_stdin",
            |_| command_line(&["wc", "-c"]).stdin(vec![b'x'; 5_000_000]),
            |_, outcome| assert_printed(outcome, "5000000\n"),
        ),
        Case::steps("streams::live_stdin", live_stdin),
        Case::new(
            "streams::apart",
            |_| shell("echo out; echo err >&2; echo out again"),
            |_, outcome| {
                assert_printed(outcome, "out\nout again\n");
                assert_eq!(outcome.stderr.text(), "err\n");
                assert_eq!(outcome.stats.stdout_bytes, 14);
                assert_eq!(outcome.stats.stderr_bytes, 4);
            },
        ),
        Case::steps("streams::as_it_happens", as_it_happens),
        Case::new(
            "streams::binary",
            |_| python("import sys; sys.stdout.buffer.write(bytes(range(256)) * 9)"),
            |_, outcome| assert_eq!(outcome.stdout.0, every_byte()),
        ),
        Case::new(
            "streams::five_megabytes",
            |_| python("import sys\nfor i in range(500000): sys.stdout.write('%09d\\n' % i)"),
            |_, outcome| {
                let expected: String = (0..500_000).map(|i| format!("{i:09}\n")).collect();
                assert!(outcome.stdout.0 == expected.as_bytes(), "5 MB arrive as written");
                assert!(!outcome.truncated);
                assert_eq!(outcome.stats.stdout_bytes, 5_000_000);
            },
        ),
        Case::new(
            "streams::output_limit",
            |_| with_limits(command_line(&["yes"]), "output=64k timeout=20s"),
            |_, outcome| {
                assert_ended(outcome, Status::OutputLimit);
                assert!(outcome.truncated);
                assert!(!outcome.success);
                assert_eq!(outcome.stdout.0.len(), 64 << 10);
                assert!(outcome.stats.stdout_bytes >= 64 << 10);
                assert!(outcome.violations.iter().any(|v| v.kind == ViolationKind::Output));
            },
        ),
        Case::new(
            "streams::output_limit_counts_both",
            |_| {
                let line = "head -c 40000 /dev/zero; head -c 40000 /dev/zero >&2";
                with_limits(shell(line), "output=64k")
            },
            |_, outcome| {
                assert_ended(outcome, Status::OutputLimit);
                assert_eq!(outcome.stdout.0.len() + outcome.stderr.0.len(), 64 << 10);
            },
        ),
        Case::new(
            "streams::output_up_to_the_limit",
            |_| with_limits(command_line(&["head", "-c", "65536", "/dev/zero"]), "output=64k"),
            |_, outcome| {
                assert_ended(outcome, Status::Exited);
                assert!(!outcome.truncated);
                assert_eq!(outcome.stdout.0.len(), 64 << 10);
            },
        ),
    ]
}

fn every_byte() -> Vec<u8> {
    (0..9).flat_map(|_| 0..=255).collect()
}

/// The next bytes of standard output.
async fn next_output(run: &mut Run) -> String {
    loop {
        match run.next_event().await.expect("the program is still running") {
            Event::Output { stream: StreamName::Stdout, data, .. } => {
                return data.text().into_owned();
            }
            Event::Finished { .. } => panic!("the program ended too early"),
            _ => {}
        }
    }
}

/// A conversation: each question is sent only after the answer before it has come.
fn live_stdin(scene: &Scene) {
    let mut request = shell("while read -r line; do echo \"you said $line\"; done; echo bye");
    request.stdin = StdinSource::Live;
    let mut run = scene.start(request);
    scene.block_on(async {
        let mut stdin = run.stdin().expect("input was asked for");
        assert!(run.stdin().is_none(), "there is one writer");
        for word in ["one", "two", "three"] {
            assert!(stdin.write(format!("{word}\n").as_bytes()).await);
            assert_eq!(next_output(&mut run).await, format!("you said {word}\n"));
        }
        drop(stdin);
        assert_eq!(next_output(&mut run).await, "bye\n");
        let outcome = run.outcome().await.expect("an outcome");
        assert!(outcome.success);
    });
}

/// Output of both streams arrives while the program still runs, in the order it was written.
fn as_it_happens(scene: &Scene) {
    let line = "for i in 1 2 3; do echo o$i; sleep 0.2; echo e$i >&2; sleep 0.2; done; sleep 0.6";
    let mut run = scene.start(shell(line));
    let mut seen = Vec::new();
    let mut last = Instant::now();
    scene.block_on(async {
        while let Some(event) = run.next_event().await {
            match event {
                Event::Output { data, .. } => {
                    seen.push(data.text().trim().to_owned());
                    last = Instant::now();
                }
                Event::Finished { outcome } => {
                    assert!(outcome.success);
                    break;
                }
                _ => {}
            }
        }
        assert!(run.next_event().await.is_none(), "nothing comes after the end");
    });
    assert_eq!(seen, ["o1", "e1", "o2", "e2", "o3", "e3"]);
    assert!(last.elapsed() > Duration::from_millis(500), "output came before the end");
}
