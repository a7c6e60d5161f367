//! Every run is in the ledger, unless it is left out and may be.

mod common;

use std::{fs, path::Path, process::Command};

use common::{done, fumehood};

struct World(tempfile::TempDir);

impl World {
    fn new() -> World {
        World(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// The program with a ledger and settings of its own, in a directory of its own.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = fumehood(arguments);
        let work = self.path().join("work");
        fs::create_dir_all(&work).unwrap();
        command
            .current_dir(work)
            .env("FUMEHOOD_STATE_DIR", self.path().join("state"))
            .env("FUMEHOOD_CONFIG_DIR", self.path().join("config"));
        command
    }

    fn records(&self) -> Vec<serde_json::Value> {
        let run = done(&mut self.command(&["log", "--json"]));
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[test]
fn a_run_leaves_a_record_without_secrets() {
    let world = World::new();
    let line = ["run", "--lang", "bash", "--env", "TOKEN=s3cr3t", "--code", "echo pl41n; exit 4"];
    assert_eq!(done(&mut world.command(&line)).code, 4);
    let records = world.records();
    assert_eq!(records.len(), 1, "{records:?}");
    assert_eq!((&records[0]["status"], &records[0]["exit_code"]), (&"exited".into(), &4.into()));
    let text = fs::read_to_string(world.path().join("state/ledger/ledger.jsonl")).unwrap();
    assert!(text.contains("TOKEN") && text.contains("\"seccomp\""), "{text}");
    assert!(!text.contains("s3cr3t") && !text.contains("pl41n"), "{text}");
    assert_eq!(done(&mut world.command(&["log", "verify"])).code, 0);
}

#[test]
fn a_run_can_be_left_out_where_the_policy_allows_it() {
    let world = World::new();
    assert_eq!(done(&mut world.command(&["exec", "--no-ledger", "--", "true"])).code, 0);
    assert!(!world.path().join("state").exists());
    fs::write(
        world.path().join("work/sandbox.policy.yaml"),
        "version: 1\nledger:\n  required: true\n  record_code: true\n",
    )
    .unwrap();
    let run = done(&mut world.command(&["exec", "--no-ledger", "--", "touch", "ran"]));
    assert_eq!(run.code, 125);
    assert!(run.stderr.contains("sandbox.policy.yaml:3"), "{}", run.stderr);
    assert!(!world.path().join("work/ran").exists());
    let line = ["run", "--lang", "bash", "--code", "echo re4dable"];
    assert_eq!(done(&mut world.command(&line)).code, 0);
    let text = fs::read_to_string(world.path().join("state/ledger/ledger.jsonl")).unwrap();
    assert!(text.contains("re4dable"), "the policy wants the code recorded: {text}");
}

#[test]
fn nothing_runs_where_a_record_is_required_and_cannot_be_written() {
    let world = World::new();
    fs::write(world.path().join("state"), "in the way").unwrap();
    let run = done(&mut world.command(&["exec", "--json", "--", "true"]));
    assert_eq!(run.json()["violations"][0]["kind"], "unrecorded", "{}", run.stdout);
    let policy = world.path().join("work/sandbox.policy.yaml");
    fs::write(policy, "version: 1\nledger: {required: true}\n").unwrap();
    let run = done(&mut world.command(&["exec", "--", "touch", "ran"]));
    assert_eq!(run.code, 125, "{}", run.stderr);
    assert!(!world.path().join("work/ran").exists());
}

#[test]
fn the_configuration_turns_the_ledger_off() {
    let world = World::new();
    let mut command = world.command(&["exec", "--", "true"]);
    assert_eq!(done(command.env("FUMEHOOD_LEDGER", "false")).code, 0);
    assert!(!world.path().join("state").exists());
}

#[test]
fn configured_limits_hold_and_a_flag_is_bounded_by_the_ceiling() {
    let world = World::new();
    let memory = |command: &mut Command| {
        let run = done(command);
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.json()["run"]["limits"]["memory"].as_str().unwrap().to_owned()
    };
    let plan = ["exec", "--dry-run", "--json", "--", "true"];
    assert_eq!(memory(&mut world.command(&plan)), "512MiB");
    assert_eq!(memory(world.command(&plan).env("FUMEHOOD_MEMORY", "300m")), "300MiB");
    let flagged = ["exec", "--dry-run", "--json", "--memory", "200m", "--", "true"];
    assert_eq!(memory(world.command(&flagged).env("FUMEHOOD_MEMORY", "300m")), "200MiB");
    let policy = world.path().join("work/sandbox.policy.yaml");
    fs::write(policy, "version: 1\nceiling:\n  memory: 1g\n").unwrap();
    let large = ["exec", "--memory", "8g", "--", "true"];
    let run = done(&mut world.command(&large));
    assert_eq!(run.code, 125);
    assert!(run.stderr.contains("(sandbox.policy.yaml:3)"), "{}", run.stderr);
    assert_eq!(done(&mut world.command(&["exec", "--memory", "64m", "--", "true"])).code, 0);
}

#[test]
fn the_chosen_executor_is_said_when_asked_for() {
    let world = World::new();
    let run = done(&mut world.command(&["exec", "-v", "--", "true"]));
    assert!(run.stderr.contains("backend native"), "{}", run.stderr);
    let run = done(&mut world.command(&["exec", "--", "true"]));
    assert_eq!(run.stderr, "", "not on a terminal, not asked for");
    let mut docker = world.command(&["exec", "--", "true"]);
    let run = done(docker.env("FUMEHOOD_EXECUTOR", "docker"));
    assert_eq!(run.code, 125, "{}", run.stderr);
}
