//! `fumehood config`, in a home and a project of its own.

mod common;

use std::{fs, path::PathBuf, process::Command};

use common::{Done, done, fumehood};
use tempfile::TempDir;

/// A home and a project that nobody else has.
struct World {
    root: TempDir,
}

impl World {
    fn new() -> World {
        let root = tempfile::tempdir().unwrap();
        for directory in ["home", "config", "project/deep"] {
            fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        World { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = fumehood(arguments);
        command
            .env_clear()
            .env("HOME", self.path("home"))
            .env("FUMEHOOD_CONFIG_DIR", self.path("config"))
            .current_dir(self.path("project/deep"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Done {
        done(&mut self.command(arguments))
    }
}

/// The row of a key: its value and its origin.
fn row(run: &Done, key: &str) -> (String, String) {
    let line = run.stdout.lines().find(|line| line.starts_with(&format!("{key} ")));
    let line = line.unwrap_or_else(|| panic!("no {key} in\n{}", run.stdout));
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, value, origin] = words[..] else { panic!("{line}") };
    (value.to_owned(), origin.to_owned())
}

#[test]
fn show_names_every_value_and_its_origin() {
    let world = World::new();
    let run = world.run(&["config", "show"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    assert!(run.stdout.lines().all(|line| line.ends_with("  default")), "{}", run.stdout);
    assert_eq!(row(&run, "executor.order").0, "native,podman,docker");
    assert_eq!(row(&run, "limits.memory").0, "-");

    world.write("config/fumehood.toml", "[limits]\nmemory = \"1g\"\ncpus = 2\n");
    world.write("project/fumehood.yaml", "limits:\n  cpus: 0.5\n");
    let mut command = world.command(&["config", "show"]);
    let run = done(command.env("FUMEHOOD_DOCKER_IMAGE", "debian:stable"));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    let at = |name: &str, line| format!("{}:{line}", world.path(name).display());
    assert_eq!(row(&run, "limits.memory"), ("1GiB".into(), at("config/fumehood.toml", 2)));
    assert_eq!(row(&run, "limits.cpus"), ("0.5".into(), at("project/fumehood.yaml", 2)));
    assert_eq!(row(&run, "docker.image"), ("debian:stable".into(), "FUMEHOOD_DOCKER_IMAGE".into()));
    assert_eq!(row(&run, "podman.image"), ("-".into(), "default".into()));
}

#[test]
fn show_speaks_json() {
    let world = World::new();
    world.write("project/fumehood.json", r#"{"executor": {"order": ["docker"]}}"#);
    let rows = world.run(&["config", "show", "--json"]).json();
    let find = |key: &str| {
        let rows = rows.as_array().unwrap();
        rows.iter().find(|row| row["key"] == key).unwrap_or_else(|| panic!("no {key}")).clone()
    };
    let order = find("executor.order");
    assert_eq!(order["value"][0], "docker");
    assert_eq!(order["default"], false);
    assert_eq!(order["variable"], "FUMEHOOD_EXECUTOR_ORDER");
    assert!(order["origin"].as_str().unwrap().ends_with("project/fumehood.json:1"), "{order}");
    let memory = find("limits.memory");
    assert_eq!((&memory["value"], &memory["default"]), (&().into(), &true.into()));
}

#[test]
fn the_user_is_found_without_a_variable() {
    let world = World::new();
    fs::create_dir_all(world.path("home/.config/fumehood")).unwrap();
    world.write("home/.config/fumehood/fumehood.toml", "[limits]\npids = 7\n");
    let mut command = world.command(&["config", "show"]);
    let run = done(command.env_remove("FUMEHOOD_CONFIG_DIR"));
    assert_eq!(row(&run, "limits.pids").0, "7");
}

#[test]
fn a_mistake_is_shown_where_it_is() {
    let world = World::new();
    world.write("config/fumehood.toml", "[docker]\nimgae = \"x\"\n");
    let run = world.run(&["config", "show"]);
    assert_eq!((run.code, run.stdout.as_str()), (125, ""), "{run:?}");
    assert!(run.stderr.starts_with("fumehood: unknown key `imgae` in `docker`\n"), "{run:?}");
    assert!(run.stderr.contains("fumehood.toml:2:1\n"), "{run:?}");
    assert!(run.stderr.contains("2 | imgae = \"x\"\n  | ^^^^^ no such key\n"), "{run:?}");
    assert!(run.stderr.ends_with("= help: did you mean `image`?\n"), "{run:?}");
    let refusal = world.run(&["config", "show", "--json"]).json();
    assert_eq!(refusal["status"], "refused");
}

#[test]
fn a_project_cannot_switch_isolation_off() {
    let world = World::new();
    world.write("project/fumehood.toml", "[executor]\ntype = \"local\"\n");
    let run = world.run(&["config", "show"]);
    assert_eq!(run.code, 125, "{run:?}");
    assert!(run.stderr.contains("cannot be chosen by the file of a project"), "{run:?}");
}

#[test]
fn a_misspelt_variable_is_told() {
    let world = World::new();
    let run = done(world.command(&["config", "show"]).env("FUMEHOOD_TIMEOUTS", "1s"));
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(
        run.stderr,
        "fumehood: the variable FUMEHOOD_TIMEOUTS is not known: did you mean FUMEHOOD_TIMEOUT?\n"
    );
}

#[test]
fn path_says_what_is_there() {
    let world = World::new();
    world.write("project/fumehood.toml", "");
    let run = world.run(&["config", "path"]);
    let path = |name| world.path(name).display().to_string();
    let expected = format!(
        "looked for fumehood.toml, fumehood.yaml, fumehood.json\n\
         user     -      {}\nproject  -      {}\nproject  found  {}\n",
        path("config"),
        path("project/deep"),
        path("project/fumehood.toml"),
    );
    run.expect(0, &expected, "");
}

#[test]
fn the_schema_is_the_one_that_is_written_down() {
    let world = World::new();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema");
    let written = fs::read_to_string(format!("{root}/fumehood.config.schema.json")).unwrap();
    let written: serde_json::Value = serde_json::from_str(&written).unwrap();
    assert_eq!(world.run(&["config", "schema"]).json(), written);
}

#[test]
fn help_has_examples() {
    for arguments in [
        &["config", "--help"][..],
        &["config", "show", "--help"],
        &["config", "path", "--help"],
        &["config", "schema", "--help"],
    ] {
        let run = done(&mut fumehood(arguments));
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
        assert!(run.stdout.contains("Examples:\n  fumehood config "), "{run:?}");
    }
}
