//! Yes or no, with the right line.

use std::path::Path;

use super::policy;

#[test]
fn variables() {
    let policy = policy("env:\n  pass: [LC_*, HOME]\n  set: {CI: \"1\"}\n  deny: [LC_SECRET]\n");
    for (name, allowed, line) in [
        ("LC_ALL", true, "project.yaml:3"),
        ("CI", true, "project.yaml:4"),
        ("LC_SECRET", false, "project.yaml:5"),
        ("PATH", false, "built-in profile default"),
    ] {
        let decision = policy.env_decision(name);
        assert_eq!(decision.allowed, allowed, "{name}");
        assert!(decision.origin.to_string().starts_with(line), "{name}: {}", decision.origin);
    }
}

#[test]
fn hosts() {
    let policy =
        policy("net:\n  allow:\n    - '*.a.com:443'\n    - 10.0.0.0/8\n  deny:\n    - b.a.com\n");
    for (host, port, allowed, line) in [
        ("x.a.com", 443, true, "project.yaml:4"),
        ("X.A.COM.", 443, true, "project.yaml:4"),
        ("x.a.com", 80, false, "project.yaml:4"),
        ("10.1.1.1", 22, true, "project.yaml:5"),
        ("b.a.com", 443, false, "project.yaml:7"),
        ("a.com", 443, false, "project.yaml:4"),
        ("localhost", 80, true, "project.yaml:4"),
        ("x.a.com\r\n", 443, false, "project.yaml:4"),
    ] {
        let decision = policy.host_decision(host, port);
        assert_eq!(decision.allowed, allowed, "{host}: {}", decision.reason);
        assert_eq!(decision.origin.to_string(), line, "{host}: {}", decision.reason);
    }
}

#[test]
fn without_a_network_not_even_itself_is_reached() {
    assert!(!policy("").host_decision("localhost", 80).allowed);
    let local = policy("net: {mode: localhost}");
    assert!(local.host_decision("127.0.0.1", 80).allowed);
    assert!(!local.host_decision("a.com", 80).allowed);
    let no_names = policy("net: {allow: [a.com, 10.0.0.1], dns: false}");
    assert!(!no_names.host_decision("a.com", 80).allowed);
    assert!(no_names.host_decision("10.0.0.1", 80).allowed);
}

#[test]
fn paths() {
    let policy = policy(
        "fs:\n  deny: ['**/.env']\n  mounts:\n    - {source: /data, target: /d}\n    - {source: /data/out, target: /o, mode: rw}\n  datasets: {set: /sets/one}\n",
    );
    for (path, read, write, line) in [
        ("src/a.rs", true, true, "built-in"),
        ("src/.ENV", false, false, "project.yaml:3"),
        (".git/hooks/x", true, false, "built-in"),
        ("../outside", false, false, "built-in"),
        ("a/../../outside", false, false, "built-in"),
        ("/data/x", true, false, "project.yaml:5"),
        ("/data/out/x", true, true, "project.yaml:6"),
        ("/data/.env", false, false, "project.yaml:3"),
        ("/data/.git/hooks/x", true, false, "project.yaml:5"),
        ("/sets/one", true, false, "project.yaml:7"),
        ("/etc/shadow", false, false, "built-in"),
    ] {
        let decision = policy.path_decision(Path::new(path));
        assert_eq!((decision.read.allowed, decision.write.allowed), (read, write), "{path}");
        let origin = decision.write.origin.to_string();
        assert!(origin.starts_with(line), "{path}: {origin}");
    }
}
