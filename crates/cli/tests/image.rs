//! What `fumehood image` says to bad input, and where there is no engine or no maker. None of this
//! needs an engine.

mod common;

use std::{
    fs,
    io::{Read as _, Write as _},
    os::unix::{fs::PermissionsExt as _, net::UnixListener},
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use common::{Done, done, fumehood};

fn image(words: &[&str]) -> Done {
    let nowhere = "unix:///nowhere/at/all";
    let words: Vec<&str> = ["image"].iter().chain(words).copied().collect();
    done(fumehood(&words).env("DOCKER_HOST", nowhere).env("CONTAINER_HOST", nowhere))
}

#[track_caller]
fn refused(words: &[&str], sentence: &str) {
    let answer = image(words);
    assert_eq!(answer.code, 125, "{answer:?}");
    assert!(answer.stderr.contains(sentence), "{sentence}: {answer:?}");
    assert_eq!(answer.stderr.lines().count(), 1, "{answer:?}");
}

#[test]
fn bad_input_is_refused_with_the_next_step() {
    refused(&["build", "pyton"], "did you mean `python`?");
    refused(&["build", "cobol"], "the images are base, python, javascript");
    refused(&["build"], "see `fumehood image build --help`");
    refused(&["build", "go", "--all"], "see `fumehood image build --help`");
    refused(&["pull"], "see `fumehood image pull --help`");
    refused(&["prune"], "see `fumehood image prune --help`");
    refused(&["prune", "--older-than", "soon"], "`soon` is not a time");
    refused(&["prune", "--keep-size", "much"], "`much` is not a size");
    refused(&["ls", "--backend", "native"], "--backend docker");
    refused(&["ls", "--backend", "dokcer"], "unknown backend `dokcer`");
    refused(&["polish"], "unrecognized subcommand 'polish'");
}

#[test]
fn an_engine_that_is_not_there_is_said_to_be() {
    for words in [&["ls"][..], &["pull", "python"], &["build", "base"], &["prune", "--all"]] {
        for backend in ["docker", "podman"] {
            let words: Vec<&str> = words.iter().chain(&["--backend", backend]).copied().collect();
            refused(&words, &format!("{backend} is not running"));
        }
        refused(words, "is not running");
    }
    let answer = image(&["ls", "--json"]);
    assert_eq!(answer.json()["status"], "refused");
}

#[test]
fn help_shows_examples() {
    for command in ["ls", "pull", "build", "prune"] {
        let help = image(&[command, "--help"]);
        assert_eq!(help.code, 0);
        assert!(
            help.stdout.contains(&format!("Examples:\n  fumehood image {command}")),
            "{help:?}"
        );
    }
}

/// An engine that says its version and nothing else.
fn engine(listener: UnixListener) {
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let (mut stream, mut request) = (stream, [0; 4096]);
                while stream.read(&mut request).is_ok_and(|count| count > 0) {
                    let body = r#"{"Version":"1","ApiVersion":"1.41"}"#;
                    let head =
                        "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Type: application/json";
                    let length = body.len();
                    let _ = write!(stream, "{head}\r\nContent-Length: {length}\r\n\r\n{body}");
                }
            });
        }
    });
}

#[test]
fn an_interrupted_build_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("socket");
    engine(UnixListener::bind(&socket).unwrap());
    let maker = directory.path().join("mmdebstrap");
    let note = directory.path().join("note");
    fs::write(&maker, format!("#!/bin/sh\necho $$ > {}\nexec sleep 300\n", note.display()))
        .unwrap();
    fs::set_permissions(&maker, fs::Permissions::from_mode(0o755)).unwrap();
    let cache = directory.path().join("cache");
    let child = fumehood(&["image", "build", "base", "--backend", "docker"])
        .env("DOCKER_HOST", format!("unix://{}", socket.display()))
        .env("FUMEHOOD_CACHE_DIR", &cache)
        .env("PATH", format!("{}:/usr/bin:/bin", directory.path().display()))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while fs::read_to_string(&note).unwrap_or_default().is_empty() {
        assert!(Instant::now() < deadline, "the maker was not started");
        thread::sleep(Duration::from_millis(20));
    }
    assert!(cache.join("images/building/base").exists());
    let pid = rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(!cache.join("images/building/base").exists());
    let maker = fs::read_to_string(&note).unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", maker.trim())).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "it still runs: {stat}");
}

#[test]
fn without_a_maker_it_says_what_to_install() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("socket");
    engine(UnixListener::bind(&socket).unwrap());
    let empty = directory.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let build = || {
        let mut command = fumehood(&["image", "build", "base", "--backend", "docker"]);
        command
            .env("DOCKER_HOST", format!("unix://{}", socket.display()))
            .env("FUMEHOOD_CACHE_DIR", directory.path().join("cache"))
            .env("PATH", &empty);
        done(&mut command)
    };
    // One that is always in the path of programs would be found.
    let installed = ["mmdebstrap", "debootstrap"]
        .iter()
        .any(|name| std::path::Path::new("/usr/sbin").join(name).exists());
    if !installed {
        let answer = build();
        assert_eq!(answer.code, 125, "{answer:?}");
        assert!(answer.stderr.contains("apt-get install mmdebstrap"), "{answer:?}");
    }
    assert!(!directory.path().join("cache/images/building/base").exists());
}
