//! The commands around the runs: doctor, languages, completions, help.

mod common;

use common::{done, fumehood, sandbox_run};

#[test]
fn doctor_names_every_backend_layer_and_language() {
    let run = done(&mut fumehood(&["doctor"]));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    for name in ["native", "local", "user_namespace", "seccomp", "memory_limit", "python", "bash"] {
        let row =
            run.stdout.lines().find(|line| line.trim_start().starts_with(&format!("{name} ")));
        let row = row.unwrap_or_else(|| panic!("no row for {name} in\n{}", run.stdout));
        let states = ["works", "best effort", "missing"];
        assert!(states.iter().any(|state| row.contains(state)), "{row}");
    }
    assert!(run.stdout.ends_with("Code can be run here.\n"), "{run:?}");
}

#[test]
fn doctor_speaks_json() {
    let examination = done(&mut fumehood(&["doctor", "--json", "--refresh"])).json();
    assert_eq!(examination["healthy"], true);
    assert_eq!(examination["layers"].as_array().unwrap().len(), 20);
    let weak = |health: &&serde_json::Value| health["strength"] != "full";
    for layer in examination["layers"].as_array().unwrap().iter().filter(weak) {
        assert!(!layer["detail"].as_str().unwrap().is_empty(), "{layer}");
    }
}

#[test]
fn languages_are_listed_with_their_names() {
    let run = done(&mut fumehood(&["languages"]));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let names = ["python", "javascript", "typescript", "go", "rust", "java", "bash", "c", "cpp"];
    for name in names {
        assert!(run.stdout.lines().any(|line| line.trim_start().starts_with(name)), "{name}");
    }
    assert!(run.stdout.contains("also py, python3; .py, .pyw"), "{run:?}");
    let listed = done(&mut fumehood(&["languages", "--json"])).json();
    let listed: Vec<&str> =
        listed.as_array().unwrap().iter().map(|each| each["name"].as_str().unwrap()).collect();
    assert_eq!(listed, names);
}

#[test]
fn completions_know_the_options() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = done(&mut fumehood(&["completions", shell]));
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{shell}");
        assert!(run.stdout.contains("output-limit"), "{shell}");
    }
}

#[test]
fn help_and_version_are_no_failure() {
    for command in ["run", "exec", "diff", "apply", "discard", "doctor", "languages", "completions"]
    {
        let run = done(&mut fumehood(&[command, "--help"]));
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{command}");
        assert!(run.stdout.contains("Examples:\n  fumehood "), "{command}: {}", run.stdout);
    }
    assert!(done(&mut fumehood(&["--help"])).stdout.contains("Examples:"));
    let help = done(&mut sandbox_run(&["--help"]));
    assert!(help.stdout.contains("Usage: sandbox-run [OPTIONS] [FILE]"), "{help:?}");
    for mut command in [fumehood(&["--version"]), sandbox_run(&["--version"])] {
        let run = done(&mut command);
        assert_eq!(run.code, 0);
        assert!(run.stdout.trim_end().ends_with(env!("CARGO_PKG_VERSION")), "{run:?}");
    }
}
