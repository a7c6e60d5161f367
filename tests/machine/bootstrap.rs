//! The Dockerfile that `fumehood bootstrap` writes for a Go module is built as it is written.
//!
//! No registry is asked: an image of ours with Go stands in for the two that the file begins from.
//! So this shows that the file is understood and that its steps work; not that the real images
//! behave the same, nor that their versions are there.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use fumehood::BackendName;
use fumehood_tests::{Case, Condition, Scene};

use crate::{engines::ask, images::built, tool::Tool};

/// What is made here, and removed.
const RESULT: &str = "fumehood-bootstrap-test";

pub fn cases() -> Vec<Case> {
    let docker = Condition::new(
        |place| place.backend == BackendName::Docker && place.image.is_some(),
        "it takes Docker's own builder",
    );
    vec![Case::steps("bootstrap::go_dockerfile_builds", go).only(docker)]
}

fn go(scene: &Scene) {
    let tool = Tool::find(scene);
    let project = scene.directory("hello");
    fs::write(project.join("go.mod"), "module example.com/hello\n\ngo 1.22\n").expect("a file");
    let source = "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(6 * 7) }\n";
    fs::write(project.join("main.go"), source).expect("a file");
    // Debian, since that is what the image that stands in is.
    let mut bootstrap = tool.plain(scene);
    let wrote = bootstrap.args(["bootstrap", "--base", "debian"]).arg(&project).output();
    let wrote = wrote.expect("it starts");
    assert!(wrote.status.success(), "{wrote:?}");
    let dockerfile = fs::read_to_string(project.join("Dockerfile")).expect("a Dockerfile");

    let stands_in = built(scene, &tool, "go", &env::var("PATH").expect("a path"));
    let names = bases(&dockerfile);
    assert!(names.len() == 2 && names[0].starts_with("golang:1.22"), "{dockerfile}");
    for name in &names {
        let (repo, tag) = name.split_once(':').expect("a tag");
        ask(scene, "POST", &format!("/images/{stands_in}/tag?repo={repo}&tag={tag}"), "");
    }
    let done = build(scene, &project);
    let answer = done.as_ref().map(|()| run(scene));
    for name in names.iter().map(String::as_str).chain([RESULT]) {
        ask(scene, "DELETE", &format!("/images/{name}"), "");
    }
    let mut prune = tool.plain(scene);
    prune.args(["image", "prune", "--all", "--backend", "docker"]).output().expect("it starts");
    assert_eq!(answer, Ok("42\n".to_owned()), "{dockerfile}");
}

/// The images that a Dockerfile begins from.
fn bases(dockerfile: &str) -> Vec<String> {
    let lines = dockerfile.lines().filter_map(|line| line.strip_prefix("FROM "));
    lines.filter_map(|line| Some(line.split(' ').next()?.to_owned())).collect()
}

/// Docker's client; the first in the path that can build with BuildKit, since newer ones need a
/// plugin for it.
fn client() -> PathBuf {
    let path = env::var_os("PATH").expect("a path");
    let mut clients = env::split_paths(&path).map(|directory| directory.join("docker"));
    let builds = |client: &PathBuf| {
        let mut help = Command::new(client);
        let help = help.args(["build", "--help"]).env("DOCKER_BUILDKIT", "1").output();
        help.is_ok_and(|output| output.status.success())
    };
    clients.find(builds).expect("a client of Docker with BuildKit: apt-get install docker.io")
}

/// Caches are mounted, which takes BuildKit.
fn build(scene: &Scene, project: &Path) -> Result<(), String> {
    let (_, host) = scene.place.variables().expect("an engine");
    let output = Command::new(client())
        .args(["--host", &host, "build", "--network", "none", "--tag", RESULT])
        .arg(project)
        .env("DOCKER_BUILDKIT", "1")
        .output()
        .expect("docker's client starts");
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

fn run(scene: &Scene) -> String {
    let (_, host) = scene.place.variables().expect("an engine");
    let output = Command::new(client())
        .args(["--host", &host, "run", "--rm", "--network", "none", RESULT])
        .output()
        .expect("docker's client starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
