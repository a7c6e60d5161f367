//! The end of the supervisor is the end of its boxes, whatever ended it.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use fumehood_tests::{Case, Condition, Scene};
use rustix::process::{Pid, Signal, kill_process};

use crate::{
    residue::{assert_as_before, at_rest},
    tool::Tool,
};

pub fn cases() -> Vec<Case> {
    vec![
        Case::steps("supervisor::killed", |scene| {
            let status = end_by(scene, Signal::KILL);
            assert_eq!(status.code(), None);
        })
        .only(Condition::ISOLATED),
        Case::steps("supervisor::interrupted", |scene| {
            let status = end_by(scene, Signal::INT);
            assert_eq!(status.code(), Some(130));
        }),
        Case::steps("supervisor::terminated", |scene| {
            let status = end_by(scene, Signal::TERM);
            assert_eq!(status.code(), Some(143));
        }),
    ]
}

/// Starts a box with a family of processes, sends `fumehood` a signal, and sees all of it go.
fn end_by(scene: &Scene, signal: Signal) -> std::process::ExitStatus {
    let tool = Tool::find(scene);
    assert!(tool.exec(scene, &["/bin/true"]).status().expect("it starts").success());
    let before = at_rest(scene.path());
    let marker = format!("65.{}", std::process::id());
    let family = format!("setsid sleep {marker} & sleep {marker} & sleep {marker}");
    let mut fumehood = tool.exec(scene, &["sh", "-c", &family]).spawn().expect("it starts");
    wait_until("the box is at work", || count(&marker) == 3);
    let pid = Pid::from_raw(fumehood.id().cast_signed()).expect("a process id");
    kill_process(pid, signal).expect("the signal is sent");
    let status = fumehood.wait().expect("its status");
    wait_until("the box is gone", || count(&marker) == 0);
    assert_as_before(&before, scene.path());
    status
}

/// How many processes of the host are `sleep MARKER`.
fn count(marker: &str) -> usize {
    let wanted = [b"sleep\0".as_slice(), marker.as_bytes(), b"\0"].concat();
    let entries = fs::read_dir("/proc").expect("/proc");
    entries
        .filter_map(|entry| fs::read(entry.ok()?.path().join("cmdline")).ok())
        .filter(|line| *line == wanted)
        .count()
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(2);
    while !holds() {
        assert!(Instant::now() < deadline, "after 2 s: not yet: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
