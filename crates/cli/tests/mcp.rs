//! `fumehood mcp` as a client sees it: the real program, spoken to line by line and over HTTP.

#![cfg(target_os = "linux")]

mod common;

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Stdio},
    thread,
    time::{Duration, Instant},
};

use common::{done, fumehood};
use serde_json::{Value, json};

/// A client over standard input and output. What waits too long ends with the server.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    fn start(arguments: &[&str]) -> Client {
        let mut client = Client::bare(arguments);
        let answer = client.ask("initialize", initialize());
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn bare(arguments: &[&str]) -> Client {
        let mut command = fumehood(&[&["mcp"], arguments].concat());
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        Client { child, input, output: BufReader::new(output), next: 0 }
    }

    fn line(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).and_then(|()| input.write_all(b"\n")).unwrap();
    }

    fn send(&mut self, message: &Value) {
        self.line(message.to_string().as_bytes());
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Sends a request and gives its id.
    fn request(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        loop {
            let answer = self.receive();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// Calls a tool and gives its result.
    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    fn shell(&mut self, command: &str) -> Value {
        self.call("sandboxed_shell.run", json!({"command": command}))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn initialize() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    })
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[test]
fn every_tool_is_listed_and_works() {
    let place = tempfile::tempdir().unwrap();
    let workspace = place.path().to_str().unwrap();
    let mut client = Client::start(&["--workspace", workspace, "--tool-names", "underscores"]);
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let expected = [
        "sandboxed_code_run",
        "sandboxed_shell_run",
        "sandboxed_files_read",
        "sandboxed_files_write",
        "sandboxed_files_list",
        "sandbox_policy_explain",
    ];
    assert_eq!(names, expected);
    let code = json!({
        "language": "bash", "code": "read x; echo got $x; cat data.txt",
        "stdin": "in\n", "files": {"data.txt": "from a file\n"},
    });
    let result = client.call("sandboxed_code_run", code);
    assert_eq!(result["structuredContent"]["stdout"], "got in\nfrom a file\n", "{result}");
    assert_eq!(result["isError"], false);
    client.call("sandboxed_files_write", json!({"path": "a/b.txt", "content": "written"}));
    assert_eq!(fs::read_to_string(place.path().join("a/b.txt")).unwrap(), "written");
    let read = client.call("sandboxed_files_read", json!({"path": "a/b.txt"}));
    assert_eq!(text(&read), "written");
    assert_eq!(text(&client.call("sandboxed_files_list", json!({}))), "a/\ndata.txt\n");
    let explained = client.call("sandbox_policy_explain", json!({"path": ".git/hooks/x"}));
    assert!(text(&explained).contains("write no, `.git/hooks` is protected"), "{explained}");
    let layers = &explained["structuredContent"]["policy"]["layers"];
    assert_eq!(*layers, json!(["built-in profile default"]));
}

#[test]
fn no_path_leads_out_of_the_workspace() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("secret"), "secret").unwrap();
    let workspace = place.path().join("workspace");
    fs::create_dir(&workspace).unwrap();
    std::os::unix::fs::symlink("../secret", workspace.join("link")).unwrap();
    let mut client = Client::start(&["--workspace", workspace.to_str().unwrap()]);
    for path in ["../secret", "link", "/etc/passwd", "x/../../secret"] {
        for (tool, arguments) in [
            ("sandboxed_files.read", json!({"path": path})),
            ("sandboxed_files.write", json!({"path": path, "content": "changed"})),
            ("sandboxed_files.list", json!({"path": path})),
        ] {
            let result = client.call(tool, arguments);
            assert_eq!(result["isError"], true, "{path}: {result}");
            assert!(text(&result).contains("Next step"), "{result}");
        }
        let files = json!({"command": "true", "files": {path: "changed"}});
        assert_eq!(client.call("sandboxed_shell.run", files)["isError"], true, "{path}");
    }
    let protected = json!({"path": ".git/hooks/pre-commit", "content": "x"});
    assert_eq!(client.call("sandboxed_files.write", protected)["isError"], true);
    assert_eq!(fs::read_to_string(place.path().join("secret")).unwrap(), "secret");
}

#[test]
fn a_model_tightens_freely_and_loosens_up_to_the_ceiling() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("sandbox.policy.yaml"), "version: 1\nceiling: {memory: 1g}\n")
        .unwrap();
    let mut client = Client::start(&["--workspace", place.path().to_str().unwrap()]);
    let mut run = |arguments: Value| client.call("sandboxed_shell.run", arguments);
    let tight = run(json!({"command": "touch x", "sandboxPolicy": {"fs": {"workspace": "ro"}}}));
    assert_ne!(tight["structuredContent"]["exit_code"], 0, "{tight}");
    let layers = tight["structuredContent"]["policy"]["layers"].to_string();
    assert!(layers.contains("sandboxPolicy") && layers.contains("sandbox.policy.yaml"), "{layers}");
    let loose = run(json!({"command": "true", "limits": {"memory": "900m"}}));
    assert_eq!(loose["structuredContent"]["exit_code"], 0, "{loose}");
    for policy in [
        json!({"proc": {"memory": "2g"}}),
        json!({"fs": {"mounts": [{"source": "/etc", "target": "/e"}]}}),
        json!({"net": {"mode": "localhost"}}),
        json!({"extends": "build"}),
        json!({"nonsense": 1}),
    ] {
        let refused = run(json!({"command": "true", "sandboxPolicy": policy}));
        assert_eq!(refused["isError"], true, "{refused}");
        assert!(text(&refused).contains("Next step"), "{refused}");
    }
    let late = run(json!({"command": "sleep 20", "limits": {"timeout": "200ms"}}));
    assert_eq!(late["structuredContent"]["status"], "timeout");
    assert_eq!(late["isError"], true);
}

