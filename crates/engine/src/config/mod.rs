//! The configuration of this machine: which files there are, what they and the environment say.
//!
//! What a key is and what may be said about it comes from [`fumehood_core::config`]; here it is only
//! looked for and read. Where there are no files, nothing is opened and nothing is parsed.

mod error;
mod file;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

pub use fumehood_core::config::*;

pub use self::error::ConfigError;
use crate::{
    places::{self, Directory},
    source::Origin,
};

/// The configuration, and what was strange about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Configuration {
    /// Every setting, with its origin.
    pub settings: Settings,
    /// What was probably meant otherwise, one sentence each.
    pub warnings: Vec<String>,
}

/// A directory in which files were looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    /// Whose files.
    pub owner: Owner,
    /// The directory.
    pub directory: PathBuf,
    /// What was found there.
    pub found: Vec<PathBuf>,
}

impl Configuration {
    /// Loads it for a working directory and an environment, such as `std::env::vars_os()`. Flags
    /// are set on [`Configuration::settings`] afterwards.
    pub fn load(
        from: &Path,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Configuration, ConfigError> {
        let variables = Variables::of(environment);
        let mut configuration = Configuration::default();
        let [user, project] = candidates(&absolute(from)?, &variables);
        for (owner, found) in [(Owner::User, user), (Owner::Project, project)] {
            if let Some(path) = only(&found)? {
                configuration.read(path, owner)?;
            }
        }
        configuration.apply(&variables)?;
        Ok(configuration)
    }

    /// Where files are looked for, in the order of reading, and which are there.
    pub fn looked(
        from: &Path,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Vec<Looked>, ConfigError> {
        let from = absolute(from)?;
        let variables = Variables::of(environment);
        let [user, project] = candidates(&from, &variables);
        let of_user = variables.user_directory().map(|directory| Looked {
            owner: Owner::User,
            directory,
            found: user,
        });
        let end = project.first().and_then(|path| path.parent());
        let mut looked: Vec<Looked> = of_user.into_iter().collect();
        for directory in from.ancestors() {
            let is_last = end == Some(directory);
            let found = if is_last { project.clone() } else { Vec::new() };
            looked.push(Looked { owner: Owner::Project, directory: directory.into(), found });
            if is_last {
                break;
            }
        }
        Ok(looked)
    }

    fn read(&mut self, path: &Path, owner: Owner) -> Result<(), ConfigError> {
        let text = file::read(path)?;
        let name: Arc<str> = path.to_string_lossy().into();
        let format = Format::of(path);
        Ok(self.settings.read_file(&ConfigFile { name: &name, text: &text, format, owner })?)
    }

    fn apply(&mut self, variables: &Variables) -> Result<(), ConfigError> {
        if variables.own.is_empty() {
            return Ok(());
        }
        // In the order of the keys, so that the same mistake is reported every time.
        for key in keys() {
            let Some(value) = variables.own(key.variable) else { continue };
            let Some(value) = value.to_str() else {
                return Err(ConfigError::VariableNotText { name: key.variable });
            };
            self.settings.set_key(key, value, Origin::named(key.variable))?;
        }
        for (name, _) in &variables.own {
            if let Some(meant) = misspelt(name) {
                let warning = format!("the variable {name} is not known: did you mean {meant}?");
                self.warnings.push(warning);
            }
        }
        Ok(())
    }
}

/// The variables that matter here. Empty ones say nothing.
struct Variables {
    own: Vec<(String, OsString)>,
    around: Vec<(String, OsString)>,
}

impl Variables {
    fn of(environment: impl IntoIterator<Item = (OsString, OsString)>) -> Variables {
        let (mut own, mut around) = (Vec::new(), Vec::new());
        for (name, value) in environment {
            match name.to_str() {
                _ if value.is_empty() => {}
                Some(name) if name.starts_with("FUMEHOOD_") => own.push((name.to_owned(), value)),
                Some(name @ ("HOME" | "XDG_CONFIG_HOME")) => around.push((name.to_owned(), value)),
                _ => {}
            }
        }
        own.sort();
        Variables { own, around }
    }

    fn own(&self, name: &str) -> Option<&OsString> {
        self.own.iter().find(|(each, _)| each == name).map(|(_, value)| value)
    }

    fn user_directory(&self) -> Option<PathBuf> {
        Directory::Config.find(|name| {
            let mut all = self.own.iter().chain(&self.around);
            all.find(|(each, _)| each == name).map(|(_, value)| value.clone())
        })
    }
}

/// The files of the user and those of the project.
fn candidates(from: &Path, variables: &Variables) -> [Vec<PathBuf>; 2] {
    let user_directory = variables.user_directory();
    let user = match &user_directory {
        Some(directory) => places::find_in(directory, ConfigFile::NAMES),
        None => Vec::new(),
    };
    let mut project = places::find_upward(from, ConfigFile::NAMES);
    // Whoever works in that directory has no project there.
    if project.first().and_then(|path| path.parent()) == user_directory.as_deref() {
        project.clear();
    }
    [user, project]
}

/// The one file of a place.
fn only(found: &[PathBuf]) -> Result<Option<&Path>, ConfigError> {
    match found {
        [] => Ok(None),
        [path] => Ok(Some(path)),
        [first, second, ..] => {
            Err(ConfigError::TwoFiles { first: first.clone(), second: second.clone() })
        }
    }
}

fn absolute(from: &Path) -> Result<PathBuf, ConfigError> {
    std::path::absolute(from).map_err(|error| ConfigError::unreadable(from, &error))
}

#[cfg(test)]
mod tests;
