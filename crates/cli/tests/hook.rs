//! `fumehood hook` as an agent sees it, and what it leaves in settings and ledger.

#![cfg(target_os = "linux")]

mod common;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use common::{Done, done, done_with_input, fumehood};
use serde_json::{Value, json};

/// A project with its own state, so that its ledger holds nothing else.
struct Project {
    place: tempfile::TempDir,
    path: PathBuf,
}

impl Project {
    fn new() -> Project {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("project");
        fs::create_dir(&path).unwrap();
        Project { place, path }
    }

    fn path(&self) -> &Path {
        &self.path
    }

    /// What is not in the project: home, state, configuration.
    fn beside(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn fumehood(&self, arguments: &[&str]) -> Command {
        let mut command = fumehood(arguments);
        command
            .current_dir(self.path())
            .env("HOME", self.beside("home"))
            .env("FUMEHOOD_STATE_DIR", self.beside("state"))
            .env("FUMEHOOD_CONFIG_DIR", self.beside("config"))
            .env_remove("CLAUDE_PROJECT_DIR");
        command
    }

    fn ask(&self, tool: &str, input: Value) -> Done {
        let question = json!({
            "session_id": "s1", "cwd": self.path(), "hook_event_name": "PreToolUse",
            "tool_name": tool, "tool_input": input,
        });
        let mut command = self.fumehood(&["hook", "claude-code"]);
        done_with_input(&mut command, question.to_string().as_bytes())
    }
}

#[test]
fn a_command_goes_to_a_box() {
    let project = Project::new();
    let input = json!({"command": "echo \"it's $((6 * 7))\"; hostname", "timeout": 5});
    let answer = project.ask("Bash", input);
    assert_eq!(answer.code, 0, "{answer:?}");
    let output = answer.json()["hookSpecificOutput"].clone();
    assert_eq!(output["hookEventName"], "PreToolUse");
    assert_eq!(output["permissionDecision"], "allow");
    assert_eq!(output["updatedInput"]["timeout"], 5);
    let command = output["updatedInput"]["command"].as_str().unwrap();
    let mut shell = project.fumehood(&[]);
    let environment: Vec<_> = shell
        .get_envs()
        .map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned)))
        .collect();
    shell = Command::new("sh");
    for (name, value) in environment {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let ran = done(shell.args(["-c", command]).current_dir(project.path()));
    let own = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert!(ran.stdout.starts_with("it's 42\n"), "{ran:?}");
    assert_ne!(ran.stdout.lines().nth(1), Some(own.trim()), "it ran in a box: {ran:?}");
}

#[test]
fn other_tools_go_by_the_policy() {
    let project = Project::new();
    fs::write(
        project.path().join("sandbox.policy.yaml"),
        "version: 1\ntools: {deny: ['mcp__evil__*', WebFetch], rewrite: [Shell]}\n",
    )
    .unwrap();
    let decision = |tool: &str, input: Value| {
        let answer = project.ask(tool, input);
        assert_eq!(answer.code, 0, "{answer:?}");
        answer.json()["hookSpecificOutput"].clone()
    };
    assert_eq!(decision("Read", json!({"file_path": "/x"})), Value::Null, "left to the agent");
    let allowed = decision("mcp__fumehood__sandboxed_code_run", json!({}));
    assert_eq!(allowed["permissionDecision"], "allow");
    let denied = decision("WebFetch", json!({"url": "http://x"}));
    assert_eq!(denied["permissionDecision"], "deny");
    let reason = denied["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.contains("sandbox.policy.yaml:2"), "{reason}");
    assert_eq!(decision("mcp__evil__x", json!({}))["permissionDecision"], "deny");
    let unusual = decision("Shell", json!({"script": "ls"}));
    assert_eq!(unusual["permissionDecision"], "deny", "what cannot be boxed is refused");
}

#[test]
fn whatever_goes_wrong_blocks_the_tool() {
    let project = Project::new();
    for question in ["", "{", "[]", r#"{"tool_name": "Bash"}"#] {
        let answer =
            done_with_input(&mut project.fumehood(&["hook", "claude-code"]), question.as_bytes());
        assert_eq!((answer.code, answer.stdout.as_str()), (2, ""), "{question}: {answer:?}");
    }
    fs::write(project.path().join("sandbox.policy.yaml"), "version: 1\nnonsense: 1\n").unwrap();
    assert_eq!(project.ask("Read", json!({})).code, 2);
}

#[test]
fn decisions_are_in_the_ledger() {
    let project = Project::new();
    project.ask("Bash", json!({"command": "echo a-secret"}));
    project.ask("Read", json!({"file_path": "/x"}));
    let ledger = fs::read_to_string(project.beside("state/ledger/ledger.jsonl")).unwrap();
    let lines: Vec<Value> =
        ledger.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let tools: Vec<&Value> = lines.iter().filter(|line| line["entry"] == "tool").collect();
    assert_eq!(tools.len(), 2, "{ledger}");
    assert_eq!((&tools[0]["tool"], &tools[0]["verdict"]), (&json!("Bash"), &json!("rewrite")));
    assert_eq!((&tools[1]["agent"], &tools[1]["session"]), (&json!("claude-code"), &json!("s1")));
    assert!(!ledger.contains("a-secret"));
    let verified = done(&mut project.fumehood(&["log", "verify"]));
    assert_eq!(verified.code, 0, "{verified:?}");
}

#[test]
fn any_agent_can_ask() {
    let project = Project::new();
    let question = br#"{"tool": "Bash", "input": {"command": "ls"}, "cwd": "/"}"#;
    for arguments in [&["hook", "generic"][..], &["hook", "--generic"]] {
        let answer = done_with_input(&mut project.fumehood(arguments), question).json();
        assert_eq!(answer["decision"], "rewrite", "{answer}");
        assert!(
            answer["input"]["command"].as_str().unwrap().ends_with("-- bash -c ls"),
            "{answer}"
        );
        assert!(answer["reason"].as_str().unwrap().contains("`Bash`"), "{answer}");
    }
}

#[test]
fn the_hook_is_installed_once_and_removed() {
    let project = Project::new();
    let settings = project.path().join(".claude/settings.json");
    let install = |arguments: &[&str]| {
        let done = done(&mut project.fumehood(&[&["hook", "install"], arguments].concat()));
        assert_eq!(done.code, 0, "{done:?}");
        done.stdout
    };
    assert!(install(&["--dry-run"]).contains("would be"));
    assert!(!settings.exists());
    fs::create_dir(settings.parent().unwrap()).unwrap();
    let before = "{\n  \"model\": \"x\",\n  \"env\": {}\n}\n";
    fs::write(&settings, before).unwrap();
    assert!(install(&[]).contains("installed the hook"));
    let installed = fs::read_to_string(&settings).unwrap();
    let hook = &serde_json::from_str::<Value>(&installed).unwrap()["hooks"]["PreToolUse"][0];
    assert_eq!(hook["matcher"], "*");
    let command = hook["hooks"][0]["command"].as_str().unwrap();
    assert!(command.ends_with("fumehood hook claude-code || exit 2"), "{command}");
    assert!(install(&[]).contains("nothing was changed"));
    let backup = project.path().join(".claude/settings.json.before-fumehood");
    assert_eq!(fs::read_to_string(backup).unwrap(), before);
    assert!(install(&["--remove"]).contains("removed the hook"));
    assert_eq!(fs::read_to_string(&settings).unwrap(), before);
    install(&["--user"]);
    assert!(project.beside("home/.claude/settings.json").exists());
}
