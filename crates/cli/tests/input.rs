//! Where code and input come from, and what a box gets of its caller.

mod common;

use std::fs;

use common::{done, done_with_input, fumehood};

#[test]
fn code_comes_from_a_text_a_file_or_standard_input() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("code.sh"), "echo $(basename $0) $1").unwrap();
    fs::write(directory.path().join("unnamed"), "echo unnamed").unwrap();
    let run = |arguments: &[&str]| {
        let run = done_with_input(
            fumehood(&["run"]).args(arguments).current_dir(directory.path()),
            b"echo from stdin",
        );
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{arguments:?}");
        run.stdout
    };
    assert_eq!(run(&["--lang", "bash", "--code", "echo text"]), "text\n");
    assert_eq!(run(&["code.sh", "--", "argument"]), "code.sh argument\n");
    assert_eq!(run(&["--file", "code.sh", "--", "argument"]), "code.sh argument\n");
    assert_eq!(run(&["--lang", "sh", "unnamed"]), "unnamed\n");
    assert_eq!(run(&["--lang", "bash", "-"]), "from stdin\n");
    assert_eq!(run(&["--lang", "bash"]), "from stdin\n");
}

#[test]
fn input_comes_from_a_text_a_file_or_the_caller() {
    let directory = tempfile::tempdir().unwrap();
    let long = "line\n".repeat(100_000);
    fs::write(directory.path().join("input.txt"), &long).unwrap();
    let cat = |arguments: &[&str]| {
        let mut command = fumehood(&["exec"]);
        command.args(arguments).args(["--", "cat"]).current_dir(directory.path());
        let run = done_with_input(&mut command, b"from the caller");
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{arguments:?}");
        run.stdout
    };
    assert_eq!(cat(&["--stdin", "a text"]), "a text");
    assert_eq!(cat(&["--stdin", ""]), "");
    assert_eq!(cat(&[]), "from the caller");
    assert_eq!(cat(&["--stdin", "-"]), "from the caller");
    assert!(cat(&["--stdin", "@input.txt"]) == long);
    assert_eq!(done(&mut fumehood(&["exec", "--", "cat"])).stdout, "");
}

#[test]
fn a_program_run_from_a_file_has_the_callers_input() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("code.sh"), "cat").unwrap();
    let mut command = fumehood(&["run", "code.sh"]);
    command.current_dir(directory.path());
    assert_eq!(done_with_input(&mut command, b"input").stdout, "input");
}

#[test]
fn code_on_standard_input_leaves_no_input_unless_it_is_named() {
    let run = |arguments: &[&str]| {
        done_with_input(fumehood(&["run", "--lang", "bash"]).args(arguments), b"cat; echo end")
    };
    assert_eq!(run(&[]).stdout, "end\n");
    assert_eq!(run(&["--stdin", "text "]).stdout, "text end\n");
    let twice = run(&["--stdin", "-"]);
    assert_eq!((twice.code, twice.stdout.as_str()), (125, ""));
    assert!(twice.stderr.contains("--stdin @FILE"), "{twice:?}");
}

#[test]
fn a_program_that_does_not_read_its_input_ends_all_the_same() {
    let run = done_with_input(&mut fumehood(&["exec", "--", "true"]), &vec![b'x'; 1 << 20]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

#[test]
fn the_current_directory_is_the_workspace() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("given"), "given").unwrap();
    let exec = |arguments: &[&str]| {
        done(fumehood(&["exec"]).args(arguments).current_dir(directory.path()))
    };
    exec(&["--", "sh", "-c", "pwd; cat given; echo made > made"]).expect(
        0,
        "/workspace\ngiven",
        "",
    );
    assert_eq!(fs::read_to_string(directory.path().join("made")).unwrap(), "made\n");
    exec(&["--workspace", "none", "--", "sh", "-c", "pwd; ls; touch x"]).expect(
        0,
        "/workspace\n",
        "",
    );
    let refused = exec(&["--workspace", ".:ro", "--", "touch", "refused"]);
    assert_ne!(refused.code, 0);
    assert!(!directory.path().join("refused").exists());
    let mut names: Vec<_> =
        fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["given", "made"]);
}

#[test]
fn mounts_are_read_only_unless_said_otherwise() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("given"), "given").unwrap();
    let path = directory.path().to_str().unwrap();
    let exec = |mode: &str| {
        let mount = format!("{path}:/data{mode}");
        let script = "cat /data/given && echo more >> /data/given";
        done(&mut fumehood(&["exec", "--mount", &mount, "--", "sh", "-c", script])).code
    };
    assert_ne!(exec(""), 0);
    assert_eq!(fs::read_to_string(directory.path().join("given")).unwrap(), "given");
    assert_eq!(exec(":rw"), 0);
    assert_eq!(fs::read_to_string(directory.path().join("given")).unwrap(), "givenmore\n");
}

#[test]
fn only_named_variables_reach_the_program() {
    let run = done(
        fumehood(&["exec", "--env", "GIVEN=1 2", "--env", "COPIED", "--", "env"])
            .env("COPIED", "copied")
            .env("SECRET_TOKEN", "secret"),
    );
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines.contains(&"GIVEN=1 2") && lines.contains(&"COPIED=copied"), "{run:?}");
    assert!(!run.stdout.contains("secret"), "{run:?}");
}
