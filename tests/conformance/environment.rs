//! What a program finds around it: variables, arguments, directory, host name.

use fumehood::{Layer, Request};
use fumehood_tests::{
    Attack, Case, Weaker, assert_printed, command_line, lines, printed, python, shell,
};

/// Every test program has this in its own environment, put there by cargo or by `xtask`.
const CALLERS_VARIABLE: &str = "CARGO_MANIFEST_DIR";

/// What a box sets itself, whatever the caller has under the same name.
const OF_THE_BOX: &[&str] =
    &["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TMPDIR", "GOROOT", "JAVA_HOME"];

pub fn cases() -> Vec<Case> {
    let mut all = vec![
        Case::new(
            "environment::nothing_of_the_caller",
            |_| command_line(&["env"]).env("GIVEN", "a value = with\nlines"),
            |_, outcome| {
                assert!(outcome.success);
                let callers: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
                assert!(callers.iter().any(|name| name == CALLERS_VARIABLE), "the test is one");
                let text = printed(outcome);
                assert!(text.contains("GIVEN=a value = with\nlines\n"));
                for line in text.lines() {
                    let name = line.split('=').next().unwrap_or_default();
                    assert!(
                        OF_THE_BOX.contains(&name) || !callers.iter().any(|caller| caller == name),
                        "{name} is the caller's"
                    );
                }
            },
        ),
        Case::new(
            "environment::arguments",
            |_| {
                let mut words = vec!["printf", "[%s]"];
                words.extend(ODD_WORDS);
                Request::command(words)
            },
            |_, outcome| {
                let expected: String = ODD_WORDS.iter().map(|word| format!("[{word}]")).collect();
                assert_printed(outcome, &expected);
            },
        ),
    ];
    all.extend(host_name());
    all.push(
        Case::new(
            "environment::directory",
            |_| shell("pwd; touch here && ls; test -d \"$HOME\" && touch /tmp/there && ls /tmp"),
            |_, outcome| {
                assert!(outcome.success, "stderr: {}", outcome.stderr.text());
                assert_eq!(lines(outcome), ["/workspace", "here", "there"]);
            },
        )
        .only(fumehood_tests::Condition::ISOLATED),
    );
    all
}

/// Words that a careless quoting would change.
const ODD_WORDS: &[&str] =
    &["", "two words", "new\nline", "ünïcödé ✓", "$HOME", "`id`", "a'b\"c\\d", "--", "*", "tab\t"];

fn host_name() -> Vec<Case> {
    let name = |_: &fumehood_tests::Scene| python("import socket; print(socket.gethostname())");
    let hosts_own = || rustix::system::uname().nodename().to_string_lossy().into_owned();
    Attack::new("environment::host_name", name, move |_, outcome| {
        assert!(outcome.success);
        assert_ne!(printed(outcome).trim(), hosts_own());
    })
    .twin(Weaker::Without(&[Layer::UtsNamespace]), move |_, outcome| {
        assert_eq!(printed(outcome).trim(), hosts_own());
    })
    .cases()
}
