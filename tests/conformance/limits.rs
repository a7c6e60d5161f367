//! What a box may use: memory, processes, processor time, space, files.

use fumehood::{Status, ViolationKind};
use fumehood_tests::{
    Case, Condition, assert_ended, assert_printed, lines, printed, python, shell, with_limits,
};

pub fn cases() -> Vec<Case> {
    let everywhere_isolated = vec![
        Case::new(
            "limits::oom",
            |_| with_limits(python("x = bytearray(500 << 20); print('got it')"), "memory=64m"),
            |_, outcome| {
                assert_ended(outcome, Status::Oom);
                assert!(!outcome.success);
                assert_eq!(outcome.cli_exit_code(), 137);
                assert_eq!(outcome.stdout.text(), "");
                assert!(outcome.violations.iter().any(|v| v.kind == ViolationKind::Memory));
            },
        ),
        Case::new(
            "limits::memory_is_enough",
            |_| with_limits(python("x = bytearray(100 << 20); print('got it')"), "memory=256m"),
            |_, outcome| {
                assert_printed(outcome, "got it\n");
                assert!(outcome.memory_used > 100 << 20, "{}", outcome.memory_used);
                assert!(outcome.memory_used < 256 << 20, "{}", outcome.memory_used);
            },
        ),
        Case::new(
            "limits::pids",
            |_| {
                let source = "import os, errno, time\n\
                    children = 0\n\
                    try:\n\
                    \x20while children < 200:\n\
                    \x20\x20if os.fork() == 0: time.sleep(20); os._exit(0)\n\
                    \x20\x20children += 1\n\
                    except OSError as e: print(errno.errorcode[e.errno], children)";
                with_limits(python(source), "pids=20 timeout=15s")
            },
            |_, outcome| {
                let text = printed(outcome);
                let (error, children) = text.trim().split_once(' ').expect("a fork was refused");
                assert_eq!(error, "EAGAIN");
                let children: u32 = children.parse().expect("a number");
                assert!((10..20).contains(&children), "{children} children under a limit of 20");
            },
        ),
        Case::new(
            "limits::disk_space",
            |_| with_limits(python(&fill("os.write(f, b'x' * (1 << 20))")), "disk=16m"),
            |_, outcome| {
                let text = printed(outcome);
                let (error, mebibytes) = text.trim().split_once(' ').expect("a write was refused");
                assert_eq!(error, "ENOSPC");
                let mebibytes: u32 = mebibytes.parse().expect("a number");
                assert!((8..=16).contains(&mebibytes), "{mebibytes} MiB under a limit of 16");
            },
        ),
        Case::new(
            "limits::disk_inodes",
            |_| {
                let make = "os.close(os.open('/tmp/%d' % done, os.O_CREAT))";
                with_limits(python(&fill(make)), "disk=16m")
            },
            |_, outcome| {
                let text = printed(outcome);
                assert!(text.starts_with("ENOSPC "), "a new file was refused: {text}");
            },
        )
        .only(Condition::DISK_LIMIT),
        Case::new(
            "limits::file_size",
            |_| {
                let line = "exec head -c 4000000 /dev/zero > /tmp/large";
                with_limits(shell(line), "file_size=1m")
            },
            |_, outcome| {
                const SIGXFSZ: i32 = 25;
                assert_ended(outcome, Status::DiskLimit);
                assert_eq!(outcome.signal, Some(SIGXFSZ));
                assert!(outcome.violations.iter().any(|v| v.kind == ViolationKind::FileSize));
            },
        ),
        Case::new(
            "limits::open_files",
            |_| with_limits(python(&fill("os.dup(0)")), "open_files=64"),
            |_, outcome| {
                // 64 less the three streams and the file that the program opened first.
                assert_eq!(lines(outcome), ["EMFILE 60"]);
            },
        ),
    ];
    let mut all: Vec<Case> =
        everywhere_isolated.into_iter().map(|case| case.only(Condition::ISOLATED)).collect();
    all.push(
        Case::new(
            "limits::cpu",
            |_| {
                let spin = "import os, time\n\
                    os.fork()\n\
                    end = time.monotonic() + 3\n\
                    while time.monotonic() < end: pass";
                with_limits(python(spin), "cpus=0.5")
            },
            |_, outcome| {
                assert!(outcome.success);
                let percent = outcome.stats.cpu_percent;
                // A machine with other work gives less; without the limit it is up to 200.
                assert!((5.0..65.0).contains(&percent), "{percent} % with half a core");
            },
        )
        .only(Condition::ISOLATED)
        .only(Condition::CPU_LIMIT),
    );
    all.push(
        // Space that is memory counts as memory, however it is called.
        Case::new(
            "limits::space_counts_as_memory",
            |_| {
                let line = "head -c 300000000 /dev/zero > /tmp/fill && echo filled";
                with_limits(shell(line), "memory=64m disk=1g")
            },
            |_, outcome| assert_ended(outcome, Status::Oom),
        )
        .only(Condition::ISOLATED)
        .only(MEMORY_CGROUP),
    );
    all
}

const MEMORY_CGROUP: Condition = Condition::new(
    |place| place.enforces(fumehood::Layer::Memory),
    "no memory controller for this user",
);

/// A program that does something until it is refused, and says how often it could.
fn fill(step: &str) -> String {
    format!(
        "import os, errno\n\
         f = os.open('/tmp/fill', os.O_CREAT | os.O_WRONLY)\n\
         done = 0\n\
         try:\n\
         \x20while done < 500000: {step}; done += 1\n\
         except OSError as e: print(errno.errorcode[e.errno], done)"
    )
}
