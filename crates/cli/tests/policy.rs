//! `fumehood policy`: check, show, explain and schema, with files in a directory of their own.

mod common;

use std::{fs, path::Path};

use common::{Done, done, fumehood};
use tempfile::TempDir;

/// A project directory and a configuration directory that nobody else uses.
struct Scene {
    root: TempDir,
}

impl Scene {
    fn new() -> Scene {
        let root = tempfile::tempdir().unwrap();
        for directory in ["project/src", "config"] {
            fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        Scene { root }
    }

    fn with(project: &str) -> Scene {
        let scene = Scene::new();
        scene.write("project/sandbox.policy.yaml", project);
        scene
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.root.path().join(path), format!("version: 1\n{text}")).unwrap();
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.root.path().join(path)
    }

    #[track_caller]
    fn policy(&self, arguments: &[&str]) -> Done {
        self.policy_in("project", arguments)
    }

    #[track_caller]
    fn policy_in(&self, directory: &str, arguments: &[&str]) -> Done {
        let mut command = fumehood(&[&["policy"], arguments].concat());
        command
            .current_dir(self.path(directory))
            .env("FUMEHOOD_CONFIG_DIR", self.path("config"))
            .env("HOME", self.root.path())
            .env_remove("XDG_CONFIG_HOME");
        done(&mut command)
    }
}

#[test]
fn a_sound_policy_is_called_sound() {
    let scene = Scene::with("proc: {memory: 1g}\n");
    let checked = scene.policy(&["check"]);
    assert_eq!((checked.code, checked.stderr.as_str()), (0, ""), "{checked:?}");
    assert!(checked.stdout.contains("sandbox.policy.yaml is sound"), "{checked:?}");
    let from_below = scene.policy_in("project/src", &["check"]);
    assert!(from_below.stdout.contains("sandbox.policy.yaml is sound"), "{from_below:?}");
    let none = Scene::new().policy(&["check"]);
    none.expect(0, "no sandbox.policy.yaml here or above: the default profile holds\n", "");
}

#[test]
fn a_misspelt_key_is_shown_with_its_line_and_the_right_key() {
    let scene = Scene::with("fs:\n  dney: [a]\n");
    scene.policy(&["check", "sandbox.policy.yaml"]).expect(
        125,
        "",
        "fumehood: unknown key `dney` in `fs`\n --> sandbox.policy.yaml:3:3\n  |\n3 |   dney: [a]\n  \
         |   ^^^^ no such key\n  = help: did you mean `deny`?\n",
    );
    let shown = scene.policy(&["show", "--json"]);
    assert_eq!(shown.code, 125);
    assert_eq!(shown.json()["status"], "refused");
}

#[test]
fn a_project_past_the_ceiling_of_its_user_is_refused_with_both_lines() {
    let scene = Scene::with("proc:\n  memory: 8g\n");
    scene.write("config/policy.yaml", "ceiling:\n  memory: 1g\n");
    let refused = scene.policy(&["check"]);
    assert_eq!(refused.code, 125, "{refused:?}");
    assert!(refused.stderr.contains("sandbox.policy.yaml:3:11"), "{refused:?}");
    assert!(refused.stderr.contains("config/policy.yaml:3:11"), "{refused:?}");
    scene.write("project/sandbox.policy.yaml", "proc:\n  memory: 64m\n");
    assert_eq!(scene.policy(&["check"]).code, 0);
}

