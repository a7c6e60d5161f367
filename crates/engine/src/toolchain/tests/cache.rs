//! The cache: believed while nothing changed and nobody else could have written it.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use super::Tree;
use crate::toolchain::{Environment, Toolchains};

const FILE: &str = "cache/toolchains.json";

/// A tree with a pyenv, and its toolchains remembered under a version that no search would find:
/// whoever sees it read the cache.
fn remembered() -> Tree {
    let mut tree = Tree::new();
    tree.in_path("first");
    tree.in_path("home/.pyenv/shims");
    tree.program("home/.pyenv/shims/python3", "");
    tree.python("home/.pyenv/versions/3.11.7");
    tree.python("home/.pyenv/versions/3.12.1");
    tree.file("home/.pyenv/version", "3.11.7\n");
    assert_eq!(version(&tree), "3.11.7");
    let text = fs::read_to_string(tree.at(FILE)).unwrap();
    let mark = "\"version\":\"3.11.7\"";
    assert!(text.contains(mark));
    fs::write(tree.at(FILE), text.replace(mark, "\"version\":\"remembered\"")).unwrap();
    tree
}

fn version(tree: &Tree) -> String {
    let toolchains = Toolchains::load(&tree.at("cache"), &tree.environment);
    toolchains.get("python").unwrap().version.clone()
}

#[test]
fn it_is_believed_while_nothing_changed_and_private() {
    let tree = remembered();
    assert_eq!(version(&tree), "remembered");
    assert_eq!(version(&tree), "remembered");
    let mode = fs::metadata(tree.at(FILE)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let names: Vec<PathBuf> =
        fs::read_dir(tree.at("cache")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(names, [tree.at(FILE)], "no temporary file is left");
}

#[test]
fn a_fresh_search_is_the_same_as_what_is_remembered() {
    let tree = Tree::new();
    let found = Toolchains::refresh(&tree.at("cache"), &tree.environment);
    assert_eq!(Toolchains::load(&tree.at("cache"), &tree.environment), found);
}

#[test]
fn refresh_searches_again() {
    let tree = remembered();
    Toolchains::refresh(&tree.at("cache"), &tree.environment);
    assert_eq!(version(&tree), "3.11.7");
}

#[test]
fn switching_the_version_is_noticed() {
    let tree = remembered();
    tree.file("home/.pyenv/version", "3.12.1\n");
    assert_eq!(version(&tree), "3.12.1");
}

#[test]
fn installing_something_earlier_in_path_is_noticed() {
    let tree = remembered();
    let python = tree.python("pythons/3.13.5");
    tree.link("first/python3", python);
    assert_eq!(version(&tree), "3.13.5");
}

#[test]
fn removing_what_was_found_is_noticed() {
    let tree = remembered();
    fs::remove_dir_all(tree.at("home/.pyenv/versions/3.11.7")).unwrap();
    assert_eq!(version(&tree), "3.12.1");
}

#[test]
fn replacing_the_program_is_noticed_by_the_fingerprint_too() {
    let tree = remembered();
    let before = Toolchains::load(&tree.at("cache"), &tree.environment);
    tree.program("home/.pyenv/versions/3.11.7/bin/python3", "rebuilt");
    let after = Toolchains::load(&tree.at("cache"), &tree.environment);
    let fingerprint = |found: &Toolchains| found.get("python").unwrap().fingerprint.clone();
    assert_ne!(fingerprint(&before), fingerprint(&after));
}

#[test]
fn another_environment_is_another_search() {
    let mut tree = remembered();
    tree.variable("PYENV_VERSION", "3.12.1");
    assert_eq!(version(&tree), "3.12.1");
    let mut tree = remembered();
    tree.in_path("last");
    assert_eq!(version(&tree), "3.11.7");
}

#[test]
fn what_others_could_have_written_is_not_read() {
    let tree = remembered();
    fs::set_permissions(tree.at(FILE), fs::Permissions::from_mode(0o620)).unwrap();
    assert_eq!(version(&tree), "3.11.7");

    let tree = remembered();
    fs::rename(tree.at(FILE), tree.at("elsewhere.json")).unwrap();
    tree.link(FILE, tree.at("elsewhere.json"));
    assert_eq!(version(&tree), "3.11.7", "a link is not followed");

    let tree = remembered();
    let other = Environment { uid: tree.environment.uid + 1, ..tree.environment.clone() };
    // The remembered environment names that user, so only the owner of the file is wrong.
    let (uid, stranger) = (tree.environment.uid, other.uid);
    let text = fs::read_to_string(tree.at(FILE)).unwrap();
    let text = text.replace(&format!("\"uid\":{uid}"), &format!("\"uid\":{stranger}"));
    fs::write(tree.at(FILE), text).unwrap();
    let toolchains = Toolchains::load(&tree.at("cache"), &other);
    assert_eq!(toolchains.get("python").unwrap().version, "3.11.7");
}

#[test]
fn what_cannot_be_read_or_written_only_costs_time() {
    let tree = remembered();
    for text in ["", "{", "null", "{\"format\":1}", "\u{0}"] {
        fs::write(tree.at(FILE), text).unwrap();
        assert_eq!(version(&tree), "3.11.7", "{text}");
    }
    let file = tree.file("a file", "");
    let toolchains = Toolchains::load(&file.join("cache"), &tree.environment);
    assert_eq!(toolchains.get("python").unwrap().version, "3.11.7");
}
