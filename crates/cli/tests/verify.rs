//! `fumehood verify` from the command line: what it says, what it ends with, and that it leaves the
//! user's ledger alone.

mod common;

use common::{done, fumehood};
use serde_json::Value;

fn findings(value: &Value) -> &Vec<Value> {
    value["findings"].as_array().expect("findings")
}

#[test]
fn attacks_are_stopped_and_their_twins_are_not() {
    let words = ["verify", "--only", "k6,K13,F5,N1,S4", "--prove", "--json"];
    let ran = done(&mut fumehood(&words));
    assert_eq!(ran.code, 0, "{ran:?}");
    let found = ran.json();
    assert_eq!(found["proven"], true);
    assert_eq!(found["counts"]["stopped"], 5);
    let ids: Vec<&str> = findings(&found).iter().filter_map(|one| one["id"].as_str()).collect();
    assert_eq!(ids, ["K6", "K13", "F5", "N1", "S4"]);
    for finding in findings(&found) {
        assert_eq!(finding["verdict"], "stopped", "{finding:#}");
        assert_eq!(finding["twin"]["verdict"], "shown", "{finding:#}");
        assert!(!finding["seen"].as_array().expect("answers").is_empty());
    }
}

#[test]
fn the_table_says_it_in_words() {
    let ran = done(&mut fumehood(&["verify", "--only", "K7"]));
    assert_eq!(ran.code, 0, "{ran:?}");
    for words in ["Kernel and privilege", "K7", "clone3", "ENOSYS", "stopped", "seccomp"] {
        assert!(ran.stdout.contains(words), "{words} is not in\n{}", ran.stdout);
    }
    assert!(ran.stdout.contains("1 stopped, 0 got through, 0 not run"), "{}", ran.stdout);
    assert_eq!(ran.stderr, "", "progress is for terminals");
}

#[test]
fn what_is_not_in_the_catalogue_is_refused() {
    let ran = done(&mut fumehood(&["verify", "--only", "K99"]));
    let sentence = "there is no attack `K99`: name a family (K, R, F, N, S) or a row such as K6";
    assert_eq!(ran.code, 125);
    assert!(ran.stderr.contains(sentence), "{}", ran.stderr);
    let ran = done(&mut fumehood(&["verify", "--backend", "local"]));
    assert_eq!(ran.code, 125);
    assert!(ran.stderr.contains("isolates nothing"), "{}", ran.stderr);
}

#[test]
fn the_ledger_of_the_user_is_left_alone() {
    let state = tempfile::tempdir().expect("a directory");
    let mut command = fumehood(&["verify", "--only", "S2,K10"]);
    let ran = done(command.env("FUMEHOOD_STATE_DIR", state.path()));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!state.path().join("ledger").exists());
}

#[test]
fn the_help_has_examples() {
    let ran = done(&mut fumehood(&["verify", "--help"]));
    assert_eq!(ran.code, 0);
    for words in
        ["fumehood verify --only K,N12", "--prove", "exit code is 0 if nothing got through"]
    {
        assert!(ran.stdout.contains(words), "{words} is not in\n{}", ran.stdout);
    }
}
