//! Who a program is: nobody on the host that matters, and without any privilege.

use fumehood::{Layer, Outcome};
use fumehood_tests::{
    Attack, Case, Condition, Weaker, assert_printed, command_line, python, shell,
};

use crate::processes::{Watched, watched};

pub fn cases() -> Vec<Case> {
    let mut all = vec![
        Case::steps("identity::not_root_on_the_host", |scene| {
            let Watched { uids, .. } = watched(scene);
            let us = rustix::process::geteuid().as_raw();
            assert!(uids.iter().all(|uid| *uid != 0), "{uids:?}");
            if us == 0 {
                assert!(uids.iter().all(|uid| *uid >= 65536), "nobody's number: {uids:?}");
            } else {
                assert!(uids.iter().all(|uid| *uid == us), "the caller's own: {uids:?}");
            }
        })
        .only(Condition::ISOLATED),
        Case::steps("identity::not_root_on_the_host::without_box", |scene| {
            assert!(watched(scene).uids.iter().all(|uid| *uid == 0));
        })
        .only(Condition::NOT_ISOLATED)
        .only(Condition::AS_ROOT),
        Case::new(
            "identity::not_root_inside",
            |_| shell("id -u; id -g; id -un"),
            |_, outcome| {
                assert!(outcome.success, "the user has a name: {}", outcome.stderr.text());
                assert!(!outcome.stdout.text().contains("root"));
                assert!(outcome.stdout.text().lines().all(|line| line != "0"));
            },
        )
        .only(Condition::ISOLATED),
    ];
    all.extend(
        Attack::new(
            "identity::seccomp_filter",
            |_| status(),
            |_, outcome| {
                assert_eq!(field(outcome, "Seccomp"), "2");
            },
        )
        .twin(Weaker::Without(&[Layer::Seccomp]), |_, outcome| {
            assert_eq!(field(outcome, "Seccomp"), "0");
        })
        .cases(),
    );
    all.push(
        Case::new(
            "identity::becoming_root",
            |_| {
                python(
                    "import os\n\
                     for attempt in (os.setuid, os.setgid, lambda n: os.setgroups([n])):\n\
                     \x20try: attempt(0); print('done')\n\
                     \x20except OSError: print('refused')",
                )
            },
            |_, outcome| assert_printed(outcome, "refused\nrefused\nrefused\n"),
        )
        .only(Condition::ISOLATED),
    );
    all
}

fn status() -> fumehood::Request {
    command_line(&["cat", "/proc/self/status"])
}

/// One line of `/proc/self/status`.
fn field(outcome: &Outcome, name: &str) -> String {
    let text = outcome.stdout.text();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).trim().to_owned()
}
