//! Signals to fumehood: the program gets them, and the box ends.

mod common;

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use common::fumehood;
use rustix::process::{Pid, Signal, kill_process};

/// A program that has said that it is ready.
struct Ready {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Ready {
    /// Starts a script and waits for its first line, so that the signal comes while it runs.
    fn start(options: &[&str], script: &str) -> Ready {
        let mut command: Command = fumehood(&["exec"]);
        command.args(options).args(["--", "sh", "-c", script]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        Ready { child, stdout }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Exit code, what else was written, and how long it took.
    fn end(mut self) -> (Option<i32>, String, Duration) {
        let started = Instant::now();
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        let status = self.child.wait().unwrap();
        (status.code(), rest, started.elapsed())
    }
}

#[test]
fn an_interrupt_ends_the_box() {
    let run = Ready::start(&[], "echo ready; sleep 60");
    run.signal(Signal::INT);
    let (code, _, took) = run.end();
    assert_eq!(code, Some(130));
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[test]
fn terminate_and_hang_up_end_the_box() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let run = Ready::start(&[], "echo ready; sleep 60");
        run.signal(signal);
        let (seen, _, took) = run.end();
        assert_eq!(seen, Some(code));
        assert!(took < Duration::from_secs(2), "{took:?}");
    }
}

#[test]
fn the_program_can_say_goodbye() {
    let script = "trap 'echo goodbye; exit 0' INT; echo ready; while :; do sleep 0.05; done";
    let run = Ready::start(&["--grace", "5s"], script);
    run.signal(Signal::INT);
    let (_, rest, took) = run.end();
    assert_eq!(rest, "goodbye\n");
    assert!(took < Duration::from_secs(4), "{took:?}");
}

#[test]
fn a_second_interrupt_does_not_wait() {
    let script = "trap 'echo no' INT; echo ready; while :; do sleep 0.05; done";
    let mut run = Ready::start(&["--grace", "60s"], script);
    run.signal(Signal::INT);
    let mut answer = String::new();
    run.stdout.read_line(&mut answer).unwrap();
    assert_eq!(answer, "no\n", "the program got the first one and stays");
    run.signal(Signal::INT);
    let (code, _, took) = run.end();
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert!(matches!(code, Some(130 | 137)), "{code:?}");
}
