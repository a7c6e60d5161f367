//! Which processes a program sees, and what it can do to those it did not start.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use fumehood::Request;
use fumehood_tests::{Attack, Case, Condition, Scene, Weaker, command_line, lines, python};

pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    all.extend(
        Attack::new(
            "processes::own_only",
            |_| list(),
            |_, outcome| {
                assert!(outcome.success);
                let seen = lines(outcome);
                assert!(seen.len() <= 3, "init and the program: {seen:?}");
                assert!(
                    seen.iter().all(|process| process.starts_with(|c: char| c.is_ascii_digit()))
                );
            },
        )
        .twin(Weaker::NoBox, |_, outcome| {
            let seen = lines(outcome);
            let us = format!("{} ", std::process::id());
            assert!(seen.iter().any(|process| process.starts_with(&us)), "{seen:?}");
        })
        .cases(),
    );
    all.extend(
        Attack::new(
            "processes::signal_the_tests",
            |_| signal_us(),
            |_, outcome| {
                assert_eq!(lines(outcome), ["ESRCH"]);
            },
        )
        .twin(Weaker::NoBox, |_, outcome| assert_eq!(lines(outcome), ["done"]))
        .cases(),
    );
    all.push(
        Case::new(
            "processes::init_is_out_of_reach",
            |_| {
                let mut source = String::from("import os, errno\n");
                for attempt in [
                    "open('/proc/1/environ').read()",
                    "open('/proc/1/mem', 'r+b')",
                    "open('/proc/1/exe', 'r+b')",
                    "os.readlink('/proc/1/exe')",
                    "os.readlink('/proc/1/root')",
                    "os.readlink('/proc/1/cwd')",
                    "os.listdir('/proc/1/fd')",
                    "open('/proc/1/maps').read()",
                ] {
                    source.push_str(&format!(
                        "try: {attempt}; print('done')\n\
                         except OSError as e: print(errno.errorcode[e.errno])\n"
                    ));
                }
                python(&source)
            },
            |_, outcome| {
                let answers = lines(outcome);
                assert_eq!(answers.len(), 8);
                for (number, answer) in answers.iter().enumerate() {
                    assert!(
                        ["EACCES", "EPERM"].contains(&answer.as_str()),
                        "attempt {number}: {answer}"
                    );
                }
            },
        )
        .only(Condition::ISOLATED),
    );
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

fn list() -> Request {
    python(
        "import os\n\
         for name in os.listdir('/proc'):\n\
         \x20if name.isdigit():\n\
         \x20\x20try: print(name, open('/proc/%s/comm' % name).read().strip())\n\
         \x20\x20except OSError: print(name)",
    )
}

/// Signal 0: asks whether one could be sent.
fn signal_us() -> Request {
    python(&format!(
        "import os, errno\n\
         try: os.kill({}, 0); print('done')\n\
         except OSError as e: print(errno.errorcode[e.errno])",
        std::process::id()
    ))
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
