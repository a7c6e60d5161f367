//! What happens to a box when its engine, or somebody else, deals with its container, and what
//! becomes of containers that nobody owns any more.

use std::{
    io::{Read as _, Write as _},
    os::unix::net::UnixStream,
    thread,
    time::{Duration, Instant},
};

use fumehood::Status;
use fumehood_tests::{Case, Condition, Scene, command_line, with_limits};
use serde_json::Value;

use crate::tool::Tool;

/// The label that names the owner of a container of ours, and the one with its lease.
const OWNER: &str = "fumehood.owner";
const LEASE: &str = "fumehood.lease";

pub fn cases() -> Vec<Case> {
    let all = [
        Case::steps("engines::container_is_killed", |scene| vanish(scene, "POST", "/kill")),
        Case::steps("engines::container_is_removed", |scene| vanish(scene, "DELETE", "?force=1")),
        Case::steps("engines::container_is_paused", paused),
        Case::steps("engines::orphans_are_swept", orphans),
    ];
    all.into_iter().map(|case| case.only(Condition::ENGINE)).collect()
}

/// A container that goes away in the middle of a run is an outcome with a reason.
fn vanish(scene: &Scene, method: &str, rest: &str) {
    settle(scene);
    let run = scene.start(command_line(&["sleep", "60"]));
    let id = running(scene);
    let started = Instant::now();
    ask(scene, method, &format!("/containers/{id}{rest}"), "");
    let outcome = scene.block_on(run.outcome()).expect("an outcome");
    assert!(started.elapsed() < Duration::from_secs(20), "it does not hang");
    assert_eq!(outcome.status, Status::Failed);
    let reason = outcome.error.unwrap_or_default();
    assert!(reason.contains("container"), "{reason}");
    gone(scene, &id);
}

/// A container whose processes do not run cannot answer, and ends all the same.
fn paused(scene: &Scene) {
    let request = with_limits(command_line(&["sleep", "60"]), "timeout=2s grace=100ms");
    settle(scene);
    let run = scene.start(request);
    let id = running(scene);
    ask(scene, "POST", &format!("/containers/{id}/pause"), "");
    let outcome = scene.block_on(run.outcome()).expect("an outcome");
    assert_eq!(outcome.status, Status::Timeout);
    gone(scene, &id);
}

/// What a dead process left is removed by the next one; what may still be somebody's is not.
fn orphans(scene: &Scene) {
    let world = |name: &str| format!("{name}/pid:[1] 1 1");
    let dead = make(scene, &world("another-machine"), "1");
    let alive = make(scene, &world("another-machine"), "99999999999");
    let tool = Tool::find(scene);
    assert!(tool.exec(scene, &["/bin/true"]).status().expect("it starts").success());
    gone(scene, &dead);
    assert!(ids(scene).contains(&alive), "its lease is not over");
    ask(scene, "DELETE", &format!("/containers/{alive}?force=1"), "");
}

/// A container with our labels that was never started.
fn make(scene: &Scene, owner: &str, lease: &str) -> String {
    let body = serde_json::json!({
        "Image": scene.place.image,
        "Cmd": ["true"],
        "Labels": { OWNER: owner, LEASE: lease },
        "HostConfig": { "NetworkMode": "none" },
    });
    let made = ask(scene, "POST", "/containers/create", &body.to_string());
    made["Id"].as_str().expect("a container").to_owned()
}

/// Waits until the engine is done with the boxes before.
fn settle(scene: &Scene) {
    wait_for("the end of all containers of ours", || ours(scene).is_empty().then_some(()));
}

/// The container of ours that runs.
fn running(scene: &Scene) -> String {
    let id = wait_for("a running container", || ours(scene).into_iter().next());
    // It is listed before it is ready to be dealt with.
    thread::sleep(Duration::from_millis(300));
    id
}

fn ours(scene: &Scene) -> Vec<String> {
    let all = ask(scene, "GET", "/containers/json", "");
    let all = all.as_array().cloned().unwrap_or_default();
    all.iter()
        .filter(|one| one["Labels"].get(OWNER).is_some())
        .filter_map(|one| Some(one["Id"].as_str()?.to_owned()))
        .collect()
}

fn gone(scene: &Scene, id: &str) {
    wait_for("the container's end", || (!ids(scene).contains(&id.to_owned())).then_some(()));
}

fn ids(scene: &Scene) -> Vec<String> {
    let all = ask(scene, "GET", "/containers/json?all=1", "");
    let all = all.as_array().cloned().unwrap_or_default();
    all.iter().filter_map(|one| Some(one["Id"].as_str()?.to_owned())).collect()
}

fn wait_for<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "after 20 s: not yet: {what}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// One request to the engine, by hand: these tests look at it from the side.
pub fn ask(scene: &Scene, method: &str, path: &str, body: &str) -> Value {
    let (_, host) = scene.place.variables().expect("an engine");
    let socket = host.strip_prefix("unix://").expect("a socket of this machine");
    let mut stream = UnixStream::connect(socket).expect("the engine listens");
    let request = format!(
        "{method} /v1.41{path} HTTP/1.0\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (_, content) = answer.split_once("\r\n\r\n").expect("an answer with a body");
    serde_json::from_str(content).unwrap_or(Value::Null)
}