#[test]
fn every_value_is_shown_with_its_origin() {
    let scene = Scene::with("fs:\n  deny: [\"**/.env\"]\nenv:\n  set: {CI: \"true\"}\n");
    scene.write("config/policy.yaml", "proc:\n  pids: 7\n");
    let shown = scene.policy(&["show"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let line = |start: &str| {
        let found = shown.stdout.lines().find(|line| line.trim_start().starts_with(start));
        found.unwrap_or_else(|| panic!("{start} is not in {}", shown.stdout)).to_owned()
    };
    assert!(line("- \"**/.env\"").ends_with("# sandbox.policy.yaml:3"));
    assert!(line("CI: \"true\"").ends_with("# sandbox.policy.yaml:5"));
    assert!(line("pids: 7").ends_with("config/policy.yaml:3"));
    assert!(line("mode: none").contains("# built-in profile default:"));
}

#[test]
fn what_is_shown_is_a_policy_that_says_the_same() {
    let scene = Scene::with(
        "fs:\n  deny: [\"**/.env\"]\n  mounts: [{source: \"a b\", target: /d}]\n  datasets: {d: x}\n\
         net:\n  allow: [\"*.a.com:443\", 10.0.0.0/8]\nenv:\n  set: {A: \"a: b #c\"}\n  pass: [LC_*]\n\
         require: [seccomp]\nceiling:\n  net: [\"*.a.com\", 10.0.0.0/8]\n",
    );
    let digest = |done: Done| done.json()["digest"].as_str().unwrap().to_owned();
    for choice in [&[][..], &["--profile", "strict"], &["--profile", "agent"]] {
        let shown = scene.policy(&[&["show"], choice].concat());
        assert_eq!(shown.code, 0, "{shown:?}");
        fs::write(scene.path("again.yaml"), &shown.stdout).unwrap();
        let again = scene.policy(&["show", "--json", "--policy", "../again.yaml"]);
        let once = scene.policy(&[&["show", "--json"], choice].concat());
        assert_eq!(digest(again), digest(once), "{choice:?}");
    }
}

#[test]
fn programs_get_values_with_origins() {
    let scene = Scene::with("proc: {memory: 1g}\n");
    let shown = scene.policy(&["show", "--json"]).json();
    let memory = &shown["policy"]["proc"]["memory"];
    assert_eq!(memory["value"], "1GiB");
    assert_eq!(memory["origin"], "sandbox.policy.yaml:2");
    assert_eq!(shown["policy"]["ceiling"]["net"]["value"][0], "*");
    assert_eq!(shown["digest"].as_str().unwrap().len(), 64);
}

#[test]
fn paths_are_explained() {
    let scene = Scene::with("fs:\n  deny: [\"**/.env\"]\n");
    scene.policy(&["explain", "--path", "src/.env"]).expect(
        1,
        "read: no, `**/.env` is denied (sandbox.policy.yaml:3)\n\
         write: no, `**/.env` is denied (sandbox.policy.yaml:3)\n",
        "",
    );
    let hook = scene.policy(&["explain", "--path", ".git/hooks/pre-commit"]);
    assert_eq!(hook.code, 0, "it can be read: {hook:?}");
    assert!(hook.stdout.contains("write: no, `.git/hooks` is protected (built-in"), "{hook:?}");
    let written = scene.policy(&["explain", "--path", ".git/hooks/pre-commit", "--write"]);
    assert_eq!(written.code, 1);
    let outside = scene.policy(&["explain", "--path", "../config/x", "--json"]);
    assert_eq!((outside.code, &outside.json()["read"]["allowed"]), (1, &false.into()));
}

#[cfg(unix)]
#[test]
fn a_link_is_no_way_past_a_pattern() {
    let scene = Scene::with("fs:\n  deny: [\"**/.env\"]\n");
    fs::write(scene.path("project/.env"), "secret").unwrap();
    std::os::unix::fs::symlink(".env", scene.path("project/plain")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", scene.path("project/away")).unwrap();
    assert_eq!(scene.policy(&["explain", "--path", "plain"]).code, 1);
    assert_eq!(scene.policy(&["explain", "--path", "away"]).code, 1);
    assert_eq!(scene.policy(&["explain", "--path", "src"]).code, 0);
}

#[test]
fn hosts_and_variables_are_explained() {
    let scene = Scene::with(
        "net:\n  allow: [\"*.example.com:443\"]\n  deny: [bad.example.com]\nenv:\n  pass: [LC_*]\n",
    );
    for (arguments, code, stdout) in [
        (
            ["--host", "api.example.com"],
            0,
            "api.example.com:443: yes, `*.example.com:443` is allowed (sandbox.policy.yaml:3)\n",
        ),
        (
            ["--host", "api.example.com:80"],
            1,
            "api.example.com:80: no, no pattern of `net.allow` means it (sandbox.policy.yaml:3)\n",
        ),
        (
            ["--host", "bad.example.com"],
            1,
            "bad.example.com:443: no, `bad.example.com` is denied (sandbox.policy.yaml:4)\n",
        ),
        (["--env", "LC_ALL"], 0, "LC_ALL: yes, `LC_*` is passed on (sandbox.policy.yaml:6)\n"),
    ] {
        let explained = scene.policy(&[&["explain"][..], &arguments].concat());
        explained.expect(code, stdout, "");
    }
    let json = scene.policy(&["explain", "--env", "HOME", "--json"]);
    assert_eq!((json.code, &json.json()["decision"]["allowed"]), (1, &false.into()));
}

#[test]
fn one_thing_is_asked_at_a_time() {
    let scene = Scene::new();
    assert_eq!(scene.policy(&["explain"]).code, 125);
    assert_eq!(scene.policy(&["explain", "--path", "a", "--env", "B"]).code, 125);
    assert_eq!(scene.policy(&["explain", "--env", "B", "--write"]).code, 125);
    let unknown = scene.policy(&["show", "--profile", "stirct"]);
    assert!(unknown.stderr.contains("did you mean `strict`?"), "{unknown:?}");
}

#[test]
fn the_schema_is_the_one_that_is_checked_in() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/sandbox.policy.schema.json");
    let printed = Scene::new().policy(&["schema"]);
    printed.expect(0, &fs::read_to_string(Path::new(file)).unwrap(), "");
}

#[test]
fn every_help_has_examples() {
    let scene = Scene::new();
    for arguments in [
        &["--help"][..],
        &["check", "--help"],
        &["show", "--help"],
        &["explain", "--help"],
        &["schema", "--help"],
    ] {
        let help = scene.policy(arguments);
        assert_eq!(help.code, 0, "{help:?}");
        assert!(help.stdout.contains("Examples:\n  fumehood policy "), "{}", help.stdout);
    }
}
