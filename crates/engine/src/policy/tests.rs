//! Policies in files.

use std::{fs, path::Path, time::Instant};

use super::{Overrides, Policy, PolicyError, PolicyText, ProfileName, find, load_with};
use crate::{Bytes, LimitOverrides, PolicyChoice};

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("version: 1\n{text}")).unwrap();
}

fn load(choice: PolicyChoice, user: Option<&Path>) -> Result<Policy, PolicyError> {
    load_with(&choice, &LimitOverrides::default(), Overrides::default(), None, user)
}

fn discover(from: &Path) -> PolicyChoice {
    PolicyChoice::Discover { from: from.to_owned(), otherwise: ProfileName::Default }
}

#[test]
fn the_nearest_file_above_is_taken() {
    let scene = tempfile::tempdir().unwrap();
    let deep = scene.path().join("a/b/c");
    fs::create_dir_all(&deep).unwrap();
    assert_eq!(find(&deep).unwrap(), None);
    write(&scene.path().join("sandbox.policy.yaml"), "proc: {pids: 7}");
    assert_eq!(load(discover(&deep), None).unwrap().limits().pids, 7);
    write(&scene.path().join("a/b/sandbox.policy.yaml"), "proc: {pids: 8}");
    let policy = load(discover(&deep), None).unwrap();
    assert_eq!(policy.limits().pids, 8);
    let here = load(discover(&scene.path().join("a/b")), None).unwrap();
    let origin = here.entries().into_iter().find(|entry| entry.key == "pids").unwrap().origin;
    assert_eq!(origin.to_string(), "sandbox.policy.yaml:2");
}

#[test]
fn every_layer_has_its_say() {
    let scene = tempfile::tempdir().unwrap();
    let (user, project) = (scene.path().join("policy.yaml"), scene.path().join("p.yaml"));
    write(&user, "proc: {memory: 128m, pids: 9}\nceiling: {memory: 1g}");
    write(&project, "proc: {memory: 256m}\nfs: {deps: vendor}");
    let policy = load(PolicyChoice::File(project.clone()), Some(&user)).unwrap();
    assert_eq!((policy.limits().memory, policy.limits().pids), (Bytes::mib(256), 9));
    assert_eq!(policy.fs.deps.unwrap().value, scene.path().join("vendor"));

    let memory = |mebibytes| Overrides {
        limits: LimitOverrides { memory: Some(Bytes::mib(mebibytes)), ..Default::default() },
        ..Default::default()
    };
    let choice = PolicyChoice::File(project);
    let policy =
        load_with(&choice, &LimitOverrides::default(), memory(64), None, Some(&user)).unwrap();
    assert_eq!(policy.limits().memory, Bytes::mib(64));
    let refused = load_with(&choice, &LimitOverrides::default(), memory(8192), None, Some(&user))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("policy.yaml:3:") && refused.contains("--memory"), "{refused}");
}

#[test]
fn a_policy_of_the_request_lies_on_top_of_the_one_that_holds() {
    let scene = tempfile::tempdir().unwrap();
    let project = scene.path().join("p.yaml");
    write(&project, "proc: {pids: 9}\nfs: {deny: [secret]}\nceiling: {memory: 1g}");
    let choice = PolicyChoice::File(project);
    let with = |mebibytes: u32, text: &str| {
        let limits =
            LimitOverrides { memory: Some(Bytes::mib(mebibytes)), ..LimitOverrides::default() };
        let (name, text) = ("request.policy".to_owned(), format!("version: 1\n{text}"));
        let further = Some(PolicyText { name, text });
        let wishes = Overrides { limits, further, ..Overrides::default() };
        load_with(&choice, &LimitOverrides::default(), wishes, None, None)
    };
    let policy = with(64, "fs: {deny: [other]}").unwrap();
    assert_eq!((policy.limits().memory, policy.limits().pids), (Bytes::mib(64), 9));
    assert_eq!(policy.fs.deny.len(), 2, "nothing that was denied is allowed again");
    // Neither part of a request loosens the other.
    assert_eq!(with(64, "proc: {memory: 32m}").unwrap().limits().memory, Bytes::mib(32));
    assert_eq!(with(32, "proc: {memory: 64m}").unwrap().limits().memory, Bytes::mib(32));
    let refused = with(64, "proc: {memory: 8g}").unwrap_err().to_string();
    assert!(refused.contains("request.policy:2:"), "{refused}");
    let refused = with(64, "ceiling: {memory: 8g}").unwrap_err().to_string();
    assert!(refused.contains("ceiling.memory"), "{refused}");
}

#[test]
fn a_profile_does_not_undo_the_users_own_file() {
    let scene = tempfile::tempdir().unwrap();
    let user = scene.path().join("policy.yaml");
    write(&user, "ceiling: {memory: 1g}");
    let policy = load(PolicyChoice::Profile(ProfileName::Build), Some(&user)).unwrap();
    assert_eq!(policy.limits().memory, Bytes::mib(1024));
}

