//! What of the host's files a program can read and change: nothing that it was not given.

use std::{collections::BTreeSet, path::PathBuf};

use fumehood::Request;
use fumehood_tests::{Case, Condition, assert_printed, lines, python};

pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    all.push(home_listing());
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
