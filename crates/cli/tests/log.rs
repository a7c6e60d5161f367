//! `fumehood log`, on ledgers that the library wrote.

mod common;
#[path = "../../engine/tests/ledger/samples.rs"]
mod samples;

use std::{fs, path::PathBuf, process::Command};

use common::{Done, done, fumehood};
use fumehood::{
    Request, Status,
    ledger::{Ledger, Recording, Settings},
};
use samples::{append, filled, outcome, too_much_memory};

/// A state directory of its own.
struct State {
    directory: tempfile::TempDir,
}

impl State {
    fn new() -> State {
        State { directory: tempfile::tempdir().unwrap() }
    }

    fn ledger_dir(&self) -> PathBuf {
        self.directory.path().join("ledger")
    }

    fn open(&self) -> Ledger {
        Ledger::open(&self.ledger_dir(), Settings::default()).unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = fumehood(&[&["log"], arguments].concat());
        command.env("FUMEHOOD_STATE_DIR", self.directory.path());
        command
    }

    #[track_caller]
    fn log(&self, arguments: &[&str]) -> Done {
        done(&mut self.command(arguments))
    }

    fn newest(&self) -> PathBuf {
        self.ledger_dir().join("ledger.jsonl")
    }
}

#[test]
fn nothing_recorded_is_no_failure_and_makes_nothing() {
    let state = State::new();
    state.log(&[]).expect(0, "No runs.\n", "");
    state.log(&["--json"]).expect(0, "", "");
    state.log(&["verify"]).expect(0, "Nothing was recorded yet.\n", "");
    assert_eq!(state.log(&["head"]).code, 125);
    assert_eq!(state.log(&["show", "1"]).code, 125);
    assert!(!state.ledger_dir().exists());
}

#[test]
fn runs_are_listed_newest_first() {
    let state = State::new();
    let ledger = filled(&state.ledger_dir(), Settings::default(), 30);
    append(&ledger, &Request::code("python", "print(1)"), &too_much_memory(2, 0));
    let run = state.log(&[]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines.len(), 21, "a title and twenty runs: {}", run.stdout);
    assert!(lines[0].starts_with("TIME (UTC)"), "{}", lines[0]);
    for part in ["01a1dde67377-2-0", "oom", "signal 9", "12.5 ms", "9.0 MiB", "python: code"] {
        assert!(lines[1].contains(part), "{part}: {}", lines[1]);
    }
    assert!(lines[2].ends_with("echo 29") && lines[20].ends_with("echo 11"), "{}", run.stdout);
    assert_eq!(state.log(&["-n", "100"]).stdout.lines().count(), 32);
}

#[test]
fn runs_can_be_picked() {
    let state = State::new();
    let ledger = filled(&state.ledger_dir(), Settings::default(), 3);
    append(&ledger, &Request::command(["greedy"]), &too_much_memory(2, 0));
    let mut slow = outcome(3, 0);
    (slow.status, slow.plan_digest) = (Status::Timeout, fumehood::Digest::of(b"another plan"));
    append(&ledger, &Request::command(["slow"]), &slow);
    let count = |arguments: &[&str]| {
        let run = state.log(&[arguments, &["--json"]].concat());
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{arguments:?}");
        let records = run.stdout.lines().map(serde_json::from_str::<serde_json::Value>);
        records.collect::<Result<Vec<_>, _>>().unwrap().len()
    };
    let plan = slow.plan_digest.to_string();
    for (arguments, expected) in [
        (&[][..], 5),
        (&["--status", "timeout"], 1),
        (&["--status", "exited"], 3),
        (&["--backend", "native"], 5),
        (&["--backend", "local"], 0),
        (&["--violation"], 1),
        (&["--violation", "memory"], 1),
        (&["--violation", "disk"], 0),
        (&["--since", "1h"], 5),
        (&["--since", "9999-01-01"], 0),
        (&["--since", "1h", "--violation", "--status", "oom", "-n", "1"], 1),
        (&["--plan", &plan], 1),
    ] {
        assert_eq!(count(arguments), expected, "{arguments:?}");
    }
    // What programs get is the line itself.
    let newest = state.log(&["-n", "1", "--json"]).stdout;
    assert!(fs::read_to_string(state.newest()).unwrap().ends_with(&newest));
    for (arguments, message) in [
        (["--since", "2026"], "`2026` is not a time"),
        (["--status", "tiemout"], "unknown status `tiemout`; one of exited"),
        (["--violation", "x"], "unknown violation `x`; one of timeout"),
        (["--plan", "x"], "`x` is not a digest"),
    ] {
        let run = state.log(&arguments);
        assert!(run.code == 125 && run.stderr.contains(message), "{run:?}");
    }
}

