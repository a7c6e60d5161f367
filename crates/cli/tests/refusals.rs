//! What cannot be done is refused: exit code 125, one sentence with the next step, nothing left.
//!
//! One test function: it counts the descendants of this process, which no other test may disturb.

mod common;

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use common::{Done, done, fumehood};
use rustix::process::{WaitOptions, set_child_subreaper, wait};

/// Arguments, and what the sentence must hold: the reason and the next step.
const REFUSED: &[(&[&str], &[&str])] = &[
    (&["run", "--lang", "pyhton", "--code", "1"], &["unknown language `pyhton`", "`python`"]),
    (&["run", "--lang", "cobol-85", "--code", "1"], &["unknown language", "fumehood languages"]),
    (&["run", "missing.py"], &["missing.py", "No such file", "check the path"]),
    (&["run", "."], &["the language of . is not known", "--lang"]),
    (&["run", "--lang", "bash", "."], &["directory", "check the path"]),
    (&["run", "--lang", "bash", "--code", ""], &["the code is empty", "--code TEXT"]),
    (&["run", "--lang", "bash"], &["the code is empty", "--code TEXT"]),
    (&["run", "--code", "1"], &["the language of the code is not known", "--lang python"]),
    (
        &["exec", "--memory", "banana", "--", "true"],
        &["`banana` is not a size: it does not start with a number; write for example 512m"],
    ),
    (
        &["exec", "--timeout", "-1s", "--", "true"],
        &["`-1s` is negative, and a time cannot be: write for example 30s"],
    ),
    (&["exec", "--pids", "0", "--", "true"], &["`0` is too small", "the least count is 1"]),
    (&["exec", "--backend", "docke", "--", "true"], &["unknown backend `docke`", "native"]),
    (&["exec", "--mount", "/missing/at/all:/data", "--", "true"], &["/missing/at/all", "check"]),
    (&["exec", "--mount", "/tmp:relative", "--", "true"], &["relative", "absolute path"]),
    (&["exec", "--workspace", "missing", "--", "true"], &["missing", "check the path"]),
    (&["exec", "--stdin", "@missing", "--", "true"], &["the input file missing", "check the path"]),
    (&["exec", "--env", "FUMEHOOD_NOT_SET", "--", "true"], &["is not set", "=VALUE"]),
    (&["exec", "--"], &["the command is empty", "name a program"]),
    (&["exec"], &["the command is empty", "name a program"]),
    (&["exec", ""], &["the command is empty", "name a program"]),
    (&["exec", "--nonsense", "--", "true"], &["'--nonsense'", "see `fumehood exec --help`"]),
    (&["nonsense"], &["'nonsense'", "see `fumehood --help`"]),
    (&[], &["requires a subcommand", "see `fumehood --help`"]),
];

#[test]
fn refusals_are_clear_and_leave_nothing() {
    // Whatever a refused run would leave behind becomes a child of this process.
    set_child_subreaper(Some(rustix::process::getpid())).unwrap();
    let directory = tempfile::tempdir().unwrap();
    for (arguments, parts) in REFUSED {
        let run = done(fumehood(arguments).current_dir(directory.path()));
        check(&run, arguments, parts);
        nothing_is_left(directory.path(), arguments);
    }
    json_refusals_are_json(directory.path());
    a_missing_toolchain_is_named_with_its_remedy();
    nothing_outlives_a_run(directory.path());
}

fn check(run: &Done, arguments: &[&str], parts: &[&str]) {
    assert_eq!((run.code, run.stdout.as_str()), (125, ""), "{arguments:?}: {run:?}");
    assert!(run.stderr.starts_with("fumehood: "), "{arguments:?}: {run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{arguments:?}: {run:?}");
    for part in parts {
        assert!(run.stderr.contains(part), "{arguments:?}: `{part}` is not in {}", run.stderr);
    }
}

fn json_refusals_are_json(directory: &Path) {
    for arguments in [
        &["run", "--json", "--lang", "pyhton", "--code", "1"][..],
        &["run", "--format", "jsonl", "missing.py"],
        &["exec", "--json", "--memory", "banana", "--", "true"],
    ] {
        let run = done(fumehood(arguments).current_dir(directory));
        assert_eq!(run.code, 125, "{run:?}");
        let refusal = run.json();
        assert_eq!(refusal["success"], false);
        assert_eq!(refusal["status"], "refused");
        let sentence = refusal["error"].as_str().unwrap();
        assert_eq!(run.stderr, format!("fumehood: {sentence}\n"));
        nothing_is_left(directory, arguments);
    }
}

/// Java, with an empty home, an empty `PATH`, and nothing where systems install it: hidden in a
/// mount namespace, so that it is seen as missing on every machine.
fn a_missing_toolchain_is_named_with_its_remedy() {
    const HIDE: &str = "[ ! -d /usr/lib/jvm ] || mount -t tmpfs none /usr/lib/jvm || exit
        PATH=$HOME; export PATH; exec \"$0\" \"$@\"";
    let empty = tempfile::tempdir().unwrap();
    let without_java = |arguments: &[&str]| -> Done {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", HIDE]);
        command.arg(env!("CARGO_BIN_EXE_fumehood")).args(arguments);
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").stdin(Stdio::null());
        done(command.env("HOME", empty.path()).env("FUMEHOOD_CACHE_DIR", empty.path()))
    };
    let arguments = ["run", "--lang", "java", "--code", "class A {}"];
    check(&without_java(&arguments), &arguments, &["Java", "javac", "install"]);
    // It is the toolchain that is missing, and nothing else.
    let run = without_java(&["languages", "--json"]);
    let works: Vec<bool> = ["java", "bash"]
        .iter()
        .map(|name| {
            let listed = run.json();
            let mut languages = listed.as_array().unwrap().iter();
            languages.find(|each| each["name"] == *name).unwrap()["works"] == true
        })
        .collect();
    assert_eq!(works, [false, true], "{run:?}");
}

/// Runs that fumehood itself ends, with processes that would like to stay.
fn nothing_outlives_a_run(directory: &Path) {
    let stay = "(trap '' TERM HUP INT; sleep 61) & setsid sleep 61 & sleep 61";
    for (arguments, code) in [
        (&["exec", "--timeout", "300ms", "--grace", "100ms", "--", "sh", "-c", stay][..], 124),
        (&["exec", "--", "sh", "-c", "setsid sleep 61 & exit 4"], 4),
    ] {
        let run = done(fumehood(arguments).current_dir(directory));
        assert_eq!(run.code, code, "{run:?}");
        nothing_is_left(directory, arguments);
    }
}

/// No descendant of the program, and no file where it was started.
fn nothing_is_left(directory: &Path, arguments: &[&str]) {
    let patience = Instant::now() + Duration::from_secs(2);
    loop {
        match wait(WaitOptions::NOHANG) {
            Err(rustix::io::Errno::CHILD) => break,
            Err(error) => panic!("{error}"),
            Ok(_) => assert!(Instant::now() < patience, "a process outlived {arguments:?}"),
        }
        thread::sleep(Duration::from_millis(5));
    }
    let files: Vec<_> = fs::read_dir(directory).unwrap().collect();
    assert!(files.is_empty(), "{arguments:?} left {files:?}");
}