#[test]
fn sessions_and_runs_have_their_own_workspace() {
    let mut fresh = Client::start(&[]);
    fresh.shell("echo x > kept");
    assert_eq!(fresh.shell("ls")["structuredContent"]["stdout"], "");
    let read = fresh.call("sandboxed_files.read", json!({"path": "kept"}));
    assert!(text(&read).contains("--session"), "{read}");
    let mut session = Client::start(&["--session"]);
    session.shell("echo x > kept");
    assert_eq!(session.shell("cat kept")["structuredContent"]["stdout"], "x\n");
    let read = session.call("sandboxed_files.read", json!({"path": "kept"}));
    assert_eq!(text(&read), "x\n");
}

#[test]
fn long_output_and_pictures() {
    let mut client = Client::start(&["--output-chars", "1000"]);
    let result = client.shell(
        "seq 1 5000; printf '\\211PNG\\r\\n\\032\\nxyz' > /artifacts/a.png; echo no > /artifacts/b.png",
    );
    let object = &result["structuredContent"];
    let stdout = object["stdout"].as_str().unwrap();
    assert!(stdout.starts_with("1\n2\n") && stdout.ends_with("4999\n5000\n"), "{stdout}");
    assert!(stdout.chars().count() < 1200 && object["truncated"] == true);
    let uri = object["resources"]["stdout"].as_str().unwrap();
    assert!(stdout.contains(uri), "{stdout}");
    let read = client.ask("resources/read", json!({"uri": uri}));
    let whole = read["result"]["contents"][0]["text"].as_str().unwrap();
    assert_eq!(whole.lines().count(), 5000);
    let pictures: Vec<&Value> = result["content"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|content| content["type"] == "image")
        .collect();
    assert_eq!(pictures.len(), 1, "{result}");
    assert_eq!(pictures[0]["data"], "iVBORw0KGgp4eXo=");
    let policy = client.ask("resources/read", json!({"uri": "fumehood://policy"}));
    assert!(policy.to_string().contains("built-in profile default"), "{policy}");
    let missing = client.ask("resources/read", json!({"uri": "fumehood://outcome/none/stdout"}));
    assert!(missing["error"]["code"].is_i64(), "{missing}");
}

#[test]
fn what_is_not_understood_is_answered_and_nothing_more() {
    let mut client = Client::bare(&[]);
    client.line(b"this is not JSON");
    assert_eq!(client.receive()["error"]["code"], -32700);
    client.send(&json!({"jsonrpc": "2.0", "id": "a", "method": "server/discover"}));
    let answer = client.receive();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("a"), &json!(-32601)));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    client.send(&json!({"jsonrpc": "2.0", "id": 9, "result": {}}));
    assert_eq!(client.ask("initialize", initialize())["result"]["serverInfo"]["name"], "fumehood");
    client.line(b"[]");
    assert_eq!(client.receive()["error"]["code"], -32600);
    client.line(&[0xff, 0xfe]);
    assert_eq!(client.receive()["error"]["code"], -32700);
    assert_eq!(client.ask("no/such", json!({}))["error"]["code"], -32601);
    let unknown = client.ask("tools/call", json!({"name": "nope", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let wrong = client.ask("tools/call", json!({"name": "sandboxed_shell.run", "arguments": 1}));
    assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
    let wrong = client.call("sandboxed_shell.run", json!({"command": ["ls"], "x": 1}));
    assert_eq!(wrong["isError"], true);
    let huge = "x".repeat(100_000_000);
    let id = client.request(
        "tools/call",
        json!({"name": "sandboxed_code.run", "arguments": {"language": "python", "code": huge}}),
    );
    let answer = client.receive();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(-32600)));
    assert_eq!(client.shell("echo alive")["structuredContent"]["stdout"], "alive\n");
}

