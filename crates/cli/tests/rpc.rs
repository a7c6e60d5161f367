//! `fumehood rpc`, spoken to line by line as a client would.

mod common;

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use common::fumehood;
use serde_json::{Value, json};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server and the client of it.
struct Client {
    server: Child,
    stdin: Option<ChildStdin>,
    heard: Receiver<Value>,
    /// Messages that nobody has asked for yet.
    kept: Vec<Value>,
    directory: tempfile::TempDir,
}

impl Client {
    fn bare(arguments: &[&str]) -> Client {
        let directory = tempfile::tempdir().unwrap();
        let mut command = fumehood(&["rpc"]);
        command.args(arguments).current_dir(directory.path());
        let mut server =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let (stdin, stdout) = (server.stdin.take(), server.stdout.take().unwrap());
        let (sender, heard) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let value = serde_json::from_str(&line).expect("every line is an object");
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        Client { server, stdin, heard, kept: Vec::new(), directory }
    }

    fn new(arguments: &[&str]) -> Client {
        let mut client = Client::bare(arguments);
        let hello = client.ask(0, "initialize", json!({"protocol": 1, "client": "test"}));
        assert_eq!(hello["result"]["protocol"], 1, "{hello}");
        client
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    fn send(&mut self, id: u64, method: &str, params: Value) {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(format!("{call}\n").as_bytes());
    }

    fn next(&mut self) -> Value {
        self.heard.recv_timeout(PATIENCE).expect("the server says something")
    }

    /// The first message that fits.
    fn wait_for(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.kept.iter().position(&fits) {
            return self.kept.remove(index);
        }
        loop {
            let message = self.next();
            if fits(&message) {
                return message;
            }
            self.kept.push(message);
        }
    }

    fn answer(&mut self, id: u64) -> Value {
        self.wait_for(|message| message["id"] == id && message.get("method").is_none())
    }

    fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.send(id, method, params);
        self.answer(id)
    }

    /// Waits for output of a run that streams.
    fn output(&mut self, id: u64) -> String {
        let event = self.wait_for(|message| {
            message["params"]["id"] == id && message["params"]["event"]["event"] == "output"
        });
        event["params"]["event"]["data"].as_str().unwrap().to_owned()
    }

