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

#[test]
fn an_agent_that_has_the_tools_is_told_to_use_them() {
    let project = Project::new();
    let asked = |arguments: &[&str], question: Value| {
        let mut command = project.fumehood(&[&["hook", "generic"], arguments].concat());
        done_with_input(&mut command, question.to_string().as_bytes())
    };
    let bash = json!({"tool": "Bash", "input": {"command": "ls"}, "agent": "mine", "session": "s"});
    let answer = asked(&["--no-rewrite"], bash.clone()).json();
    assert_eq!(answer["decision"], "deny", "{answer}");
    assert_eq!(answer["input"]["command"], "ls", "{answer}");
    let deny = r#"{"version": 1, "tools": {"deny": ["Read"]}}"#;
    let read = json!({"tool": "Read"});
    assert_eq!(asked(&[], read.clone()).json()["decision"], "pass");
    assert_eq!(asked(&["--override", deny], read.clone()).json()["decision"], "deny");
    let loose = r#"{"version": 1, "tools": {"allow": ["Bash"]}}"#;
    let refused = asked(&["--override", loose], bash.clone());
    assert!(refused.code == 2 && refused.stderr.contains("the ceiling is"), "{refused:?}");
    let file = project.beside("other.yaml");
    fs::write(&file, "version: 1\ntools: {deny: [Read]}\n").unwrap();
    assert_eq!(asked(&["--policy", file.to_str().unwrap()], read).json()["decision"], "deny");
    let log = done(&mut project.fumehood(&["log", "--tools", "deny"]));
    let rows: Vec<&str> = log.stdout.lines().skip(1).collect();
    assert_eq!(rows.len(), 3, "{log:?}");
    assert!(rows[2].contains("deny") && rows[2].contains("Bash of mine, rule `Bash`"), "{log:?}");
}

#[test]
fn decisions_are_listed_beside_runs() {
    let project = Project::new();
    done(&mut project.fumehood(&["exec", "--", "true"]));
    project.ask("Bash", json!({"command": "echo a-secret"}));
    project.ask("Re\u{1b}[2Jad", json!({}));
    let log = |arguments: &[&str]| {
        let done = done(&mut project.fumehood(&[&["log"], arguments].concat()));
        assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{done:?}");
        done.stdout
    };
    let all = log(&[]);
    let rows: Vec<&str> = all.lines().skip(1).collect();
    assert_eq!(rows.len(), 3, "{all}");
    assert!(rows[0].contains("pass") && rows[0].ends_with("named by no rule"), "{all}");
    assert!(!all.contains('\u{1b}'), "{all}");
    for part in ["tool-3", "rewrite", "Bash of claude-code, rule `Bash` (built-in profile default:"]
    {
        assert!(rows[1].contains(part), "{part}: {all}");
    }
    assert!(rows[2].ends_with("true"), "{all}");
    assert_eq!(log(&["--tools"]).lines().count(), 3);
    assert_eq!(log(&["--tools", "rewrite"]).lines().count(), 2);
    assert_eq!(log(&["--tools", "deny"]), "No decisions.\n");
    assert_eq!(log(&["--status", "exited"]).lines().count(), 2, "decisions have no status");
    assert_eq!(log(&["--since", "9999-01-01"]), "No runs.\n");
    let line: Value = serde_json::from_str(&log(&["--tools", "rewrite", "--json"])).unwrap();
    assert_eq!((&line["entry"], &line["tool"]), (&json!("tool"), &json!("Bash")));
    let shown = log(&["show", "tool-3"]);
    for part in
        ["agent        claude-code", "session      s1", "verdict      rewrite", "rule `Bash`"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("a-secret"), "{shown}");
    let wrong = done(&mut project.fumehood(&["log", "--tools", "dney"]));
    assert!(wrong.code == 125 && wrong.stderr.contains("unknown verdict `dney`"), "{wrong:?}");
}
