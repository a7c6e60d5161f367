//! What decides where toolchains are: `PATH`, the home directory, a few variables.

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// Variables of version managers and installers. Those that name a version or a place.
const VARIABLES: &[&str] = &[
    "ASDF_DATA_DIR",
    "CARGO_HOME",
    "GOENV_VERSION",
    "GOROOT",
    "JAVA_HOME",
    "JENV_VERSION",
    "NODENV_VERSION",
    "NVM_DIR",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SDKMAN_DIR",
];

/// What decides where toolchains are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// The value of `PATH`.
    pub path: String,
    /// The home directory.
    pub home: Option<PathBuf>,
    /// The user; a cache that belongs to somebody else is not read.
    pub uid: u32,
    /// Variables of version managers, by name.
    pub variables: BTreeMap<String, String>,
}

impl Environment {
    /// The environment of this process.
    pub fn from_process() -> Environment {
        let text = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        Environment {
            path: text("PATH").unwrap_or_default(),
            home: text("HOME").map(PathBuf::from).filter(|home| home.is_absolute()),
            uid: user(),
            variables: VARIABLES
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), text(name)?)))
                .collect(),
        }
    }

    /// The directories of `PATH`, each once. Relative ones are left out: what they mean depends
    /// on the working directory, which may be that of the code that is not trusted.
    pub(super) fn path_directories(&self) -> Vec<PathBuf> {
        let mut directories: Vec<PathBuf> = Vec::new();
        for directory in env::split_paths(&self.path) {
            if directory.is_absolute() && !directories.contains(&directory) {
                directories.push(directory);
            }
        }
        directories
    }

    /// A variable that holds an absolute path.
    pub(super) fn directory(&self, name: &str) -> Option<&Path> {
        self.variables.get(name).map(Path::new).filter(|path| path.is_absolute())
    }
}

#[cfg(unix)]
fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn user() -> u32 {
    0
}
