//! The search: for each language the first installation that has all its programs, is new enough
//! and may be shown to a box.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use fumehood_core::{
    Digest,
    language::{Language, Registry, ToolchainSpec, Version},
};

use super::{
    Toolchain,
    candidate::{self, Candidate},
    environment::Environment,
    places,
    prefix::{is_in_system, outermost},
    problem::{MissingToolchain, Problem},
    scout::Scout,
    version,
};

/// The `PATH` that every box has.
const USUAL_PATH: &[&str] =
    &["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Every language's toolchain, or why there is none.
pub fn all(
    environment: &Environment,
    scout: &mut Scout,
) -> Vec<Result<Toolchain, MissingToolchain>> {
    Registry::builtin().all().map(|language| one(language, environment, scout)).collect()
}

/// One language's toolchain, or why there is none.
pub fn one(
    language: &Language,
    environment: &Environment,
    scout: &mut Scout,
) -> Result<Toolchain, MissingToolchain> {
    let spec = &language.toolchain;
    let names = names(spec, &spec.main);
    let mut problems = Vec::new();
    let mut search = Search { spec, environment, scout };
    let found = search.first(&names, None, |search, file| {
        let candidates = search.resolve(file, &names, &mut problems);
        candidates.iter().find_map(|main| {
            search.installation(&language.name, main).map_err(|problem| problems.push(problem)).ok()
        })
    });
    if let Some(toolchain) = found {
        return Ok(toolchain);
    }
    let mut each_once = Vec::new();
    for problem in problems {
        if !each_once.contains(&problem) {
            each_once.push(problem);
        }
    }
    Err(MissingToolchain::new(language, each_once))
}

fn names(spec: &ToolchainSpec, program: &str) -> Vec<String> {
    spec.programs.get(program).cloned().unwrap_or_default()
}

struct Search<'a> {
    spec: &'a ToolchainSpec,
    environment: &'a Environment,
    scout: &'a mut Scout,
}

impl Search<'_> {
    /// The first file with one of these names that will do: in the directory given, then in
    /// `PATH`, then in the usual places; in each of these the best name first. Looks no further
    /// than it must, since everything looked at is looked at again before a cache is believed.
    fn first<T>(
        &mut self,
        names: &[String],
        beside: Option<&Path>,
        mut will_do: impl FnMut(&mut Self, &Path) -> Option<T>,
    ) -> Option<T> {
        let spec = self.spec;
        let mut try_all = |search: &mut Self, directories: &[PathBuf]| {
            let pairs = names.iter().flat_map(|name| directories.iter().map(move |d| (d, name)));
            for (directory, name) in pairs {
                if let Some(file) = search.scout.program(directory, name)
                    && let Some(done) = will_do(search, &file)
                {
                    return Some(done);
                }
            }
            None
        };
        let beside: Vec<PathBuf> = beside.map(Path::to_owned).into_iter().collect();
        let path = self.environment.path_directories();
        if let Some(done) = try_all(self, &beside).or_else(|| try_all(self, &path)) {
            return Some(done);
        }
        spec.places.iter().find_map(|place| {
            let directories = places::expand(place, self.environment, self.scout);
            try_all(self, &directories)
        })
    }

    fn resolve(
        &mut self,
        found: &Path,
        names: &[String],
        problems: &mut Vec<Problem>,
    ) -> Vec<Candidate> {
        candidate::resolve(found, names, self.spec, self.environment, self.scout, problems)
    }

    /// The toolchain that this main program is part of.
    fn installation(&mut self, language: &str, main: &Candidate) -> Result<Toolchain, Problem> {
        let path = || main.program.clone();
        let version =
            version::of(&main.program, main.prefix.as_deref(), &self.spec.version, self.scout)
                .ok_or_else(|| Problem::NoVersion { path: path() })?;
        if let Some(minimum) = &self.spec.minimum
            && version.parse::<Version>().is_ok_and(|version| version < *minimum)
        {
            return Err(Problem::TooOld { path: path(), version, minimum: minimum.clone() });
        }
        let mut parts = BTreeMap::from([(self.spec.main.clone(), main.clone())]);
        for name in self.spec.programs.keys() {
            if *name == self.spec.main {
                continue;
            }
            let part = self
                .companion(main, name)
                .ok_or_else(|| Problem::NoCompanion { path: path(), name: name.clone() })?;
            parts.insert(name.clone(), part);
        }
        Ok(self.toolchain(language, version, main, &parts))
    }

    /// Another program: beside the main one, else wherever it is.
    fn companion(&mut self, main: &Candidate, program: &str) -> Option<Candidate> {
        let names = names(self.spec, program);
        self.first(&names, main.program.parent(), |search, file| {
            search.resolve(file, &names, &mut Vec::new()).into_iter().next()
        })
    }

    fn toolchain(
        &mut self,
        language: &str,
        version: String,
        main: &Candidate,
        parts: &BTreeMap<String, Candidate>,
    ) -> Toolchain {
        let mut mounts = Vec::new();
        let mut path_dirs: Vec<PathBuf> = Vec::new();
        let mut programs = BTreeMap::new();
        // The main program's directory comes first in the PATH of the box.
        for part in std::iter::once(main).chain(parts.values()) {
            self.scout.note(&part.program);
            mounts.extend(part.prefix.clone().filter(|prefix| !is_in_system(prefix)));
            let directory = part.program.parent().unwrap_or(Path::new("/"));
            let is_usual = USUAL_PATH.iter().any(|usual| directory == Path::new(usual));
            if !is_usual && !path_dirs.iter().any(|known| known == directory) {
                path_dirs.push(directory.to_owned());
            }
        }
        for (name, part) in parts {
            programs.insert(name.clone(), part.program.clone());
        }
        let env = match main.prefix.as_ref().and_then(|prefix| prefix.to_str()) {
            Some(prefix) => self
                .spec
                .env
                .iter()
                .map(|(name, value)| (name.clone(), value.replace("{prefix}", prefix)))
                .collect(),
            None => BTreeMap::new(),
        };
        let fingerprint = fingerprint(&version, &programs);
        Toolchain {
            language: language.to_owned(),
            programs,
            version,
            mounts: outermost(mounts),
            path_dirs,
            env,
            fingerprint,
        }
    }
}

/// Path, size and time of every program, and the version.
fn fingerprint(version: &str, programs: &BTreeMap<String, PathBuf>) -> Digest {
    let mut parts: Vec<Vec<u8>> = vec![version.as_bytes().to_vec()];
    for path in programs.values() {
        parts.push(path.as_os_str().as_encoded_bytes().to_vec());
        if let Ok(metadata) = fs::metadata(path) {
            let modified =
                metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            parts.push(metadata.len().to_le_bytes().to_vec());
            parts.push(modified.unwrap_or_default().as_nanos().to_le_bytes().to_vec());
        }
    }
    Digest::of_parts(parts.iter().map(Vec::as_slice))
}
