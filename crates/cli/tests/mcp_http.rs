//! `fumehood mcp --http` as a client sees it: who is let in, many calls at once, clients that leave,
//! and what is not understood.

#![cfg(target_os = "linux")]

#[path = "common/mcp.rs"]
mod client;
mod common;

use std::{fs, os::unix::fs::PermissionsExt as _, thread, time::Duration};

use client::{Served, call, initialize, somebody_runs, within};
use common::{done, fumehood};
use serde_json::json;

#[test]
fn only_who_has_the_token_is_served() {
    const TOKEN: &str = "0123456789abcdef0123456789abcdef";
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("token");
    fs::write(&file, TOKEN).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let served = Served::start(&["--token-file", file.to_str().unwrap()]);
    let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize()});
    assert_eq!(served.post(&[], &begin).0, 401);
    assert_eq!(served.post(&[("Authorization", "Bearer wrong")], &begin).0, 401);
    let shown = format!("Bearer {TOKEN}");
    let token = ("Authorization", shown.as_str());
    assert_eq!(served.post(&[token, ("Origin", "http://evil.example")], &begin).0, 403);
    assert_eq!(served.post(&[token, ("Host", "evil.example")], &begin).0, 403);
    assert_eq!(served.post(&[token, ("Origin", "http://localhost.evil.example")], &begin).0, 403);
    assert_eq!(served.post(&[token, ("Origin", "http://localhost:6274")], &begin).0, 200);
    let session = served.session(&[token]);
    let headers = [token, ("Mcp-Session-Id", &session), ("MCP-Protocol-Version", "2025-11-25")];
    let (status, answer) = served
        .post(&headers, &call(2, "sandboxed_shell.run", json!({"command": "echo $((6 * 7))"})));
    assert!(status == 200 && answer.contains(r#""stdout":"42\n""#), "{answer}");
}

#[test]
fn nobody_serves_the_network_without_a_token() {
    let refused = done(&mut fumehood(&["mcp", "--http", "0.0.0.0:0"]));
    assert_eq!(refused.code, 125, "{refused:?}");
    assert!(refused.stderr.contains("--token-file"), "{refused:?}");
}

#[test]
fn fifty_calls_at_once() {
    let served = Served::start(&[]);
    let session = served.session(&[]);
    thread::scope(|scope| {
        let calls: Vec<_> = (0..50)
            .map(|number| {
                let (served, session) = (&served, &session);
                scope.spawn(move || {
                    let arguments = json!({"command": format!("echo number {number}")});
                    let call = call(number + 2, "sandboxed_shell.run", arguments);
                    (number, served.post(&[("Mcp-Session-Id", session)], &call))
                })
            })
            .collect();
        for one in calls {
            let (number, (status, answer)) = one.join().unwrap();
            let expected = format!(r#""stdout":"number {number}\n""#);
            assert!(status == 200 && answer.contains(&expected), "{answer}");
        }
    });
}

#[test]
fn a_client_that_leaves_takes_its_boxes_along() {
    let served = Served::start(&[]);
    let session = served.session(&[]);
    let current = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    let with_session = [("Mcp-Session-Id", session.as_str())];
    let without = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "sandboxed_shell.run"),
    ];
    for (number, headers) in [(1, &with_session[..]), (2, &without[..])] {
        let word = format!("30{number}.{}", std::process::id());
        let arguments = json!({"command": format!("sleep {word}")});
        let mut call = call(7, "sandboxed_shell.run", arguments);
        if number == 2 {
            call["params"]["_meta"] = current.clone();
        }
        let connection = served.send(headers, &call.to_string());
        let began = within(Duration::from_secs(10), || somebody_runs(&word));
        assert!(began, "it never began: {headers:?}");
        assert!(!within(Duration::from_secs(1), || !somebody_runs(&word)), "it goes on meanwhile");
        drop(connection);
        let gone = within(Duration::from_secs(15), || !somebody_runs(&word));
        assert!(gone, "the box is still there: {headers:?}");
    }
    // A client that listens elsewhere has not left.
    let word = format!("8.{}", std::process::id());
    let arguments = json!({"command": format!("sleep {word}")});
    let listening = call(8, "sandboxed_shell.run", json!({"command": "sleep 9"}));
    let other = served.send(&with_session, &listening.to_string());
    let connection =
        served.send(&with_session, &call(9, "sandboxed_shell.run", arguments).to_string());
    assert!(within(Duration::from_secs(10), || somebody_runs(&word)), "it never began");
    drop(connection);
    assert!(!within(Duration::from_secs(6), || !somebody_runs(&word)), "it was ended too early");
    drop(other);
}

#[test]
fn what_is_not_understood_is_answered_and_nothing_more() {
    let served = Served::start(&[]);
    let session = served.session(&[]);
    let headers = [("Mcp-Session-Id", session.as_str())];
    let shell = "sandboxed_shell.run";
    let huge = "x".repeat(100_000_000);
    let code = json!({"language": "python", "code": huge}).to_string();
    let huge = call(6, "sandboxed_code.run", json!({})).to_string().replace("{}", &code);
    for (body, expected, word) in [
        ("this is not JSON".to_owned(), 400, r#""code":-32700"#),
        ("[]".to_owned(), 400, r#""code":-32600"#),
        (r#"{"jsonrpc": "2.0", "id": 1}"#.to_owned(), 400, r#""id":1"#),
        (json!({"jsonrpc": "2.0", "id": 2, "method": "no/such"}).to_string(), 200, "-32601"),
        (call(3, "nope", json!({})).to_string(), 200, "-32602"),
        (call(4, shell, json!(1)).to_string(), 200, "-32602"),
        (call(5, shell, json!({"command": ["ls"]})).to_string(), 200, r#""isError":true"#),
        (huge, 413, "the message is longer than"),
    ] {
        let (status, answer) = served.post_text(&headers, &body);
        let shown = &body[..body.len().min(100)];
        assert_eq!(status, expected, "{shown}: {answer}");
        assert!(answer.contains(word), "{shown}: {answer}");
    }
    let alive = call(9, shell, json!({"command": "echo alive"}));
    assert!(served.post(&headers, &alive).1.contains(r#""stdout":"alive\n""#));
}