#[test]
fn the_current_revision_needs_no_handshake() {
    let mut client = Client::bare(&[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    let discovered = client.ask("server/discover", json!({"_meta": meta}));
    assert!(discovered["result"].to_string().contains("2026-07-28"), "{discovered}");
    let call = json!({
        "name": "sandboxed_shell.run", "arguments": {"command": "echo hi"}, "_meta": meta,
    });
    let called = client.ask("tools/call", call);
    assert_eq!(called["result"]["structuredContent"]["stdout"], "hi\n", "{called}");
}

#[test]
fn fifty_calls_at_once() {
    let mut client = Client::start(&[]);
    let arguments = |number: u64| json!({"name": "sandboxed_shell.run", "arguments": {"command": format!("echo {number}")}});
    let ids: Vec<u64> =
        (0..50).map(|number| client.request("tools/call", arguments(number))).collect();
    let mut answered = 0;
    while answered < 50 {
        let answer = client.receive();
        let number = ids.iter().position(|id| answer["id"] == *id).expect("an answer to a call");
        let stdout = &answer["result"]["structuredContent"]["stdout"];
        assert_eq!(*stdout, format!("{number}\n"), "{answer}");
        answered += 1;
    }
}

/// Whether a process has this word among its arguments.
fn somebody_runs(word: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|process| {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes())
    })
}

fn within(time: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < time {
        if holds() {
            return true;
        }
        thread::sleep(Duration::from_millis(50));
    }
    false
}

#[test]
fn a_cancelled_call_ends_its_box_and_long_ones_tell_of_themselves() {
    let word = format!("300.{}", std::process::id());
    let mut client = Client::start(&[]);
    let id = client.request(
        "tools/call",
        json!({
            "name": "sandboxed_shell.run", "arguments": {"command": format!("sleep {word}")},
            "_meta": {"progressToken": "p"},
        }),
    );
    let progress = client.receive();
    assert_eq!(progress["method"], "notifications/progress", "{progress}");
    assert_eq!(progress["params"]["progressToken"], "p");
    assert!(somebody_runs(&word));
    let cancel = json!({"requestId": id, "reason": "enough"});
    client.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel,
    }));
    assert!(within(Duration::from_secs(5), || !somebody_runs(&word)), "the box is still there");
    assert_eq!(client.shell("echo alive")["structuredContent"]["stdout"], "alive\n");
}

#[test]
fn a_client_that_leaves_takes_its_boxes_along() {
    let word = format!("301.{}", std::process::id());
    let mut client = Client::start(&[]);
    client.request(
        "tools/call",
        json!({"name": "sandboxed_shell.run", "arguments": {"command": format!("sleep {word}")}}),
    );
    assert!(within(Duration::from_secs(10), || somebody_runs(&word)), "it never began");
    client.input = None;
    assert!(within(Duration::from_secs(15), || !somebody_runs(&word)), "the box is still there");
    assert!(within(Duration::from_secs(5), || client.child.try_wait().unwrap().is_some()));
}

/// A server over HTTP, and where it is.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn start(token: Option<&Path>) -> Served {
        let mut arguments = vec!["mcp", "--http", "127.0.0.1:0"];
        arguments.extend(token.iter().flat_map(|path| ["--token-file", path.to_str().unwrap()]));
        let mut child = fumehood(&arguments).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = lines
            .map_while(Result::ok)
            .find_map(|line| Some(line.split_once("http://")?.1.split_once('/')?.0.to_owned()))
            .expect("it says where it serves");
        Served { child, address }
    }

    /// The status and everything after it.
    fn post(&self, headers: &[(&str, &str)], body: &Value) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let body = body.to_string();
        let mut head = format!(
            "POST /mcp HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
            body.len()
        );
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head += &format!("Host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn over_http_with_a_token() {
    const TOKEN: &str = "0123456789abcdef0123456789abcdef";
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("token");
    fs::write(&file, TOKEN).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let served = Served::start(Some(&file));
    let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize()});
    assert_eq!(served.post(&[], &begin).0, 401);
    assert_eq!(served.post(&[("Authorization", "Bearer wrong")], &begin).0, 401);
    let shown = format!("Bearer {TOKEN}");
    let token = ("Authorization", shown.as_str());
    assert_eq!(served.post(&[token, ("Origin", "http://evil.example")], &begin).0, 403);
    assert_eq!(served.post(&[token, ("Host", "evil.example")], &begin).0, 403);
    assert_eq!(served.post(&[token, ("Origin", "http://localhost.evil.example")], &begin).0, 403);
    assert_eq!(served.post(&[token, ("Origin", "http://localhost:6274")], &begin).0, 200);
    let (status, answer) = served.post(&[token], &begin);
    assert_eq!(status, 200, "{answer}");
    let session = answer
        .lines()
        .find_map(|line| {
            line.to_ascii_lowercase().strip_prefix("mcp-session-id: ").map(str::to_owned)
        })
        .expect("a session");
    let headers = [token, ("Mcp-Session-Id", &session), ("MCP-Protocol-Version", "2025-11-25")];
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(served.post(&headers, &initialized).0, 202);
    let call = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "sandboxed_shell.run", "arguments": {"command": "echo $((6 * 7))"}},
    });
    let (status, answer) = served.post(&headers, &call);
    assert!(status == 200 && answer.contains(r#""stdout":"42\n""#), "{answer}");
}

#[test]
fn nobody_serves_the_network_without_a_token() {
    let refused = done(&mut fumehood(&["mcp", "--http", "0.0.0.0:0"]));
    assert_eq!(refused.code, 125, "{refused:?}");
    assert!(refused.stderr.contains("--token-file"), "{refused:?}");
}
