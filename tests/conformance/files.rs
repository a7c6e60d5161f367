//! What of the host's files a program can read and change: nothing that it was not given.

use std::{collections::BTreeSet, path::PathBuf};

use fumehood::{Layer, Outcome, Request};
use fumehood_tests::{
    Attack, Case, Condition, Scene, Weaker, assert_printed, lines, printed, python,
};

pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    all.extend(home_is_hidden());
    all.push(home_listing());
    all.extend(
        Attack::new("files::shadow", |_| try_to("open('/etc/shadow').read(1)"), refused)
            .twin(Weaker::NoBoxAsRoot, |_, outcome| assert_printed(outcome, "done\n"))
            .cases(),
    );
    all.extend(
        Attack::new(
            "files::read_only_root",
            |_| try_to_all(&["/planted", "/usr/planted", "/etc/planted", "/proc/planted"]),
            |_, outcome| {
                let seen = lines(outcome);
                assert_eq!(seen[..3], ["EROFS", "EROFS", "EROFS"]);
                assert_ne!(seen[3], "done");
            },
        )
        .twin(Weaker::Without(&[Layer::ReadOnlyRoot]), |scene, outcome| {
            // Only the box's own root: the host's directories under it stay read-only mounts. What
            // is in an image belongs to its root, so another wall stands there.
            let image = scene.place.image.is_some();
            let expected = if image { ["EACCES", "EACCES"] } else { ["done", "EROFS"] };
            assert_eq!(lines(outcome)[..2], expected);
        })
        .cases(),
    );
    all.extend(
        Attack::new(
            "files::kernel_settings",
            |_| {
                // Opened only: where it works nothing is written.
                try_to_each(&[
                    "os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY)",
                    "os.open('/proc/sysrq-trigger', os.O_WRONLY)",
                ])
            },
            |_, outcome| {
                for answer in lines(outcome) {
                    assert!(["EROFS", "EACCES", "ENOENT"].contains(&answer.as_str()), "{answer}");
                }
            },
        )
        .twin(Weaker::NoBoxAsRoot, |_, outcome| assert_eq!(lines(outcome)[0], "done"))
        .cases(),
    );
    all.push(
        Case::new(
            "files::places_of_the_kernel",
            |_| {
                try_to_each(&[
                    "os.listdir('/sys/fs/cgroup')[0]",
                    "os.open('/dev/mem', os.O_RDONLY)",
                    "os.open('/dev/kvm', os.O_RDWR)",
                    "os.open('/dev/fuse', os.O_RDWR)",
                    "os.mknod('/tmp/device', 0o600 | 0o20000, os.makedev(1, 1))",
                    "os.open('/proc/kcore', os.O_RDONLY)",
                    "os.open('/var/run/docker.sock', os.O_RDONLY)",
                ])
            },
            |scene, outcome| {
                // Engines show a container the cgroup that it is in, read-only.
                let first = usize::from(scene.place.image.is_some());
                for (number, answer) in lines(outcome).iter().enumerate().skip(first) {
                    assert_ne!(answer, "done", "attempt {number}");
                }
            },
        )
        .only(Condition::ISOLATED),
    );
    all.push(
        Case::new(
            "files::devices_that_programs_need",
            |_| {
                try_to_each(&[
                    "open('/dev/null', 'w').write('x')",
                    "assert open('/dev/zero', 'rb').read(2) == bytes(2)",
                    "open('/dev/urandom', 'rb').read(1)",
                    "open('/dev/shm/file', 'w').write('x')",
                    "os.openpty()",
                    "os.stat('/dev/fd/0')",
                ])
            },
            |_, outcome| assert_printed(outcome, "done\n".repeat(6).as_str()),
        )
        .only(Condition::ISOLATED),
    );
    all
}

fn home() -> PathBuf {
    PathBuf::from(std::env::var_os("HOME").expect("the tests have a home"))
}

fn home_is_hidden() -> Vec<Case> {
    let read_a_file_of_the_home = |scene: &Scene| {
        let secret = tempfile::Builder::new()
            .prefix(".fumehood-test-")
            .tempfile_in(home())
            .expect("a file in the home of the tests");
        let path = secret.path().to_owned();
        scene.keep(secret);
        let aliases = [
            format!("{}", path.display()),
            format!("/proc/self/root{}", path.display()),
            format!("/proc/1/root{}", path.display()),
        ];
        let attempts: Vec<String> = aliases.iter().map(|path| format!("open({path:?})")).collect();
        try_to_each(&attempts.iter().map(String::as_str).collect::<Vec<_>>())
    };
    Attack::new("files::home", read_a_file_of_the_home, |scene, outcome| {
        let answers = lines(outcome);
        // An image may have a directory under the same name, closed to the program.
        let nothing =
            if scene.place.image.is_some() { &["ENOENT", "EACCES"][..] } else { &["ENOENT"] };
        assert!(
            answers[..2].iter().all(|answer| nothing.contains(&answer.as_str())),
            "{answers:?}"
        );
        assert!(["ENOENT", "EACCES"].contains(&answers[2].as_str()), "{}", answers[2]);
    })
    .twin(Weaker::NoBox, |_, outcome| assert_eq!(lines(outcome)[..2], ["done", "done"]))
    .cases()
}

/// Of the home nothing is there but the way to the toolchains that were found in it.
fn home_listing() -> Case {
    Case::steps("files::home_listing", |scene| {
        let list = format!(
            "import os\n\
             try: print(*os.listdir({:?}), sep='\\n')\n\
             except (FileNotFoundError, PermissionError): pass",
            home()
        );
        let request = python(&list);
        let plan = scene.sandbox().plan(&scene.place.request(request.clone()));
        let allowed: BTreeSet<String> = plan
            .expect("a plan")
            .run
            .mounts
            .iter()
            .filter_map(|mount| mount.target.strip_prefix(home()).ok())
            .filter_map(|rest| rest.iter().next())
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        let outcome = scene.run(request);
        assert!(outcome.success, "stderr: {}", outcome.stderr.text());
        let names = lines(&outcome).into_iter().filter(|name| !name.is_empty());
        let seen: BTreeSet<String> = names.collect();
        assert!(seen.is_subset(&allowed), "{seen:?} is more than {allowed:?}");
    })
    .only(Condition::ISOLATED)
}

fn refused(_: &Scene, outcome: &Outcome) {
    let answer = printed(outcome);
    assert!(["ENOENT\n", "EACCES\n", "EPERM\n"].contains(&answer.as_str()), "{answer}");
}

/// A program that tries one thing and says `done` or the error.
fn try_to(attempt: &str) -> Request {
    try_to_each(&[attempt])
}

fn try_to_all(paths: &[&str]) -> Request {
    let attempts: Vec<String> =
        paths.iter().map(|path| format!("os.open('{path}', os.O_CREAT | os.O_WRONLY)")).collect();
    try_to_each(&attempts.iter().map(String::as_str).collect::<Vec<_>>())
}

fn try_to_each(attempts: &[&str]) -> Request {
    let mut source = String::from("import os, errno\n");
    for attempt in attempts {
        source.push_str(&format!(
            "try: {attempt}; print('done')\n\
             except OSError as e: print(errno.errorcode[e.errno])\n\
             except IndexError: print('empty')\n"
        ));
    }
    python(&source)
}
