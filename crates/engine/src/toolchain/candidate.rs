//! One file that may be a program of a toolchain: what it really is, and which installation it
//! belongs to.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use fumehood_core::language::ToolchainSpec;

use super::{
    environment::Environment,
    prefix::{self, is_in_system},
    problem::Problem,
    scout::Scout,
    shim,
};

/// A shim may lead to another one, such as asdf's to rustup's.
const MOST_SHIMS: usize = 3;
/// As many symbolic links as the kernel follows.
const MOST_LINKS: usize = 40;

/// A program that a box can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The path to run it by, on the host and in the box. No directory in it is a symbolic link,
    /// though the file itself may be: compilers look at the name they are called by.
    pub program: PathBuf,
    /// The installation, if there is one that stands for itself.
    pub prefix: Option<PathBuf>,
}

/// The programs that `found` stands for, best first; what cannot be used goes to `problems`.
pub fn resolve(
    found: &Path,
    names: &[String],
    spec: &ToolchainSpec,
    environment: &Environment,
    scout: &mut Scout,
    problems: &mut Vec<Problem>,
) -> Vec<Candidate> {
    let mut waiting = vec![found.to_owned()];
    for _ in 0..MOST_SHIMS {
        let mut next = Vec::new();
        let mut any_shim = false;
        for path in waiting {
            match shim::behind(&path, environment, scout) {
                None => next.push(path),
                Some(behind) => {
                    any_shim = true;
                    if behind.is_empty() {
                        problems.push(Problem::EmptyShim { path });
                    }
                    next.extend(behind);
                }
            }
        }
        waiting = next;
        if !any_shim {
            break;
        }
    }
    let mut candidates = Vec::new();
    for path in waiting {
        match real_program(&path, names, spec, environment) {
            Ok(Some(candidate)) => candidates.push(candidate),
            Ok(None) => {}
            Err(problem) => problems.push(problem),
        }
    }
    candidates
}

/// Nothing if the file went away meanwhile.
fn real_program(
    path: &Path,
    names: &[String],
    spec: &ToolchainSpec,
    environment: &Environment,
) -> Result<Option<Candidate>, Problem> {
    let Ok(real) = fs::canonicalize(path) else { return Ok(None) };
    if !is_named_like(&real, names) {
        return Err(Problem::OtherProgram { path: path.to_owned(), real });
    }
    let prefix = prefix::of(&real, spec, environment)?;
    // The last link that still has one of the names, as long as the box can see it.
    let program = links(path)
        .into_iter()
        .rev()
        .find(|link| {
            let is_named =
                |name: &String| link.file_name().is_some_and(|file| file == name.as_str());
            let is_seen = is_in_system(link)
                || prefix.as_ref().is_some_and(|prefix| link.starts_with(prefix));
            is_seen && names.iter().any(is_named)
        })
        .unwrap_or(real);
    Ok(Some(Candidate { program, prefix }))
}

/// Whether a name such as `x86_64-linux-gnu-gcc-12` or `python3.11` has one of the names as a
/// word in it. A multiplexer such as ccache, volta or snap has not.
fn is_named_like(real: &Path, names: &[String]) -> bool {
    let file = real.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    file.split(['-', '.', '_']).any(|word| names.iter().any(|name| name == word))
}

/// Every path on the way along the symbolic links of a file, each with a real directory.
fn links(path: &Path) -> Vec<PathBuf> {
    let mut links = Vec::new();
    let mut next = path.to_owned();
    while links.len() < MOST_LINKS {
        let (Some(directory), Some(name)) = (next.parent(), next.file_name()) else { break };
        let Ok(directory) = fs::canonicalize(directory) else { break };
        let link = directory.join(name);
        let target = fs::read_link(&link);
        links.push(link);
        match target {
            // A name that ends with `..` is a directory, so not a program.
            Ok(target) if target.components().next_back() == Some(Component::ParentDir) => break,
            Ok(target) => next = directory.join(target),
            Err(_) => break,
        }
    }
    links
}
