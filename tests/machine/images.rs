//! Images are made, listed, used and removed with the real engines. All but one of the cases have a
//! maker of their own, a script, so that they need neither network nor minutes.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    process::{Command, Output},
};

use fumehood::{DefaultImages, EngineDefaults, Request, Sandbox};
use fumehood_tests::{Case, Condition, Scene};
use serde_json::Value;

use crate::{engines::ask, tool::Tool};

pub fn cases() -> Vec<Case> {
    let all = [
        Case::steps("images::life_of_an_image", life),
        Case::steps("images::failure_leaves_nothing", failure),
        Case::steps("images::what_is_not_ours_stays", foreign),
        Case::steps("images::a_fetch_that_fails_says_what_to_do", fetch),
        Case::steps("images::the_configuration_decides", configured),
        // Packages are fetched and unpacked twice, which takes minutes; what differs between
        // engines is in the other cases.
        Case::steps("images::base_twice_is_one_image", base).only(Condition::DOCKER),
    ];
    all.into_iter().map(|case| case.only(Condition::ENGINE)).collect()
}

/// Made, made again, changed, removed: never more than one is there.
fn life(scene: &Scene) {
    let tool = Tool::find(scene);
    let maker = maker(scene, "echo one > usr/content; chmod 755 usr/content");
    let first = build(scene, &tool, "c", &maker);
    assert_eq!(build(scene, &tool, "c", &maker), first, "the same content");
    let listed = listed(scene, &tool, "c");
    assert_eq!(listed["id"], first.as_str());
    assert_eq!((&listed["current"], &listed["present"]), (&true.into(), &true.into()));
    assert!(listed["made"].as_u64().is_some() && listed["last_used"].is_null(), "{listed}");
    let inspected = ask(scene, "GET", &format!("/images/{}/json", bare(&first)), "");
    let env = inspected["Config"]["Env"].to_string();
    assert!(env.contains("PATH=/usr/local/sbin"), "{env}");

    let other = self::maker(scene, "head -c 5000 /dev/zero > usr/content");
    let second = build(scene, &tool, "c", &other);
    assert_ne!(second, first);
    assert_eq!(of_ours(scene, "c"), std::slice::from_ref(&second), "the one before is gone");

    let dry = prune(scene, &tool, &["--all", "--dry-run"]);
    assert!(ids(&dry).contains(&second), "{dry}");
    assert_eq!(of_ours(scene, "c"), std::slice::from_ref(&second), "only said");
    let young = prune(scene, &tool, &["--older-than", "1h", "--unused", "1h"]);
    assert!(!ids(&young).contains(&second), "{young}");
    let none = prune(scene, &tool, &["--keep-size", "1k"]);
    assert!(ids(&none).contains(&second), "{none}");
    assert!(of_ours(scene, "c").is_empty());
    assert_eq!(self::listed(scene, &tool, "c")["present"], false);
}

/// A maker that fails, and one that makes nonsense, change nothing.
fn failure(scene: &Scene) {
    let tool = Tool::find(scene);
    let good = maker(scene, "echo one > usr/content");
    let id = build(scene, &tool, "cpp", &good);
    for (step, words) in [
        ("echo 'E: the mirror is gone' >&2; exit 2", ["the mirror is gone", "apt-get update"]),
        ("tar=/dev/null", ["not a file system", "try again"]),
    ] {
        let bad = maker(scene, step);
        let failed = run(image(scene, &tool, &["build", "cpp", "--json"]).env("PATH", path(&bad)));
        assert_eq!(failed.status.code(), Some(125));
        let error = json(&failed)["error"].as_str().unwrap_or_default().to_owned();
        for word in words {
            let as_user = word == "apt-get update" && !scene.place.as_root;
            assert!(as_user || error.contains(word), "{error}");
        }
    }
    assert_eq!(of_ours(scene, "cpp"), [id]);
    let building = scene.path().join("cache/images/building");
    let left: Vec<_> = fs::read_dir(building).expect("it was used").flatten().collect();
    assert!(left.iter().all(|entry| entry.path().is_file()), "only locks are left: {left:?}");
    prune(scene, &tool, &["--all"]);
}

/// Whoever builds on an image of ours inherits its labels; that does not make it ours.
fn foreign(scene: &Scene) {
    let tool = Tool::find(scene);
    let maker = maker(scene, "echo one > usr/content");
    let ours = build(scene, &tool, "rust", &maker);
    let body = serde_json::json!({ "Image": scene.place.image, "Cmd": ["true"] });
    let made = ask(scene, "POST", "/containers/create", &body.to_string());
    let container = made["Id"].as_str().expect("a container");
    let commit = format!(
        "/commit?container={container}&repo=localhost/somebody&tag=derived\
         &changes=LABEL%20fumehood.image%3Drust"
    );
    ask(scene, "POST", &commit, "{}");
    ask(scene, "DELETE", &format!("/containers/{container}?force=1"), "");
    let derived = |scene: &Scene| ask(scene, "GET", "/images/localhost/somebody:derived/json", "");
    assert_eq!(derived(scene)["Config"]["Labels"]["fumehood.image"], "rust");
    let test_image = scene.place.image.clone().unwrap_or_default();

    let pruned = prune(scene, &tool, &["--all"]);
    assert!(ids(&pruned).contains(&ours), "{pruned}");
    assert!(derived(scene)["Id"].is_string(), "it stays: {pruned}");
    let test = ask(scene, "GET", &format!("/images/{test_image}/json"), "");
    assert!(test["Id"].is_string(), "it stays: {pruned}");
    ask(scene, "DELETE", "/images/localhost/somebody:derived?force=1", "");
}

