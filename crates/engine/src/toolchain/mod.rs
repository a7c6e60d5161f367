//! Finding the real toolchains of this machine, behind the shims of version managers, and the
//! directories a box needs to see for them.
//!
//! A box sees the system directories and, read-only, the prefix of each toolchain found: never a
//! home directory, never a directory that is not recognizably an installation. Files decide what
//! is found; a program is started only to ask its version where no file tells it. Files of the
//! working directory (`.python-version`, `rust-toolchain.toml`) decide nothing, since they may
//! come with the code that is not trusted.

mod cache;
mod candidate;
mod discover;
mod environment;
mod places;
mod prefix;
mod problem;
mod scout;
mod shim;
mod system;
#[cfg(all(test, unix))]
mod tests;
mod version;
mod versions;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use fumehood_core::Digest;
use serde::{Deserialize, Serialize};

pub use self::{
    environment::Environment,
    prefix::SYSTEM_DIRECTORIES,
    problem::{MissingToolchain, Problem},
    system::System,
};
use self::{problem::unknown_language, scout::Scout};

/// A toolchain that boxes can use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Toolchain {
    /// The language.
    pub language: String,
    /// The programs under the names that the language's commands use. The paths are the same
    /// inside a box.
    pub programs: BTreeMap<String, PathBuf>,
    /// The version of the main program.
    pub version: String,
    /// Directories outside the system directories that a box must see, read-only. No path has a
    /// symbolic link in it.
    pub mounts: Vec<PathBuf>,
    /// Directories for the `PATH` of a box, besides the usual ones of the system.
    pub path_dirs: Vec<PathBuf>,
    /// Variables for the box.
    pub env: BTreeMap<String, String>,
    /// Another installation, or another state of the same one, has another fingerprint.
    pub fingerprint: Digest,
}

/// All toolchains of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Toolchains {
    results: Vec<Result<Toolchain, MissingToolchain>>,
    system: System,
    mounts: Vec<PathBuf>,
    path_dirs: Vec<PathBuf>,
    env: BTreeMap<String, String>,
}

impl Toolchains {
    /// The toolchains as remembered in `cache_dir` if nothing changed since, else as found now.
    ///
    /// Never fails: a cache that cannot be read or written only costs time.
    pub fn load(cache_dir: &Path, environment: &Environment) -> Toolchains {
        Toolchains::load_expecting(cache_dir, environment, |_| {})
    }

    /// The same, telling what will probably be found before it has been checked.
    pub(crate) fn load_expecting(
        cache_dir: &Path,
        environment: &Environment,
        expect: impl FnOnce(&Toolchains),
    ) -> Toolchains {
        if let Some(memory) = cache::read(cache_dir, environment) {
            expect(&memory.toolchains);
            if memory.holds() {
                return memory.toolchains;
            }
        }
        Toolchains::refresh(cache_dir, environment)
    }

    /// The toolchains as found now, remembered for the next time.
    pub fn refresh(cache_dir: &Path, environment: &Environment) -> Toolchains {
        let mut scout = Scout::default();
        let toolchains = Toolchains::look(environment, &mut scout);
        cache::write(cache_dir, environment, &scout, &toolchains);
        toolchains
    }

    /// The toolchains as found now.
    pub fn discover(environment: &Environment) -> Toolchains {
        Toolchains::look(environment, &mut Scout::default())
    }

    fn look(environment: &Environment, scout: &mut Scout) -> Toolchains {
        Toolchains::new(discover::all(environment, scout), System::find(scout))
    }

    fn new(results: Vec<Result<Toolchain, MissingToolchain>>, system: System) -> Toolchains {
        let mut mounts: Vec<PathBuf> = Vec::new();
        let mut path_dirs: Vec<PathBuf> = Vec::new();
        let mut env = BTreeMap::new();
        for toolchain in results.iter().flatten() {
            mounts.extend(toolchain.mounts.iter().cloned());
            for directory in &toolchain.path_dirs {
                if !path_dirs.contains(directory) {
                    path_dirs.push(directory.clone());
                }
            }
            env.extend(toolchain.env.clone());
        }
        Toolchains { mounts: prefix::outermost(mounts), path_dirs, env, results, system }
    }

    /// The toolchain of a language, by the language's own name.
    pub fn get(&self, language: &str) -> Result<&Toolchain, MissingToolchain> {
        for result in &self.results {
            match result {
                Ok(toolchain) if toolchain.language == language => return Ok(toolchain),
                Err(missing) if missing.language == language => return Err(missing.clone()),
                _ => {}
            }
        }
        Err(unknown_language(language))
    }

    /// Every language: its toolchain, or why there is none.
    pub fn all(&self) -> impl Iterator<Item = Result<&Toolchain, &MissingToolchain>> {
        self.results.iter().map(Result::as_ref)
    }

    /// What of the system a box sees.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// What a box must see, read-only, so that every toolchain found works in it.
    pub fn mounts(&self) -> &[PathBuf] {
        &self.mounts
    }

    /// What stands in the `PATH` of such a box before the usual directories of the system.
    pub fn path_dirs(&self) -> &[PathBuf] {
        &self.path_dirs
    }

    /// The variables of all toolchains found.
    pub fn env(&self) -> &BTreeMap<String, String> {
        &self.env
    }
}
