//! Where fumehood's own files are, and how a file of a project is found.

use std::{
    env,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use crate::Error;

/// A directory of fumehood's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directory {
    /// What can be made again: compiled programs, what is known of toolchains.
    Cache,
    /// What the user configures.
    Config,
    /// What must not be lost: the ledger.
    State,
}

impl Directory {
    /// The variable that names it.
    pub fn variable(self) -> &'static str {
        match self {
            Directory::Cache => "FUMEHOOD_CACHE_DIR",
            Directory::Config => "FUMEHOOD_CONFIG_DIR",
            Directory::State => "FUMEHOOD_STATE_DIR",
        }
    }

    /// The variable of the desktop that names the directory around it, and that one's place in the
    /// home directory.
    fn around(self) -> (&'static str, &'static str) {
        match self {
            Directory::Cache => ("XDG_CACHE_HOME", ".cache"),
            Directory::Config => ("XDG_CONFIG_HOME", ".config"),
            Directory::State => ("XDG_STATE_HOME", ".local/state"),
        }
    }

    fn what(self) -> &'static str {
        match self {
            Directory::Cache => "the cache",
            Directory::Config => "the configuration",
            Directory::State => "the state",
        }
    }

    /// Where it is, going by these variables. Relative paths in them are not obeyed: what they mean
    /// depends on the working directory, which may be that of the code that is not trusted.
    pub fn find(self, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|p| p.is_absolute());
        let (desktop, at_home) = self.around();
        absolute(self.variable())
            .or_else(|| absolute(desktop).map(|around| around.join("fumehood")))
            .or_else(|| absolute("HOME").map(|home| home.join(at_home).join("fumehood")))
    }

    /// Where it is, going by the variables of this process.
    pub fn of_process(self) -> Result<PathBuf, Error> {
        let error = || Error::NoPlace { what: self.what(), variable: self.variable() };
        self.find(|name| env::var_os(name)).ok_or_else(error)
    }
}

/// The files of the nearest directory, upward from this one, that has any of these names. Usually
/// one or none; more than one is for the caller to judge. Directories that cannot be looked into
/// are passed over.
pub fn find_upward(from: &Path, names: &[&str]) -> Vec<PathBuf> {
    let found = from.ancestors().map(|directory| {
        let there = |path: &PathBuf| fs::symlink_metadata(path).is_ok();
        names.iter().map(|name| directory.join(name)).filter(there).collect::<Vec<_>>()
    });
    found.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
}

/// The files in a directory that have one of these names. One that cannot be looked at counts as
/// there: whoever reads it will say why, instead of doing without it.
pub fn find_in(directory: &Path, names: &[&str]) -> Vec<PathBuf> {
    let there = |path: &PathBuf| match fs::symlink_metadata(path) {
        Ok(_) => true,
        Err(error) => {
            !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        }
    };
    names.iter().map(|name| directory.join(name)).filter(there).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(directory: Directory, variables: &[(&str, &str)]) -> Option<PathBuf> {
        directory.find(|name| {
            variables.iter().find(|(each, _)| *each == name).map(|(_, value)| value.into())
        })
    }

    #[test]
    fn the_nearest_word_counts() {
        let home = ("HOME", "/h");
        for (directory, desktop, own, at_home) in [
            (Directory::Cache, "XDG_CACHE_HOME", "FUMEHOOD_CACHE_DIR", "/h/.cache/fumehood"),
            (Directory::Config, "XDG_CONFIG_HOME", "FUMEHOOD_CONFIG_DIR", "/h/.config/fumehood"),
            (Directory::State, "XDG_STATE_HOME", "FUMEHOOD_STATE_DIR", "/h/.local/state/fumehood"),
        ] {
            assert_eq!(find(directory, &[home]), Some(at_home.into()));
            assert_eq!(find(directory, &[home, (desktop, "/x")]), Some("/x/fumehood".into()));
            assert_eq!(find(directory, &[(desktop, "/x"), (own, "/o")]), Some("/o".into()));
            assert_eq!(find(directory, &[home, (own, "o")]), Some(at_home.into()));
            assert_eq!(find(directory, &[("HOME", "")]), None);
        }
    }

    #[test]
    fn the_nearest_directory_that_has_a_file_counts() {
        let root = tempfile::tempdir().unwrap();
        let (near, far) = (root.path().join("a"), root.path());
        let deep = near.join("b/c");
        fs::create_dir_all(&deep).unwrap();
        fs::write(far.join("x.toml"), "").unwrap();
        assert_eq!(find_upward(&deep, &["x.toml", "x.yaml"]), [far.join("x.toml")]);
        fs::write(near.join("x.yaml"), "").unwrap();
        fs::write(near.join("x.toml"), "").unwrap();
        assert_eq!(
            find_upward(&deep, &["x.toml", "x.yaml"]),
            [near.join("x.toml"), near.join("x.yaml")]
        );
        assert!(find_upward(&deep, &["nobody has this"]).is_empty());
    }

    #[test]
    fn what_is_in_the_way_is_found_and_what_is_absent_is_not() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("x.toml")).unwrap();
        assert_eq!(find_in(root.path(), &["x.toml", "x.yaml"]), [root.path().join("x.toml")]);
        assert!(find_in(&root.path().join("absent"), &["x.toml"]).is_empty());
        fs::write(root.path().join("file"), "").unwrap();
        assert!(find_in(&root.path().join("file"), &["x.toml"]).is_empty());
    }
}
