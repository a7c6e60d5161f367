//! What the kernel offers that outlives, joins or pierces boxes.

use std::{fs, process::Command};

use fumehood::{Layer, Request, Status, WorkspaceMode};
use fumehood_tests::{
    Attack, Case, Scene, Weaker, assert_ended, assert_printed, lines, printed, python,
};

pub fn cases() -> Vec<Case> {
    [nested_user_namespace(), core_dump(), shared_memory(), terminal_injection()]
        .into_iter()
        .flatten()
        .collect()
}

/// A user namespace of its own would give the program every capability in it.
fn nested_user_namespace() -> Vec<Case> {
    let attempt = |_: &Scene| {
        python(
            "import ctypes, errno\n\
             libc = ctypes.CDLL(None, use_errno=True)\n\
             CLONE_NEWUSER = 0x10000000\n\
             failed = libc.unshare(CLONE_NEWUSER)\n\
             print(errno.errorcode[ctypes.get_errno()] if failed else 'done')",
        )
    };
    Attack::new("kernel::nested_user_namespace", attempt, |_, outcome| {
        assert_printed(outcome, "EPERM\n");
    })
    // Two walls: with the first gone the second still holds, where there is one.
    .twin(Weaker::Without(&[Layer::Seccomp]), |scene, outcome| {
        let second = scene.place.enforces(Layer::Nesting);
        assert_printed(outcome, if second { "ENOSPC\n" } else { "done\n" });
    })
    .twin(Weaker::Without(&[Layer::Nesting]), |_, outcome| assert_printed(outcome, "EPERM\n"))
    .twin(Weaker::Without(&[Layer::Seccomp, Layer::Nesting]), |_, outcome| {
        assert_printed(outcome, "done\n");
    })
    .cases()
}

/// A core file is written by the kernel, where the host's settings say.
fn core_dump() -> Vec<Case> {
    let attempt = |scene: &Scene| {
        python(
            "import os, resource\n\
             hard = resource.getrlimit(resource.RLIMIT_CORE)[1]\n\
             print('room' if hard > 1 or hard < 0 else 'no room', flush=True)\n\
             resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))\n\
             os.abort()",
        )
        .workspace(scene.directory("workspace"), WorkspaceMode::ReadWrite)
    };
    Attack::new("kernel::core_dump", attempt, |scene, outcome| {
        assert_ended(outcome, Status::Signaled);
        assert_eq!(printed(outcome), "no room\n");
        let left = fs::read_dir(scene.directory("workspace")).expect("the workspace");
        let cores = left.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        assert_eq!(cores.filter(|name| name.contains("core")).count(), 0);
    })
    .twin(Weaker::Without(&[Layer::Files]), |_, outcome| assert_eq!(printed(outcome), "room\n"))
    .cases()
}

/// A segment of the host, open to everybody who can name it.
fn shared_memory() -> Vec<Case> {
    let attempt = |scene: &Scene| {
        let segment = Segment::make();
        let key = segment.key.clone();
        scene.keep(segment);
        let source = format!(
            "import ctypes, errno\n\
             libc = ctypes.CDLL(None, use_errno=True)\n\
             print('done' if libc.shmget({key}, 0, 0) >= 0 else errno.errorcode[ctypes.get_errno()])"
        );
        python(&source)
    };
    Attack::new("kernel::shared_memory", attempt, |_, outcome| assert_printed(outcome, "ENOENT\n"))
        .twin(Weaker::Without(&[Layer::IpcNamespace]), |_, outcome| {
            assert_printed(outcome, "done\n");
        })
        .cases()
}

/// A System V segment, removed when the case is over.
struct Segment {
    id: String,
    key: String,
}

impl Segment {
    fn make() -> Segment {
        let made = Command::new("ipcmk").args(["-M", "4096", "-p", "0666"]).output();
        let made = made.expect("ipcmk of util-linux makes a segment");
        let text = String::from_utf8_lossy(&made.stdout);
        let id = text.rsplit(' ').next().expect("its id").trim().to_owned();
        let table = fs::read_to_string("/proc/sysvipc/shm").expect("the table of segments");
        let row = table
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>())
            .find(|row| row.get(1) == Some(&id.as_str()))
            .expect("the segment is in the table");
        Segment { key: row[0].to_owned(), id }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        let _ = Command::new("ipcrm").args(["-m", &self.id]).status();
    }
}

/// Characters pushed into a terminal would be read by whoever owns it after the program.
fn terminal_injection() -> Vec<Case> {
    fn attempt(_: &Scene) -> Request {
        python(
            "import errno, fcntl, os, termios\n\
             reader, writer = os.openpty()\n\
             name = os.ttyname(writer)\n\
             if os.fork() == 0:\n\
             \x20os.setsid(); terminal = os.open(name, os.O_RDWR)\n\
             \x20for request in (termios.TIOCSTI, 0x541c):\n\
             \x20\x20try: fcntl.ioctl(terminal, request, b'x'); print('done', flush=True)\n\
             \x20\x20except OSError as e: print(errno.errorcode[e.errno], flush=True)\n\
             \x20os._exit(0)\n\
             os.wait()",
        )
    }
    Attack::new("kernel::terminal_injection", attempt, |_, outcome| {
        assert_eq!(lines(outcome), ["EPERM", "EPERM"]);
    })
    .twin(Weaker::Without(&[Layer::Seccomp]), |_, outcome| {
        // Newer kernels can be told to refuse this one themselves, with another error.
        assert!(["done", "EIO"].contains(&lines(outcome)[0].as_str()), "{}", printed(outcome));
    })
    .cases()
}
