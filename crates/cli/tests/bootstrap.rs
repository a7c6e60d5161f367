//! `fumehood bootstrap` writes two files, once, and says why they are as they are.

mod common;

use std::{fs, path::Path};

use common::{Done, done, fumehood};
use tempfile::TempDir;

fn project(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    directory
}

fn go() -> TempDir {
    project(&[
        ("go.mod", "module example.com/hello\n\ngo 1.22\n"),
        ("main.go", "package main\n\nfunc main() {}\n"),
    ])
}

fn bootstrap(directory: &Path, arguments: &[&str]) -> Done {
    let mut command = fumehood(&["bootstrap"]);
    done(command.args(arguments).current_dir(directory))
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_fresh_go_module_gets_the_version_that_it_pins() {
    let directory = go();
    let run = bootstrap(directory.path(), &[]);
    run.expect(
        0,
        "",
        "Go 1.22: `go 1.22` in go.mod:3\n\
         Alpine: no cgo, so no C library is needed\n\
         wrote Dockerfile\n\
         wrote .dockerignore\n",
    );
    let dockerfile = fs::read_to_string(directory.path().join("Dockerfile")).unwrap();
    assert!(dockerfile.contains("FROM golang:1.22-alpine AS build\n"), "{dockerfile}");
    assert_eq!(names(directory.path()), [".dockerignore", "Dockerfile", "go.mod", "main.go"]);
}

#[test]
fn nothing_is_overwritten_unless_told() {
    let directory = go();
    let dockerfile = directory.path().join("Dockerfile");
    fs::write(&dockerfile, "FROM mine\n").unwrap();
    let run = bootstrap(directory.path(), &[]);
    assert_eq!((run.code, run.stdout.as_str()), (125, ""), "{run:?}");
    for words in ["Dockerfile", "--force", "--print"] {
        assert!(run.stderr.contains(words), "{run:?}");
    }
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    assert_eq!(fs::read_to_string(&dockerfile).unwrap(), "FROM mine\n");
    assert_eq!(names(directory.path()), ["Dockerfile", "go.mod", "main.go"]);

    assert_eq!(bootstrap(directory.path(), &["--force"]).code, 0);
    assert!(fs::read_to_string(&dockerfile).unwrap().contains("golang:1.22"));
}

#[test]
fn printing_writes_nothing() {
    let directory = go();
    let run = bootstrap(directory.path(), &["--print"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("\nFROM golang:1.22-alpine AS build\n"), "{run:?}");
    assert!(run.stderr.contains("go.mod:3"), "{run:?}");
    assert_eq!(names(directory.path()), ["go.mod", "main.go"]);
}

#[test]
fn the_directory_and_the_base_can_be_named() {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("api");
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("go.mod"), "module a\n\ngo 1.23\n").unwrap();
    fs::write(directory.join("main.go"), "package main\n\nfunc main() {}\n").unwrap();
    let run = bootstrap(parent.path(), &["api", "--base", "debian"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("Debian: asked for with --base\n"), "{run:?}");
    let dockerfile = fs::read_to_string(directory.join("Dockerfile")).unwrap();
    assert!(dockerfile.contains("FROM golang:1.23-bookworm AS build\n"), "{dockerfile}");

    let run = bootstrap(parent.path(), &["api", "--base", "windows"]);
    assert_eq!(run.code, 125, "{run:?}");
    assert!(run.stderr.contains("alpine or debian"), "{run:?}");
}

#[test]
fn what_is_not_known_is_refused_in_one_sentence() {
    let directory = project(&[("notes.txt", "no project")]);
    let run = bootstrap(directory.path(), &[]);
    assert_eq!((run.code, run.stdout.as_str()), (125, ""), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    for language in ["Go (go.mod", "Node (package.json", "Python (", "Rust (", "Java ("] {
        assert!(run.stderr.contains(language), "{run:?}");
    }
    assert_eq!(names(directory.path()), ["notes.txt"]);

    let run = bootstrap(directory.path(), &["missing"]);
    assert_eq!(run.code, 125, "{run:?}");
    assert!(run.stderr.contains("missing cannot be read"), "{run:?}");
}

#[test]
fn every_part_of_a_mixed_project_is_named() {
    let directory = project(&[
        ("backend/go.mod", "module b\n\ngo 1.23\n"),
        ("backend/main.go", "package main\n\nfunc main() {}\n"),
        (
            "frontend/package.json",
            r#"{"scripts": {"build": "vite build"}, "devDependencies": {"vite": "6"}}"#,
        ),
    ]);
    let run = bootstrap(directory.path(), &["--print"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("Go 1.23 in backend"), "{run:?}");
    assert!(run.stderr.contains("Node 24 in frontend"), "{run:?}");
    let copy = "COPY --from=frontend-build /app/dist/ ./frontend/dist/\n";
    assert!(run.stdout.contains(copy), "{run:?}");
}
