//! An engine that cannot be used is named as that, within two seconds unless it hangs, with the
//! next step. None of
//! this needs an engine.

mod common;

use std::{os::unix::net::UnixListener, path::Path, time::Duration};

use common::{Done, done, fumehood};

/// Runs a program on a backend whose engine is at this address.
fn run(backend: &str, host: &str) -> Done {
    let variable = if backend == "podman" { "CONTAINER_HOST" } else { "DOCKER_HOST" };
    let words =
        ["run", "--backend", backend, "--lang", "python", "--code", "print(6 * 7)", "--json"];
    done(fumehood(&words).env(variable, host))
}

fn unix(path: &Path) -> String {
    format!("unix://{}", path.display())
}

/// Refused in time, with these words, on both streams.
#[track_caller]
fn expect(run: &Done, words: &[&str]) {
    expect_within(Duration::from_secs(2), run, words);
}

#[track_caller]
fn expect_within(patience: Duration, run: &Done, words: &[&str]) {
    assert_eq!(run.code, 125, "{run:?}");
    assert!(run.took < patience, "{run:?}");
    assert_eq!(run.json()["status"], "refused");
    for word in words {
        assert!(run.stderr.contains(word), "{word}: {run:?}");
        assert!(run.json()["error"].as_str().unwrap().contains(word), "{word}: {run:?}");
    }
}

#[test]
fn an_engine_that_is_off_is_said_to_be() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("socket");
    expect(&run("docker", &unix(&socket)), &["docker is not running", "systemctl start docker"]);
    // The file outlives the daemon.
    drop(UnixListener::bind(&socket).unwrap());
    expect(&run("docker", &unix(&socket)), &["docker is not running", "systemctl start docker"]);
    expect(&run("podman", &unix(&socket)), &["podman is not running", "podman.socket"]);
}

#[test]
fn an_engine_that_hangs_is_not_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("socket");
    let _silent = UnixListener::bind(&socket).unwrap();
    // One that listens may only be busy.
    let patience = Duration::from_secs(8);
    expect_within(patience, &run("docker", &unix(&socket)), &["does not answer", "restart it"]);
}

#[test]
fn an_engine_elsewhere_is_not_used() {
    expect(&run("docker", "tcp://192.0.2.1:2375"), &["tcp://192.0.2.1:2375", "unix:///PATH"]);
}

#[test]
fn images_are_for_engines() {
    let refused = done(&mut fumehood(&["exec", "--image", "an/image", "--", "true"]));
    assert_eq!(refused.code, 125, "{refused:?}");
    assert!(refused.stderr.contains("--backend docker"), "{refused:?}");
}

#[test]
fn the_plan_of_a_container_needs_no_engine() {
    let words =
        ["run", "--backend", "docker", "--lang", "python", "--code", "1", "--dry-run", "--json"];
    let plan = done(fumehood(&words).env("DOCKER_HOST", "unix:///nowhere/at/all")).json();
    assert_eq!(plan["run"]["container"]["image"], "fumehood/python");
    assert_eq!(plan["run"]["command"]["argv"][0], "python3", "found in the image");
    assert_eq!(plan["run"]["command"]["env"].get("PATH"), None, "that of the image");
    assert_ne!(plan["run"]["identity"]["uid"], 0);
}