#[test]
fn one_run_is_shown_in_full() {
    let state = State::new();
    let ledger = filled(&state.ledger_dir(), Settings::default(), 2);
    let request = Request::code("python", "print('s3cret')").env("TOKEN", "s3cret").stdin("s3cret");
    append(&ledger, &request, &too_much_memory(0x7f, 0));
    let run = state.log(&["show", "01a1dde67377-7f"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    for part in ["01a1dde67377-7f-0", "python", "TOKEN: digest", "15 bytes", "more than 512MiB"] {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
    assert!(!run.stdout.contains("s3cret"), "{}", run.stdout);
    let record = state.log(&["show", "01a1dde67377-7f-0", "--json"]).json();
    assert_eq!(record["status"], "oom");
    assert_eq!(record["enforced"].as_object().unwrap().len(), 20);
    assert!(!record.to_string().contains("s3cret"));

    let run = state.log(&["show", "01a1dde67377-1"]);
    assert!(run.code == 125 && run.stderr.contains("several runs"), "{run:?}");
    let run = state.log(&["show", "01a1dde67377-7e-0"]);
    assert!(run.stderr.contains("did you mean 01a1dde67377-7f-0?"), "{run:?}");
    let refusal = state.log(&["show", "zzz", "--json"]).json();
    assert!(refusal["error"].as_str().unwrap().contains("begins with `zzz`"), "{refusal}");
}

#[test]
fn what_the_settings_ask_for_is_recorded() {
    let state = State::new();
    let recording = Recording { code: true, env: true, argv: false };
    let settings = Settings { recording, ..Settings::default() };
    let ledger = Ledger::open(&state.ledger_dir(), settings).unwrap();
    let request = Request::code("python", "print(1)").env("MODE", "fast");
    append(&ledger, &request, &outcome(1, 0));
    append(&ledger, &Request::command(["login", "s3cret"]), &outcome(1, 1));
    let record = state.log(&["show", "01a1dde67377-1-0", "--json"]).json();
    assert_eq!(record["request"]["code"]["text"], "print(1)");
    assert_eq!(record["request"]["env"]["MODE"]["text"], "fast");
    let listed = state.log(&["--json"]).stdout + &state.log(&[]).stdout;
    assert!(!listed.contains("s3cret"), "{listed}");
}

#[test]
fn a_record_cannot_disturb_the_terminal() {
    let state = State::new();
    let nasty = "\x1b[2J\x1b]0;title\x07\n\t\u{202e}row";
    append(&state.open(), &Request::command([nasty]), &outcome(1, 0));
    for arguments in [&[][..], &["show", "01"]] {
        let run = state.log(arguments);
        assert!(!run.stdout.contains(['\x1b', '\x07', '\t', '\u{202e}']), "{run:?}");
        assert!(run.stdout.contains("\\e[2J"), "{run:?}");
    }
    assert_eq!(state.log(&[]).stdout.lines().count(), 2);
}

#[test]
fn verify_says_whether_it_is_whole_and_names_what_is_not() {
    let state = State::new();
    drop(filled(&state.ledger_dir(), Settings::default(), 4));
    let head = state.log(&["head"]).stdout;
    let whole = format!("Whole: 4 runs in 5 records.\nHead: {head}");
    state.log(&["verify"]).expect(0, &whole, "");
    state.log(&["verify", "--head", head.trim()]).expect(0, &whole, "");
    let answer = state.log(&["verify", "--json"]).json();
    assert_eq!((&answer["whole"], &answer["runs"]), (&true.into(), &4.into()));
    assert_eq!(state.log(&["head", "--json"]).json()["record"], 5);
    let other = "0".repeat(64);
    let run = state.log(&["verify", "--head", &other]);
    assert!(run.code == 1 && run.stdout.contains("no record has the noted hash"), "{run:?}");
    assert_eq!(state.log(&["verify", "--head", "x"]).code, 125);

    let original = fs::read(state.newest()).unwrap();
    let mut edited = original.clone();
    let third = original.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0;
    edited[third + 300] ^= 1;
    fs::write(state.newest(), edited).unwrap();
    state.log(&["verify"]).expect(
        1,
        "Broken: ledger.jsonl line 3, record 3 (run 01a1dde67377-1-1): \
         its bytes do not match its hash: it was edited\n",
        "",
    );
    let run = state.log(&["verify", "--json"]);
    let answer = run.json();
    assert_eq!(run.code, 1);
    assert_eq!(answer["whole"], false);
    assert_eq!(answer["fault"], "edited");
    assert_eq!((&answer["record"], &answer["id"]), (&3.into(), &"01a1dde67377-1-1".into()));

    fs::write(state.newest(), [&original[..], b"{\"seq\":6"].concat()).unwrap();
    let run = state.log(&["verify"]);
    assert!(run.code == 0 && run.stdout.contains("the last line is not finished"), "{run:?}");
    append(&state.open(), &Request::command(["x"]), &outcome(1, 9));
    let run = state.log(&["verify"]);
    assert!(run.code == 0 && run.stdout.contains("in the middle of 1 record."), "{run:?}");
}

#[test]
fn lines_that_cannot_be_read_are_left_out_and_said() {
    let state = State::new();
    drop(filled(&state.ledger_dir(), Settings::default(), 2));
    let text = fs::read_to_string(state.newest()).unwrap();
    fs::write(state.newest(), format!("{text}garbage\n")).unwrap();
    let run = state.log(&[]);
    assert_eq!(run.stdout.lines().count(), 3);
    assert_eq!(
        run.stderr,
        "fumehood: 1 line of the ledger cannot be read; see `fumehood log verify`\n"
    );
}

#[test]
fn every_part_explains_itself() {
    for arguments in
        [&["--help"][..], &["show", "--help"], &["verify", "--help"], &["head", "--help"]]
    {
        let run = done(&mut fumehood(&[&["log"], arguments].concat()));
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{arguments:?}");
        assert!(run.stdout.contains("Examples:\n  fumehood log"), "{}", run.stdout);
    }
    let run = done(fumehood(&["log"]).env_clear());
    assert!(run.code == 125 && run.stderr.contains("set HOME"), "{run:?}");
}
