//! What a box may see, and above all what it may not.

use std::path::{Path, PathBuf};

use fumehood_core::language::Registry;

use super::Tree;
use crate::toolchain::{Environment, Problem, Toolchains, prefix};

#[test]
fn no_home_and_nothing_above_one_is_ever_an_installation() {
    let mut tree = Tree::new();
    tree.environment.home = Some(tree.at("people/me"));
    // Each has the marker, as `~/.local` really has when pip installed something for the user.
    for shared in ["people/me", "people", "people/me/.local", "people/me/.cargo", "."] {
        tree.environment.path.clear();
        tree.in_path(&format!("{shared}/bin"));
        let path = tree.python(shared).canonicalize().unwrap();
        let prefix = tree.at(shared).canonicalize().unwrap();
        let missing = tree.find("python").unwrap_err();
        assert_eq!(missing.problems, [Problem::Forbidden { path, prefix }], "{shared}");
    }
    assert!(tree.nothing_ran());
    tree.environment.path.clear();
    tree.in_path("people/me/python-3.12/bin");
    let path = tree.python("people/me/python-3.12");
    let missing = tree.find("python").unwrap_err();
    assert_eq!(missing.problems, [Problem::NoVersion { path }], "its own directory would do");
}

#[test]
fn shared_directories_are_refused_by_name_whatever_home_says() {
    let environment = Environment { home: Some("/tmp/elsewhere".into()), ..Environment::default() };
    for shared in [
        "/",
        "/home",
        "/home/somebody",
        "/root",
        "/root/.local",
        "/opt",
        "/tmp",
        "/var",
        "/Users/x",
    ] {
        assert!(prefix::is_forbidden(Path::new(shared), &environment), "{shared}");
    }
    for own in ["/opt/python", "/root/.pyenv/versions/3.11.7", "/home/me/go", "/nix/store/x-node"] {
        assert!(!prefix::is_forbidden(Path::new(own), &environment), "{own}");
    }
}

#[test]
fn a_home_that_is_a_link_is_still_a_home() {
    let mut tree = Tree::new();
    tree.link("link", tree.at("home"));
    tree.environment.home = Some(tree.at("link"));
    tree.in_path("home/bin");
    tree.python("home");
    let problems = tree.find("python").unwrap_err().problems;
    assert!(matches!(problems[..], [Problem::Forbidden { .. }]), "{problems:?}");
}

#[test]
fn a_lone_program_is_refused_and_the_sentence_says_what_to_type() {
    let mut tree = Tree::new();
    tree.in_path("lone");
    tree.program("lone/node", "v20.0.0");
    let sentence = tree.find("javascript").unwrap_err().to_string();
    assert!(sentence.starts_with(
        "no usable JavaScript on this machine: looked for node, nodejs in PATH, $NVM_DIR"
    ));
    assert!(sentence.contains("no directory above it has include/node or lib/node_modules"));
    assert!(sentence.ends_with("; type `apt-get install nodejs`"), "{sentence}");
    assert!(tree.nothing_ran(), "what cannot be used is not asked for its version");
}

#[test]
fn what_is_too_old_is_named_with_both_versions() {
    let mut tree = Tree::new();
    tree.in_path("pythons/3.8.2/bin");
    tree.python("pythons/3.8.2");
    let sentence = tree.find("python").unwrap_err().to_string();
    assert!(sentence.contains("is version 3.8.2, and 3.9 is the least"), "{sentence}");
}

#[test]
fn relative_directories_of_path_are_not_searched() {
    let environment =
        Environment { path: ".:bin::/usr/bin:/usr/bin".to_owned(), ..Environment::default() };
    assert_eq!(environment.path_directories(), [PathBuf::from("/usr/bin")]);
}

#[test]
fn a_missing_companion_is_named() {
    let mut tree = Tree::new();
    tree.in_path("jdk/bin");
    tree.file("jdk/release", "JAVA_VERSION=\"21\"\n");
    let path = tree.program("jdk/bin/javac", "");
    tree.program("jdk/bin/java", "");
    let missing = tree.find("java").unwrap_err();
    assert_eq!(missing.problems, [Problem::NoCompanion { path, name: "jar".to_owned() }]);
}

#[test]
fn every_language_has_an_answer_and_other_names_have_one_too() {
    let tree = Tree::new();
    let toolchains = Toolchains::discover(&tree.environment);
    assert_eq!(toolchains.all().count(), Registry::builtin().names().count());
    for name in Registry::builtin().names() {
        match toolchains.get(name) {
            Ok(toolchain) => assert_eq!(toolchain.language, name),
            Err(missing) => assert_eq!(missing.language, name),
        }
    }
    assert_eq!(
        toolchains.get("cobol").unwrap_err().to_string(),
        "`cobol` is not the name of a language: `fumehood languages` lists them"
    );
}

#[test]
fn mounts_within_mounts_are_dropped() {
    let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
    let kept = prefix::outermost(paths(&["/a/b/c", "/a/bc", "/a/b", "/a/b"]));
    assert_eq!(kept, paths(&["/a/b", "/a/bc"]));
}

#[test]
#[should_panic(expected = "is not a path inside the tree")]
fn the_tree_of_a_test_cannot_be_left_by_an_absolute_path() {
    Tree::new().python("");
}
