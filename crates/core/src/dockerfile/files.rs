//! The files of a project as texts, and which files are worth reading at all.

use std::collections::{BTreeMap, BTreeSet};

/// Files that say something about a project, wherever they are.
const MANIFESTS: &[&str] = &[
    "go.mod",
    "go.sum",
    "go.work",
    "go.work.sum",
    "modules.txt",
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    ".yarnrc.yml",
    ".npmrc",
    ".nvmrc",
    ".node-version",
    "tsconfig.json",
    "requirements.txt",
    "pyproject.toml",
    "poetry.lock",
    "uv.lock",
    "Pipfile",
    "Pipfile.lock",
    "setup.py",
    "setup.cfg",
    ".python-version",
    "runtime.txt",
    "manage.py",
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain",
    "rust-toolchain.toml",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "gradle.properties",
    "libs.versions.toml",
    "gradle-wrapper.properties",
    ".java-version",
    ".sdkmanrc",
    ".tool-versions",
];

/// Endings of sources that say what a project runs and what it links.
const SOURCES: &[&str] = &[".go", ".py", ".rs", ".js", ".mjs", ".cjs", ".ts"];

/// Directories of tools, results and other people's code.
const NOT_ENTERED: &[&str] = &[
    "node_modules",
    "target",
    "dist",
    "build",
    "out",
    "bin",
    "obj",
    "venv",
    "env",
    "site-packages",
    "__pycache__",
    "testdata",
    "coverage",
];

/// True if a file of this name can change what is generated. The path is relative, with slashes.
pub fn worth_reading(path: &str) -> bool {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    let in_vendor = directory.rsplit('/').next() == Some("vendor");
    // Of vendored code only its list says anything about this project.
    if in_vendor || name == "modules.txt" {
        return in_vendor && name == "modules.txt";
    }
    let requirements = name.ends_with(".txt")
        && (name.starts_with("requirements")
            || name.starts_with("constraints")
            || base_name(directory) == "requirements");
    MANIFESTS.contains(&name) || requirements || is_source(name)
}

/// True for sources, of which there can be many, as opposed to files that describe a project.
pub fn is_source(path: &str) -> bool {
    SOURCES.iter().any(|ending| path.ends_with(ending)) && !path.ends_with("setup.py")
}

/// True if a directory can hold files that are worth reading.
pub fn worth_entering(path: &str) -> bool {
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
    let in_vendor = parent.split('/').any(|name| name == "vendor");
    // `src/bin` of Rust holds programs, every other `bin` holds results.
    let rust_programs = path == "src/bin" || path.ends_with("/src/bin");
    !in_vendor && !name.starts_with('.') && (rust_programs || !NOT_ENTERED.contains(&name))
}

/// What was read of a project: relative paths with slashes, and texts.
#[derive(Clone, Debug, Default)]
pub struct Files {
    texts: BTreeMap<String, String>,
}

impl Files {
    /// No files.
    pub fn new() -> Files {
        Files::default()
    }

    /// Adds a file. Of a file that is too long its start will do: that it is there matters too, and
    /// lockfiles are read line by line. Gives `false` and adds nothing if the path has characters that mean
    /// something to a Dockerfile or a shell, since it would be written into one.
    pub fn insert(&mut self, path: &str, text: &str) -> bool {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-+@/".contains(c);
        let usable = !path.is_empty() && !path.starts_with(['/', '-']) && path.chars().all(plain);
        if usable {
            self.texts.insert(path.to_owned(), text.to_owned());
        }
        usable
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The text of a file.
    pub(super) fn get(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// All files below a directory, with paths relative to it. The whole project is `""`.
    pub(super) fn below(&self, directory: &str) -> impl Iterator<Item = (&str, &str)> {
        let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        self.texts
            .iter()
            .filter_map(move |(path, text)| Some((path.strip_prefix(&prefix)?, text.as_str())))
    }

    /// All directories that hold a file, outermost first.
    pub(super) fn directories(&self) -> Vec<&str> {
        let parent = |path: &'_ str| path.rfind('/').unwrap_or(0);
        let all: BTreeSet<&str> = self.texts.keys().map(|path| &path[..parent(path)]).collect();
        let mut all: Vec<&str> = all.into_iter().collect();
        all.sort_by_key(|directory| (directory.split('/').count(), !directory.is_empty()));
        all
    }
}

/// The number of the first line that holds these words, counted from 1.
pub(super) fn line_with(text: &str, words: &str) -> Option<usize> {
    text.lines().position(|line| line.contains(words)).map(|index| index + 1)
}

/// The last part of a path.
pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// This name if it can stand in a shell command as it is.
pub(super) fn plain_name(name: &str) -> Option<&str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let usable = !name.is_empty() && !name.starts_with(['-', '.']) && name.chars().all(plain);
    usable.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_matters_is_read() {
        for path in [
            "go.mod",
            "a/b/main.go",
            "vendor/modules.txt",
            ".nvmrc",
            "src/bin/x.rs",
            "requirements/base.txt",
        ] {
            assert!(worth_reading(path), "{path}");
        }
        for path in ["README.md", "notes.txt", "vendor/a.go", "modules.txt", ".env", "id_rsa"] {
            assert!(!worth_reading(path), "{path}");
        }
        for path in ["cmd", "src/bin", "vendor", "gradle"] {
            assert!(worth_entering(path), "{path}");
        }
        for path in ["node_modules", "a/target", "bin", "vendor/x", ".git", ".venv"] {
            assert!(!worth_entering(path), "{path}");
        }
    }

    #[test]
    fn a_path_that_would_be_an_instruction_is_refused() {
        let mut files = Files::new();
        for path in ["a\nRUN evil/go.mod", "a b/go.mod", "$(x)/go.mod", "-x/go.mod", "/etc/x", ""] {
            assert!(!files.insert(path, ""), "{path:?}");
        }
        assert!(files.is_empty());
        assert!(files.insert("@scope/a-b_c.d+e/go.mod", ""));
    }

    #[test]
    fn directories_come_from_the_outside_in() {
        let mut files = Files::new();
        for path in ["z/b/go.mod", "a/go.mod", "go.mod"] {
            files.insert(path, "");
        }
        assert_eq!(files.directories(), ["", "a", "z/b"]);
        assert_eq!(files.below("z").map(|(path, _)| path).collect::<Vec<_>>(), ["b/go.mod"]);
    }
}