    fn ended(mut self) -> i32 {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.server.try_wait().unwrap() {
                return status.code().expect("it ends by itself");
            }
            assert!(begun.elapsed() < PATIENCE, "the server does not end");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Parameters of a command that lives until it is ended, and can be found from outside.
fn lasting(name: &str) -> Value {
    json!({"argv": ["sh", "-c", "echo begun; sleep 600; true", mark(name)], "workspace": false,
        "stream": true})
}

fn mark(name: &str) -> String {
    format!("fumehood-rpc-{}-{name}", std::process::id())
}

/// True if a process with this mark exists anywhere on the machine.
fn is_alive(name: &str) -> bool {
    let mark = mark(name);
    let processes = fs::read_dir("/proc").unwrap().map_while(Result::ok);
    processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok()).any(|line| {
        let line = String::from_utf8_lossy(&line).into_owned();
        line.contains(&mark) && line.contains("sleep 600")
    })
}

fn expect_gone(name: &str) {
    let begun = Instant::now();
    while is_alive(name) {
        assert!(begun.elapsed() < PATIENCE, "{name} is still alive");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn nothing_works_before_both_speak_the_same_protocol() {
    let mut client = Client::bare(&[]);
    let early = client.ask(1, "languages", json!({}));
    assert_eq!(early["error"]["data"]["kind"], "not_initialized", "{early}");
    let other = client.ask(2, "initialize", json!({"protocol": 99}));
    assert_eq!(other["error"]["data"]["supported"], json!([1]), "{other}");
    let missing = client.ask(3, "initialize", json!({}));
    assert_eq!(missing["error"]["code"], -32602, "{missing}");
    let hello = client.ask(4, "initialize", json!({"protocol": 1}));
    assert!(hello["result"]["languages"].as_array().unwrap().contains(&json!("python")));
    assert_eq!(hello["result"]["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn what_is_wrong_is_told_and_the_server_goes_on() {
    let mut client = Client::new(&[]);
    client.write(b"{\"jsonrpc\": \n");
    assert_eq!(client.next()["error"]["code"], -32700);
    client.write(b"\xff\xfe\n\n[]\n");
    assert_eq!(client.next()["error"]["code"], -32700);
    assert_eq!(client.next()["error"]["code"], -32600);
    for (id, method, params, code, field) in [
        (1, "rnu", json!({}), -32601, Value::Null),
        (2, "run", json!({"code": 7, "language": "python"}), -32602, json!("code")),
        (3, "run", json!({"code": "1"}), -32602, json!("language")),
        (4, "exec", json!({"argv": "ls"}), -32602, json!("argv")),
        (5, "exec", json!({"argv": ["ls"], "env": {"A": 1}}), -32602, json!("env.A")),
        (6, "exec", json!({"argv": ["ls"], "tiemout": 1}), -32602, json!("tiemout")),
        (7, "exec", json!({"argv": ["ls"], "mounts": [{}]}), -32602, json!("mounts[0].source")),
        (8, "cancel", json!({}), -32602, json!("id")),
    ] {
        let answer = client.ask(id, method, params);
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert_eq!(answer["error"]["data"]["field"], field, "{answer}");
    }
    let fine = client.ask(9, "exec", json!({"argv": ["echo", "fine"], "workspace": false}));
    assert_eq!(fine["result"]["stdout"], "fine\n");
}

#[test]
fn a_line_that_is_too_long_is_skipped_and_not_kept() {
    let mut client = Client::new(&[]);
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..300 {
        client.write(&piece);
    }
    client.write(b"\n");
    assert_eq!(client.next()["error"]["code"], -32600);
    let fine = client.ask(1, "exec", json!({"argv": ["echo", "fine"], "workspace": false}));
    assert_eq!(fine["result"]["stdout"], "fine\n");
    let status = fs::read_to_string(format!("/proc/{}/status", client.server.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 250 << 10, "{peak} KiB were in use");
}

#[test]
fn refusals_are_in_the_words_of_the_library() {
    let mut client = Client::new(&[]);
    for (id, params, kind, word) in [
        (1, json!({"code": "1", "language": "pyhton"}), "unknown_language", "python"),
        (2, json!({"code": " ", "language": "python"}), "empty", "code is empty"),
        (3, json!({"code": "1", "language": "python", "memory": "banana"}), "limit", "512m"),
        (4, json!({"code": "1", "language": "python", "policy": "strct"}), "policy", "strict"),
        (5, json!({"code": "1", "language": "python", "workspace": "/no"}), "path", "/no"),
        (6, json!({"code": "1", "language": "python", "files": {"../a": ""}}), "path", "../a"),
        (7, json!({"code": "1", "language": "python", "policy": {"nte": {}}}), "policy", "nte"),
    ] {
        let answer = client.ask(id, "run", params);
        assert_eq!(answer["error"]["code"], -32000, "{answer}");
        let data = &answer["error"]["data"];
        assert_eq!(data["kind"], kind, "{answer}");
        assert!(data["message"].as_str().unwrap().contains(word), "{answer}");
        assert!(data["next_step"].is_string(), "{answer}");
    }
}

#[test]
fn the_policy_of_the_project_holds() {
    let mut client = Client::new(&[]);
    let text = "version: 1\nfs:\n  deny: [secret]\nceiling:\n  memory: 256m\n";
    fs::write(client.path().join("sandbox.policy.yaml"), text).unwrap();
    fs::write(client.path().join("secret"), "secret").unwrap();
    let hidden = client.ask(1, "exec", json!({"argv": ["cat", "secret"]}));
    assert_eq!(hidden["result"]["stdout"], "", "{hidden}");
    // Neither a parameter nor an override goes past the ceiling, and both name their place.
    let asked = json!({"argv": ["true"], "memory": "1g"});
    let refused = client.ask(2, "exec", asked);
    let message = refused["error"]["data"]["message"].as_str().unwrap();
    assert!(message.contains("request.memory") && message.contains("ceiling"), "{refused}");
    let asked = json!({"argv": ["true"], "policy": {"proc": {"memory": "1g"}}});
    let refused = client.ask(3, "exec", asked);
    let message = refused["error"]["data"]["message"].as_str().unwrap();
    assert!(message.contains("request.policy") && message.contains("ceiling"), "{refused}");
    // An override replaces nothing of what it lies on.
    let asked = json!({"argv": ["cat", "secret"], "policy": {"proc": {"memory": "64m"}}});
    assert_eq!(client.ask(4, "exec", asked)["result"]["stdout"], "");
    let explained = client.ask(5, "policy.explain", json!({"path": "secret"}));
    assert_eq!(explained["result"]["read"]["allowed"], false, "{explained}");
    let explained = client.ask(6, "policy.explain", json!({"path": "other"}));
    assert_eq!(explained["result"]["read"]["allowed"], true, "{explained}");
    let asked = json!({"path": "other", "policy": {"fs": {"deny": ["other"]}}});
    let explained = client.ask(7, "policy.explain", asked);
    assert_eq!(explained["result"]["read"]["allowed"], false, "{explained}");
}

#[test]
fn events_come_before_the_outcome() {
    let mut client = Client::new(&[]);
    let code = "printf one; printf two >&2; exit 4";
    client.send(1, "run", json!({"language": "bash", "code": code, "stream": true}));
    let mut names = Vec::new();
    let outcome = loop {
        let message = client.next();
        if message["id"] == 1 {
            break message["result"].clone();
        }
        assert_eq!(message["method"], "event");
        names.push(message["params"]["event"]["event"].as_str().unwrap().to_owned());
    };
    names.dedup();
    assert_eq!(names, ["started", "phase", "selected", "output"]);
    assert_eq!((&outcome["stdout"], &outcome["stderr"]), (&json!("one"), &json!("two")));
    assert_eq!((&outcome["exit_code"], &outcome["status"]), (&json!(4), &json!("exited")));
}

#[test]
fn live_input_reaches_the_program() {
    let mut client = Client::new(&[]);
    let params =
        json!({"argv": ["cat"], "workspace": false, "stdin": {"live": true}, "stream": true});
    client.send(1, "exec", params);
    let taken = client.ask(2, "stdin", json!({"id": 1, "data": "one\n"}));
    assert_eq!(taken["result"]["taken"], true, "{taken}");
    assert_eq!(client.output(1), "one\n");
    client.write(
        b"{\"jsonrpc\":\"2.0\",\"method\":\"stdin\",\"params\":{\"id\":1,\"data\":{\"base64\":\"/w==\"},\"end\":true}}\n",
    );
    let outcome = client.answer(1);
    assert_eq!(outcome["result"]["stdout"], json!({"base64": "b25lCv8="}), "{outcome}");
    let late = client.ask(3, "stdin", json!({"id": 1, "data": "x"}));
    assert_eq!(late["error"]["data"]["kind"], "no_such_run", "{late}");
}

#[test]
fn files_are_in_the_workspace() {
    let mut client = Client::new(&[]);
    let files = json!({"a/b.txt": "text", "c": {"base64": "/w=="}});
    let code = "cat a/b.txt; stat -c %s c; touch d && ls";
    for (id, backend) in [(1, "native"), (2, "local")] {
        let params = json!({"language": "bash", "code": code, "files": files, "backend": backend});
        let outcome = client.ask(id, "run", params);
        assert_eq!(outcome["result"]["stdout"], "text1\na\nc\nd\n", "{outcome}");
    }
    // A directory of the caller is not written to.
    let params = json!({"argv": ["ls"], "files": files, "workspace": "."});
    let refused = client.ask(3, "exec", params);
    assert_eq!(refused["error"]["data"]["kind"], "path", "{refused}");
    assert!(!client.path().join("c").exists());
}

#[test]
fn a_cancelled_run_ends_its_box_and_frees_its_id() {
    let mut client = Client::new(&["--at-once", "1"]);
    client.send(1, "exec", lasting("cancelled"));
    assert_eq!(client.output(1), "begun\n");
    let twice = client.ask(1, "exec", json!({"argv": ["true"]}));
    assert_eq!(twice["error"]["code"], -32600, "{twice}");
    // There is room for one: the second one waits, and never runs.
    client.send(2, "exec", json!({"argv": ["touch", "ran"]}));
    let cancelled = client.ask(3, "cancel", json!({"id": 2}));
    assert_eq!(cancelled["result"]["cancelled"], true);
    assert_eq!(client.answer(2)["error"]["data"]["kind"], "cancelled");
    assert!(is_alive("cancelled"));
    client.ask(4, "cancel", json!({"id": 1}));
    assert_eq!(client.answer(1)["result"]["status"], "cancelled");
    expect_gone("cancelled");
    assert_eq!(client.ask(5, "cancel", json!({"id": 1}))["result"]["cancelled"], false);
    let again = client.ask(1, "exec", json!({"argv": ["ls"]}));
    assert_eq!(again["result"]["stdout"], "", "{again}");
}

#[test]
fn a_signal_is_passed_on() {
    let mut client = Client::new(&[]);
    let script = "trap 'echo caught; exit 9' TERM; echo begun; while :; do sleep 0.05; done";
    let params = json!({"argv": ["sh", "-c", script], "workspace": false, "stream": true});
    client.send(1, "exec", params);
    assert_eq!(client.output(1), "begun\n");
    client.ask(2, "cancel", json!({"id": 1, "signal": 15}));
    let outcome = client.answer(1);
    assert_eq!(outcome["result"]["stdout"], "begun\ncaught\n", "{outcome}");
}

#[test]
fn many_runs_go_on_at_once() {
    let mut client = Client::new(&["--at-once", "8"]);
    let begun = Instant::now();
    for id in 1..=8 {
        client.send(id, "exec", json!({"argv": ["sleep", "1"], "workspace": false}));
    }
    for id in 1..=8 {
        assert_eq!(client.answer(id)["result"]["success"], true);
    }
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn the_end_of_the_input_ends_every_box() {
    let mut client = Client::new(&[]);
    client.send(1, "exec", lasting("orphan"));
    assert_eq!(client.output(1), "begun\n");
    assert!(is_alive("orphan"));
    drop(client.stdin.take());
    assert_eq!(client.ended(), 0);
    assert!(!is_alive("orphan"));
}

#[test]
fn a_client_that_does_not_read_cannot_keep_the_server() {
    let mut command = fumehood(&["rpc"]);
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = server.stdin.take().unwrap();
    for line in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocol": 1}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "exec", "params":
            {"argv": ["sh", "-c", "while :; do echo yes; done", mark("flood")], "workspace": false,
             "stream": true}}),
    ] {
        writeln!(stdin, "{line}").unwrap();
    }
    thread::sleep(Duration::from_millis(700));
    // Nor can one that goes on asking.
    for id in 0..200 {
        let nothing =
            json!({"jsonrpc": "2.0", "id": id, "method": "cancel", "params": {"id": "x"}});
        writeln!(stdin, "{nothing}").unwrap();
    }
    drop(stdin);
    let client = Client {
        server,
        stdin: None,
        heard: channel().1,
        kept: Vec::new(),
        directory: tempfile::tempdir().unwrap(),
    };
    assert_eq!(client.ended(), 0);
}

#[test]
fn a_shutdown_waits_for_what_was_begun() {
    let mut client = Client::new(&[]);
    let params = json!({"argv": ["sh", "-c", "sleep 0.5; echo done"], "workspace": false});
    client.send(1, "exec", params);
    client.send(2, "shutdown", json!({}));
    let late = client.ask(3, "exec", json!({"argv": ["true"]}));
    assert_eq!(late["error"]["data"]["kind"], "closing", "{late}");
    drop(client.stdin.take());
    assert_eq!(client.answer(1)["result"]["stdout"], "done\n");
    let last = client.answer(2);
    assert!(last.get("error").is_none(), "{last}");
    assert_eq!(client.ended(), 0);
}

#[test]
fn the_machine_and_its_languages_are_shown() {
    let mut client = Client::new(&[]);
    let languages = client.ask(1, "languages", json!({}));
    let named = |name: &str| {
        languages["result"].as_array().unwrap().iter().find(|each| each["name"] == name).cloned()
    };
    assert_eq!(named("bash").unwrap()["works"], true, "{languages}");
    let doctor = client.ask(2, "doctor", json!({}));
    assert_eq!(doctor["result"]["healthy"], true, "{doctor}");
}