/// No registry has this image, or none is reached: the way out is said, and nothing is there.
fn fetch(scene: &Scene) {
    let tool = Tool::find(scene);
    let failed = run(&mut image(scene, &tool, &["pull", "localhost:1/no/such:image", "--json"]));
    assert_eq!(failed.status.code(), Some(125));
    let error = json(&failed)["error"].as_str().unwrap_or_default().to_owned();
    assert!(error.contains("could not fetch localhost:1/no/such:image"), "{error}");
    assert!(error.contains("check its name"), "{error}");
}

/// Where a request names no image, what was configured is used.
fn configured(scene: &Scene) {
    let sandbox = Sandbox::builder().cache_dir(scene.directory("cache")).keep_ready(0).build();
    let sandbox = sandbox.expect("a sandbox");
    let image = |request: Request| {
        let plan = sandbox.plan(&request.backend(scene.place.backend)).expect("a plan");
        plan.run.container.expect("a container").image
    };
    assert_eq!(image(Request::code("python", "1")), "fumehood/python");
    let images = DefaultImages {
        languages: [("python".to_owned(), "mine/python:3".to_owned())].into(),
        docker: Some("mine/other".to_owned()),
        podman: Some("mine/other".to_owned()),
    };
    sandbox.configure_engines(EngineDefaults { images, ..EngineDefaults::default() });
    assert_eq!(image(Request::code("python", "1")), "mine/python:3");
    assert_eq!(image(Request::code("bash", "true")), "mine/other");
    assert_eq!(image(Request::command(["true"])), "mine/other");
    let mut named = Request::code("python", "1");
    named.image = Some("named".to_owned());
    assert_eq!(image(named), "named");
}

/// The real thing, twice: the same image, and a box from it.
fn base(scene: &Scene) {
    let tool = Tool::find(scene);
    let path = env::var("PATH").expect("a path");
    let missing = tool_exec(scene, &tool);
    let error = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(error.contains("fumehood image build base"), "{error}");
    let first = built(scene, &tool, "base", &path);
    let ran = tool_exec(scene, &tool);
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "12\n", "{ran:?}");
    assert!(listed(scene, &tool, "base")["last_used"].as_u64().is_some(), "it was used");
    let second = built(scene, &tool, "base", &path);
    assert_eq!(first, second);
    prune(scene, &tool, &["--all"]);
    assert!(of_ours(scene, "base").is_empty());
}

/// A box from the image that is chosen where nobody names one.
fn tool_exec(scene: &Scene, tool: &Tool) -> Output {
    let backend = scene.place.backend.name();
    let mut command = tool.plain(scene);
    command.args(["exec", "--workspace", "none", "--backend", backend, "--"]);
    run(command.args(["/bin/bash", "-c", "echo $((3 * 4))"]))
}

/// A program named like the real one, which makes a tiny root file system after this step.
fn maker(scene: &Scene, step: &str) -> PathBuf {
    let directory = scene.directory("maker");
    let text = format!(
        "#!/bin/sh\nset -e\nfor tar; do :; done\nroot=$(mktemp -d)\ntrap 'rm -rf \"$root\"' EXIT\n\
         cd \"$root\"\nmkdir -p usr/bin var/log\ndate +%N > var/log/made\n{step}\n\
         tar -cf \"$tar\" .\n"
    );
    let program = directory.join("mmdebstrap");
    fs::write(&program, text).expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("permissions");
    directory
}

fn path(maker: &std::path::Path) -> String {
    format!("{}:{}", maker.display(), env::var("PATH").expect("a path"))
}

fn image(scene: &Scene, tool: &Tool, words: &[&str]) -> Command {
    let mut command = tool.plain(scene);
    command.arg("image").args(words).args(["--backend", scene.place.backend.name()]);
    command
}

fn run(command: &mut Command) -> Output {
    command.output().expect("it starts")
}

#[track_caller]
fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[track_caller]
fn build(scene: &Scene, tool: &Tool, name: &str, maker: &std::path::Path) -> String {
    built(scene, tool, name, &path(maker))
}

/// Makes an image and gives its identity.
#[track_caller]
pub fn built(scene: &Scene, tool: &Tool, name: &str, path: &str) -> String {
    let output = run(image(scene, tool, &["build", name, "--json"]).env("PATH", path));
    assert!(output.status.success(), "{output:?}");
    json(&output)[0]["id"].as_str().expect("an identity").to_owned()
}

fn prune(scene: &Scene, tool: &Tool, words: &[&str]) -> Value {
    let output = run(image(scene, tool, &["prune", "--json"]).args(words));
    assert!(output.status.success(), "{output:?}");
    json(&output)
}

fn ids(pruned: &Value) -> Vec<String> {
    let images = pruned["images"].as_array().cloned().unwrap_or_default();
    images.iter().filter_map(|image| Some(whole(image["id"].as_str()?))).collect()
}

fn listed(scene: &Scene, tool: &Tool, name: &str) -> Value {
    let all = json(&run(&mut image(scene, tool, &["ls", "--json"])));
    let all = all.as_array().cloned().unwrap_or_default();
    all.into_iter().find(|image| image["name"] == name).expect("it is listed")
}

/// Every image that the engine has with our label of this name, named or not.
fn of_ours(scene: &Scene, name: &str) -> Vec<String> {
    let filter = format!("%7B%22label%22%3A%5B%22fumehood.image%3D{name}%22%5D%7D");
    let all = ask(scene, "GET", &format!("/images/json?filters={filter}"), "");
    let all = all.as_array().cloned().unwrap_or_default();
    all.iter().filter_map(|image| Some(whole(image["Id"].as_str()?))).collect()
}

fn bare(id: &str) -> &str {
    id.trim_start_matches("sha256:")
}

fn whole(id: &str) -> String {
    format!("sha256:{}", bare(id))
}
