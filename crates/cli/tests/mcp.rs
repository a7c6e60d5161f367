//! `fumehood mcp` as a client sees it: the real program, spoken to line by line and over HTTP.

#![cfg(target_os = "linux")]

#[path = "common/mcp.rs"]
mod client;
mod common;

use std::{fs, time::Duration};

use client::{Client, initialize, somebody_runs, text, within};
use common::{done, fumehood};
use serde_json::{Value, json};

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
fn an_override_of_the_server_holds_for_all_its_calls() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("sandbox.policy.yaml"), "version: 1\nceiling: {memory: 1g}\n")
        .unwrap();
    let workspace = place.path().to_str().unwrap();
    let with = |policy: Value| {
        let text = policy.to_string();
        ["--workspace", workspace, "--override", &text].map(str::to_owned)
    };
    let arguments = with(json!({"version": 1, "proc": {"memory": "900m", "pids": 7}}));
    let mut client = Client::start(&arguments.each_ref().map(String::as_str));
    let limits = |result: &Value| result["structuredContent"]["policy"]["layers"].to_string();
    assert!(limits(&client.shell("true")).contains("--override"));
    let policy = client.ask("resources/read", json!({"uri": "fumehood://policy"}));
    assert!(policy.to_string().contains("--override"), "{policy}");
    // What the operator has tightened, a model does not loosen.
    let more = json!({"command": "true", "limits": {"pids": 8}});
    assert_eq!(client.call("sandboxed_shell.run", more)["isError"], true);
    let arguments = with(json!({"version": 1, "proc": {"memory": "2g"}}));
    let refused =
        done(&mut fumehood(&[&["mcp"], &arguments.each_ref().map(String::as_str)[..]].concat()));
    assert_eq!(refused.code, 125, "{refused:?}");
    assert!(refused.stderr.contains("the ceiling is 1GiB"), "{refused:?}");
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
fn what_a_killed_server_leaves_the_next_one_removes() {
    let place = tempfile::tempdir().unwrap();
    let start = || {
        let mut command = fumehood(&["mcp", "--session"]);
        command.env("TMPDIR", place.path());
        let mut client = Client::of(command);
        client.ask("initialize", initialize());
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    };
    let left = || {
        let entries = fs::read_dir(place.path()).unwrap().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let mut killed = start();
    killed.shell("echo x > kept; mkdir -p a/b; echo y > a/b/c");
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    let orphan = left();
    assert_eq!(orphan.len(), 1, "{orphan:?}");
    let mut alive = start();
    alive.shell("echo x > kept");
    assert!(within(Duration::from_secs(10), || !orphan[0].exists()), "{:?}", left());
    let another = start();
    assert!(!within(Duration::from_secs(1), || left().is_empty()), "only the dead are swept");
    assert_eq!(alive.shell("cat kept")["structuredContent"]["stdout"], "x\n");
    for mut client in [alive, another] {
        client.input = None;
        assert!(within(Duration::from_secs(10), || client.child.try_wait().unwrap().is_some()));
    }
    assert_eq!(left(), [] as [std::path::PathBuf; 0], "those who leave tidy up");
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
    // Some clients ask which revisions there are, and then begin with an older one.
    let mut older = Client::bare(&[]);
    assert!(older.ask("server/discover", json!({"_meta": meta}))["result"].is_object());
    let begun = older.ask("initialize", initialize());
    assert_eq!(begun["result"]["protocolVersion"], "2025-11-25", "{begun}");
    older.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!(older.shell("echo hi")["structuredContent"]["stdout"], "hi\n");
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