#[test]
fn what_is_no_policy_is_refused() {
    let scene = tempfile::tempdir().unwrap();
    let at = |name: &str| scene.path().join(name);
    let file = |name: &str| load(PolicyChoice::File(at(name)), None).unwrap_err();
    assert!(matches!(file("missing"), PolicyError::Unreadable { .. }));
    fs::create_dir(at("directory")).unwrap();
    assert!(matches!(file("directory"), PolicyError::NotAFile { .. }));
    fs::write(at("large"), vec![b'#'; (1 << 20) + 1]).unwrap();
    assert!(matches!(file("large"), PolicyError::TooLarge { .. }));
    fs::write(at("binary"), [0xff, 0xfe]).unwrap();
    assert!(matches!(file("binary"), PolicyError::NotText { .. }));
    fs::write(at("bad"), "version: 1\nfs: {dney: []}\n").unwrap();
    let problem = file("bad").to_string();
    assert!(problem.contains("bad:2:6") && problem.contains("`deny`"), "{problem}");
    let user = load(discover(scene.path()), Some(&at("directory")));
    assert!(matches!(user, Err(PolicyError::NotAFile { .. })), "the user's file is not passed by");
    // A directory of that name is not passed by on the way up.
    fs::create_dir(at("sandbox.policy.yaml")).unwrap();
    assert!(load(discover(scene.path()), None).is_err());
}

#[cfg(unix)]
#[test]
fn a_pipe_is_not_waited_for() {
    let scene = tempfile::tempdir().unwrap();
    let path = scene.path().join("sandbox.policy.yaml");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    assert!(matches!(load(discover(scene.path()), None), Err(PolicyError::NotAFile { .. })));
}

/// Only root can make a file of somebody else.
#[cfg(unix)]
#[test]
fn a_file_of_somebody_else_in_a_shared_directory_is_refused() {
    use std::os::unix::fs::chown;

    let scene = tempfile::tempdir().unwrap();
    let (path, own) = (scene.path().join("sandbox.policy.yaml"), scene.path().join("own"));
    write(&path, "");
    fs::create_dir(&own).unwrap();
    if !rustix::process::geteuid().is_root() {
        assert!(find(&own).unwrap().is_some());
        return;
    }
    chown(&path, Some(4242), None).unwrap();
    assert!(matches!(find(&own), Err(PolicyError::Foreign { .. })));
    chown(&own, Some(4242), None).unwrap();
    assert!(find(&own).unwrap().is_some(), "the owner of the directory one works in decides");
}

#[test]
fn a_second_policy_takes_far_less_than_a_millisecond() {
    let scene = tempfile::tempdir().unwrap();
    let choice = PolicyChoice::Profile(ProfileName::Default);
    load(choice.clone(), None).unwrap();
    let least = (0..20)
        .map(|_| {
            let started = Instant::now();
            load(choice.clone(), Some(&scene.path().join("none"))).unwrap();
            started.elapsed()
        })
        .min()
        .unwrap();
    eprintln!("merging the default profile: {least:?}");
    assert!(least.as_micros() < 1000, "{least:?}, and this is not even optimized");
}

#[test]
fn a_policy_that_was_found_keeps_to_its_project() {
    let scene = tempfile::tempdir().unwrap();
    let project = scene.path().join("project");
    fs::create_dir_all(project.join("data")).unwrap();
    fs::create_dir_all(scene.path().join("secret")).unwrap();
    std::os::unix::fs::symlink("../secret", project.join("link")).unwrap();
    let file = project.join("sandbox.policy.yaml");
    write(&file, "fs: {mounts: [{source: data, target: /data}], datasets: {d: data}}");
    assert!(load(discover(&project), None).is_ok());
    let secret = scene.path().join("secret").display().to_string();
    for outside in [secret.as_str(), "../secret", "link", "../missing"] {
        for text in [
            format!("fs: {{mounts: [{{source: {outside}, target: /data}}]}}"),
            format!("fs: {{deps: {outside}}}"),
            format!("fs: {{datasets: {{d: {outside}}}}}"),
        ] {
            write(&file, &text);
            let refused = load(discover(&project), None);
            assert!(matches!(refused, Err(PolicyError::Reaches { .. })), "{text}");
            assert!(load(PolicyChoice::File(file.clone()), None).is_ok(), "{text}");
        }
    }
}

#[test]
fn a_policy_that_was_found_gets_no_secret_unless_the_user_lists_it() {
    let scene = tempfile::tempdir().unwrap();
    let (user, project) = (scene.path().join("policy.yaml"), scene.path().join("project"));
    let file = project.join("sandbox.policy.yaml");
    let rule = "net: {allow: [{host: a.com, inject: {header: X-Key, from: env:KEY}}]}";
    write(&file, rule);
    for choice in [discover(&project), PolicyChoice::File(file)] {
        write(&user, "");
        let refused = load(choice.clone(), Some(&user)).unwrap_err().to_string();
        assert!(refused.contains("asks for the secret KEY"), "{refused}");
        write(&user, "ceiling: {inject: [KEY]}");
        let policy = load(choice, Some(&user)).unwrap();
        assert!(policy.egress().allow[0].inject.is_some());
    }
    write(&user, rule);
    let own = load(PolicyChoice::Profile(ProfileName::Default), Some(&user)).unwrap();
    assert!(own.egress().allow[0].inject.is_some(), "it is the user's own secret");
}
