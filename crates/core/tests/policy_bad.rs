//! Policies that must be refused, each with the message that a person gets. The messages are kept
//! beside the files; `UPDATE_SNAPSHOTS=1` writes them anew.

use std::{env, fs, path::Path};

use fumehood_core::policy::Document;

const LEAST: usize = 30;

#[test]
fn every_bad_policy_is_refused_with_its_message() {
    let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/policy/bad"));
    let update = env::var_os("UPDATE_SNAPSHOTS").is_some();
    let mut files: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    assert!(files.len() >= LEAST, "only {} bad policies are left", files.len());

    let mut wrong = Vec::new();
    for path in &files {
        let name = path.file_name().unwrap().to_str().unwrap();
        let text = fs::read_to_string(path).unwrap();
        let problem = match Document::read(name, &text, Path::new("/project")) {
            Ok(_) => panic!("{name} was accepted"),
            Err(problem) => problem,
        };
        let origin = problem.origin().expect("a problem has a place");
        assert!(origin.place.is_some(), "{name}: the problem has no line");
        let message = format!("{problem}\n");
        if !message.contains('^') || !message.contains("= help: ") {
            wrong.push(format!("{name} lacks a caret or a hint:\n{message}"));
        }
        let snapshot = path.with_extension("txt");
        if update {
            fs::write(&snapshot, &message).unwrap();
        } else if fs::read_to_string(&snapshot).ok().as_deref() != Some(message.as_str()) {
            wrong.push(format!("{}:\n{message}", snapshot.display()));
        }
    }
    assert!(wrong.is_empty(), "these messages are not as they should be:\n\n{}", wrong.join("\n"));
}

#[test]
fn a_misspelt_key_is_shown_with_its_line_a_caret_and_the_right_key() {
    let text = "version: 1\nfs:\n  workspace: rw\n  dney: [a]\n";
    let problem = Document::read("p.yaml", text, Path::new("/")).unwrap_err().to_string();
    assert!(problem.contains("p.yaml:4:3"), "{problem}");
    assert!(problem.contains("4 |   dney: [a]\n  |   ^^^^ no such key"), "{problem}");
    assert!(problem.contains("did you mean `deny`?"), "{problem}");
}
