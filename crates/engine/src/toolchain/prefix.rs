//! Which directory of the host a box may see for a program: the installation it belongs to, and
//! never more than that.

use std::{
    fs,
    path::{Path, PathBuf},
};

use fumehood_core::language::ToolchainSpec;

use super::{environment::Environment, problem::Problem};

/// Directories that every box has already, read-only.
pub const SYSTEM_DIRECTORIES: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Directories whose children belong to different owners or purposes.
const SHARED: &[&str] = &[
    "/",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/media",
    "/mnt",
    "/nix",
    "/nix/store",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/snap",
    "/srv",
    "/sys",
    "/tmp",
    "/var",
    "/var/lib",
    "/var/tmp",
    "/Users",
];

/// Directories of a home that hold more than one program and what belongs to it.
const SHARED_IN_HOME: &[&str] =
    &[".cache", ".cargo", ".config", ".local", ".local/share", ".rustup", ".ssh", "bin"];

/// `PREFIX/bin/program` is the rule, `PREFIX/installation/bin/program` and
/// `PREFIX/jre/bin/program` occur.
const MOST_LEVELS: usize = 3;

/// Whether every box sees this path already.
pub fn is_in_system(path: &Path) -> bool {
    SYSTEM_DIRECTORIES.iter().any(|directory| path.starts_with(directory))
}

/// The installation that a program belongs to; `real` has no symbolic links in it. Absent for a
/// program of the system that stands for itself.
pub fn of(
    real: &Path,
    spec: &ToolchainSpec,
    environment: &Environment,
) -> Result<Option<PathBuf>, Problem> {
    let path = || real.to_owned();
    // The root directory has every marker that `/lib` has, and is no installation.
    let marked = real
        .ancestors()
        .skip(2)
        .take(MOST_LEVELS)
        .filter(|prefix| prefix.parent().is_some())
        .find(|prefix| spec.markers.iter().any(|marker| has(prefix, marker)));
    let Some(prefix) = marked else {
        if is_in_system(real) {
            return Ok(None);
        }
        return Err(Problem::Unmarked { path: path(), markers: spec.markers.clone() });
    };
    if let Some(file) = spec.rejects.iter().find(|file| has(prefix, file)) {
        return Err(Problem::View { path: path(), file: prefix.join(file) });
    }
    if !is_in_system(prefix) && is_forbidden(prefix, environment) {
        return Err(Problem::Forbidden { path: path(), prefix: prefix.to_owned() });
    }
    Ok(Some(prefix.to_owned()))
}

/// Whether a directory must never be shown to a box as a whole.
pub(super) fn is_forbidden(prefix: &Path, environment: &Environment) -> bool {
    if SHARED.iter().any(|shared| prefix == Path::new(shared)) {
        return true;
    }
    let is_some_home =
        prefix.parent().is_some_and(|parent| parent.ends_with("home") || parent.ends_with("Users"));
    if is_some_home && prefix.components().count() == 3 {
        return true;
    }
    // `HOME` may be a link, or may lie: both its forms count, besides the shapes above.
    let home = environment.home.as_deref();
    let real = home.and_then(|home| home.canonicalize().ok());
    [home, real.as_deref(), Some(Path::new("/root"))].into_iter().flatten().any(|home| {
        home.starts_with(prefix) || SHARED_IN_HOME.iter().any(|name| prefix == home.join(name))
    })
}

/// Whether a prefix has this file or directory; the last part may end with `*`.
fn has(prefix: &Path, marker: &str) -> bool {
    let Some(start) = marker.strip_suffix('*') else { return prefix.join(marker).exists() };
    let (directory, start) = start.rsplit_once('/').unwrap_or(("", start));
    let Ok(entries) = fs::read_dir(prefix.join(directory)) else { return false };
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with(start))
}

/// The directories without those that lie in another one of them.
pub fn outermost(mut directories: Vec<PathBuf>) -> Vec<PathBuf> {
    directories.sort();
    let mut kept: Vec<PathBuf> = Vec::new();
    for directory in directories {
        if !kept.last().is_some_and(|last| directory.starts_with(last)) {
            kept.push(directory);
        }
    }
    kept
}
