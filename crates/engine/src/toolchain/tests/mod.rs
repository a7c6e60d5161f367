//! Discovery, tried on trees in temporary directories that look like real installations.

mod cache;
mod managers;
mod prefixes;

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Component, Path, PathBuf},
    process::Command,
};

use fumehood_core::language::{Language, Registry};
use tempfile::TempDir;

use super::{Environment, MissingToolchain, Toolchain, discover, scout::Scout};

/// A directory with a home in it.
struct Tree {
    _directory: TempDir,
    root: PathBuf,
    environment: Environment,
}

impl Tree {
    fn new() -> Tree {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let environment = Environment {
            home: Some(root.join("home")),
            uid: rustix::process::geteuid().as_raw(),
            ..Environment::default()
        };
        let tree = Tree { _directory: directory, root, environment };
        fs::create_dir(tree.at("home")).unwrap();
        tree
    }

    /// A path in the tree. Joining an absolute path would leave it, and a test that runs as root
    /// would then write into the machine.
    fn at(&self, path: &str) -> PathBuf {
        let is_inside = Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        assert!(is_inside && !path.is_empty(), "`{path}` is not a path inside the tree");
        self.root.join(path)
    }

    /// Puts a directory at the end of `PATH`.
    fn in_path(&mut self, directory: &str) {
        let directory = self.at(directory);
        fs::create_dir_all(&directory).unwrap();
        let separator = if self.environment.path.is_empty() { "" } else { ":" };
        self.environment.path.push_str(separator);
        self.environment.path.push_str(directory.to_str().unwrap());
    }

    fn variable(&mut self, name: &str, value: &str) {
        self.environment.variables.insert(name.to_owned(), value.to_owned());
    }

    fn file(&self, path: &str, text: &str) -> PathBuf {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// A script that prints this, and leaves a trace when it is run.
    fn program(&self, path: &str, prints: &str) -> PathBuf {
        let ran = self.at("ran");
        let script = format!("#!/bin/sh\necho '{prints}'\necho \"$0\" >> '{}'\n", ran.display());
        let draft = self.file(&format!("{path}.draft"), &script);
        // Written by another process: while this one has a file open for writing, a child that
        // another test just forked may keep it open too, and then it cannot be executed.
        let status = Command::new("install")
            .args(["-m", "755"])
            .args([&draft, &self.at(path)])
            .status()
            .unwrap();
        assert!(status.success());
        fs::remove_file(draft).unwrap();
        self.at(path)
    }

    fn link(&self, path: &str, target: impl AsRef<Path>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&path);
        symlink(target, path).unwrap();
    }

    /// A Python that looks complete.
    fn python(&self, prefix: &str) -> PathBuf {
        self.file(&format!("{prefix}/lib/python3.x/os.py"), "");
        self.program(&format!("{prefix}/bin/python3"), "nothing")
    }

    /// What is found in this tree alone, without the places of the machine.
    fn find(&self, name: &str) -> Result<Toolchain, MissingToolchain> {
        discover::one(&here_only(name), &self.environment, &mut Scout::default())
    }

    fn nothing_ran(&self) -> bool {
        !self.at("ran").exists()
    }
}

/// A language without the absolute places of its file.
fn here_only(name: &str) -> Language {
    let mut language = Registry::builtin().find(name).unwrap().clone();
    language.toolchain.places.retain(|place| !place.starts_with('/'));
    language
}
