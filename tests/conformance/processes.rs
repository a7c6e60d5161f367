//! Which processes a program sees, and what it can do to those it did not start.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use fumehood_tests::{Case, Condition, Scene, command_line, lines, python};

pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    all.push(
        Case::new(
            "processes::init_survives_signals",
            |_| {
                python(
                    "import os, time\n\
                     for s in (1, 2, 3, 6, 9, 11, 15, 19):\n\
                     \x20try: os.kill(1, s)\n\
                     \x20except OSError: pass\n\
                     time.sleep(0.2); print('still here')",
                )
            },
            |_, outcome| assert_eq!(lines(outcome), ["still here"]),
        )
        .only(Condition::ISOLATED),
    );
    all
}

/// What the host says of a program in a box.
pub struct Watched {
    /// Real, effective, saved and file system user.
    pub uids: Vec<u32>,
}

/// Starts a program that waits, and looks at it from outside.
pub fn watched(scene: &Scene) -> Watched {
    let marker = format!("64.{}", std::process::id());
    let run = scene.start(command_line(&["sleep", &marker]));
    let started = Instant::now();
    let pid = loop {
        if let [pid, ..] = on_host(&marker)[..] {
            break pid;
        }
        assert!(started.elapsed() < Duration::from_secs(10), "the program is seen on the host");
        thread::sleep(Duration::from_millis(20));
    };
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it is still there");
    drop(run);
    let uids = status.lines().find_map(|line| line.strip_prefix("Uid:")).expect("a Uid line");
    Watched { uids: uids.split_whitespace().map(|uid| uid.parse().expect("a uid")).collect() }
}

/// The processes of the host that are `sleep MARKER`.
pub fn on_host(marker: &str) -> Vec<u32> {
    let wanted = [b"sleep\0".as_slice(), marker.as_bytes(), b"\0"].concat();
    fs::read_dir("/proc")
        .expect("/proc")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line == wanted)
        })
        .collect()
}
