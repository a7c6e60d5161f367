//! `fumehood egress test`: real connections from inside a real box.

mod common;

use std::{fs, io::Write as _, net::TcpListener, thread};

use common::{Done, done, fumehood};

fn run(arguments: &[&str]) -> Done {
    done(&mut fumehood(arguments))
}

fn test(policy: &str, arguments: &[&str]) -> Done {
    let scene = tempfile::tempdir().unwrap();
    let file = scene.path().join("p.yaml");
    fs::write(&file, format!("version: 1\n{policy}")).unwrap();
    let file = file.to_str().unwrap();
    run(&[&["egress", "test"], arguments, &["--policy", file]].concat())
}

#[test]
fn without_a_network_everything_is_seen_to_be_blocked() {
    let done = test("net: {mode: none}\n", &["example.com:443", "192.0.2.7:80", "--json"]);
    assert_eq!(done.code, 0, "{done:?}");
    let json = done.json();
    assert_eq!(json["as_expected"], true);
    let hosts = json["hosts"].as_array().unwrap();
    assert_eq!(
        (&hosts[0]["seen"], &hosts[1]["seen"]),
        (&"unknown_name".into(), &"unreachable".into())
    );
    for host in hosts {
        assert_eq!(host["policy"]["allowed"], false, "{host}");
        assert!(host["policy"]["origin"].as_str().unwrap().ends_with("p.yaml:2"), "{host}");
    }
}

#[test]
fn with_its_loopback_a_box_reaches_only_itself() {
    let done =
        test("net: {mode: localhost}\n", &["localhost:1", "127.0.0.1:1", "--deny", "example.com"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(done.stdout.matches(": as expected\n").count(), 3, "{done:?}");
    assert!(done.stdout.contains("  seen: refused\n"), "the loopback answers: {done:?}");
    assert!(
        done.stdout.contains("  expected: blocked (--deny)\n  policy: blocked, only the loopback")
    );
}

#[test]
fn what_must_be_blocked_and_is_not_is_a_failure() {
    let done = test("net: {mode: localhost}\n", &["--deny", "localhost:1"]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.stdout.starts_with("localhost:1: not as expected\n"), "{done:?}");
}

#[test]
fn a_policy_without_mounts_is_tried_too() {
    let done = test("ceiling: {mounts: none}\n", &["example.com"]);
    assert_eq!(done.code, 0, "{done:?}");
}

#[test]
fn something_must_be_tried() {
    assert_eq!(run(&["egress", "test"]).code, 125);
    assert_eq!(run(&["egress", "test", "a.com:http"]).code, 125);
    let help = run(&["egress", "test", "--help"]);
    assert!(help.stdout.contains("Examples:\n  fumehood egress test "), "{help:?}");
}

/// A server of this machine that says something to the first two who come.
#[test]
fn a_host_that_is_allowed_is_reached_and_another_is_not() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || {
        for stream in listener.incoming().take(2) {
            stream.unwrap().write_all(b"hello\n").unwrap();
        }
    });
    let policy = format!("net: {{allow: [host:{port}]}}\n");
    let (service, other) = (format!("host:{port}"), format!("host:{}", port ^ 1));
    let done = test(&policy, &[&service, &other, "example.com", "--json"]);
    assert_eq!(done.code, 0, "{done:?}");
    let json = done.json();
    assert_eq!(json["hosts"][0]["seen"], "connected", "{json}");
    assert_eq!(json["hosts"][0]["gate"]["allowed"], true, "{json}");
    assert_eq!(json["hosts"][1]["gate"]["reason"], "no_rule", "{json}");
    assert_eq!(json["hosts"][2]["seen"], "unknown_name", "{json}");
    let asserted = test(&policy, &["--deny", &service]);
    assert_eq!(asserted.code, 1, "{asserted:?}");
    server.join().unwrap();
}
