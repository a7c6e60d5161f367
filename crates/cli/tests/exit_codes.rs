//! The exit code says how it ended, and one line on standard error says why if fumehood ended it.

mod common;

use std::{
    io::Read as _,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use common::{done, fumehood, read};

#[test]
fn the_programs_own_code_is_ours() {
    for code in [0, 1, 2, 42, 124, 255] {
        let script = format!("exit {code}");
        done(&mut fumehood(&["exec", "--", "sh", "-c", &script])).expect(code, "", "");
    }
}

#[test]
fn a_timeout_is_124_and_on_time() {
    let run = done(&mut fumehood(&["exec", "--timeout", "1s", "--", "sleep", "60"]));
    run.expect(124, "", "fumehood: timeout after 1s; raise it with --timeout\n");
    assert!(run.took >= Duration::from_secs(1), "{run:?}");
    assert!(run.took < Duration::from_secs(2), "{run:?}");
}

#[test]
fn a_program_that_ignores_the_polite_signal_is_ended_after_the_grace_period() {
    let script = "trap '' TERM; sleep 60 & sleep 60";
    let arguments = ["exec", "--timeout", "300ms", "--grace", "300ms", "--", "sh", "-c", script];
    let run = done(&mut fumehood(&arguments));
    assert_eq!(run.code, 124, "{run:?}");
    assert!(run.took < Duration::from_secs(2), "{run:?}");
}

#[test]
fn a_reader_that_does_not_read_does_not_stop_the_clock() {
    let started = Instant::now();
    let mut child = fumehood(&["exec", "--timeout", "500ms", "--output-limit", "1g", "--", "yes"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    thread::sleep(Duration::from_millis(1500));
    let mut output = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut output).unwrap();
    let run = read(child.wait_with_output().unwrap(), started);
    assert_eq!(run.code, 124, "{}", run.stderr);
    assert!(run.took < Duration::from_secs(4), "{:?}", run.took);
    assert!(output.starts_with(b"y\ny\n"));
}

#[test]
fn too_much_output_is_cut_and_said() {
    let run = done(&mut fumehood(&["exec", "--output-limit", "1k", "--", "yes"]));
    assert_eq!((run.code, run.stdout.len()), (137, 1024), "{}", run.stderr);
    assert!(run.stderr.starts_with("fumehood: "), "{}", run.stderr);
    assert!(run.stderr.contains("--output-limit"), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1);
}

#[test]
fn out_of_memory_is_137() {
    let code = "x = bytearray(500 << 20); print(len(x))";
    let run = done(&mut fumehood(&["exec", "--memory", "64m", "--", "python3", "-c", code]));
    assert_eq!((run.code, run.stdout.as_str()), (137, ""), "{run:?}");
    assert!(run.stderr.contains("--memory"), "{run:?}");
    // The same fits where it may.
    let run = done(&mut fumehood(&["exec", "--memory", "1g", "--", "python3", "-c", code]));
    run.expect(0, "524288000\n", "");
}

#[test]
fn a_command_that_is_not_there_is_127() {
    let run = done(&mut fumehood(&["exec", "--", "no-such-program"]));
    assert_eq!((run.code, run.stdout.as_str()), (127, ""));
    assert!(run.stderr.contains("no-such-program"), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
}

#[test]
fn a_command_that_cannot_be_executed_is_126() {
    let run = done(&mut fumehood(&["exec", "--", "/etc/passwd"]));
    assert_eq!((run.code, run.stdout.as_str()), (126, ""), "{run:?}");
    assert!(run.stderr.contains("/etc/passwd"), "{run:?}");
}

#[test]
fn a_signal_is_128_and_its_number() {
    for (name, code) in [("TERM", 143), ("KILL", 137), ("SEGV", 139)] {
        let script = format!("kill -{name} $$");
        let run = done(&mut fumehood(&["exec", "--", "sh", "-c", &script]));
        assert_eq!(run.code, code, "{run:?}");
    }
}

#[test]
fn a_reader_that_is_gone_ends_the_box_quietly() {
    let started = Instant::now();
    let mut child = fumehood(&["exec", "--", "yes"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 2];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    let run = read(child.wait_with_output().unwrap(), started);
    assert_eq!(&first, b"y\n");
    run.expect(141, "", "");
    assert!(run.took < Duration::from_secs(5), "{run:?}");
}
