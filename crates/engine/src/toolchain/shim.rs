//! What stands behind a shim: the programs that version managers put into `PATH` in place of the
//! real ones. They are never run; the files that they would read are read instead.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{environment::Environment, scout::Scout, versions};

/// The real programs that this file may stand for, best first; absent if it is not a shim.
pub fn behind(found: &Path, environment: &Environment, scout: &mut Scout) -> Option<Vec<PathBuf>> {
    let directory = found.parent()?;
    let name = found.file_name()?.to_str()?;
    if directory.ends_with("shims") {
        let root = directory.parent()?;
        let mut behind = env_family(root, name, environment, scout);
        behind.extend(asdf_family(root, name, environment, scout));
        return Some(behind);
    }
    if is_rustup(found, name) {
        return Some(rustup(directory, name, environment, scout));
    }
    None
}

/// pyenv, nodenv, goenv, jenv: `versions/VERSION/bin/NAME`.
fn env_family(
    root: &Path,
    name: &str,
    environment: &Environment,
    scout: &mut Scout,
) -> Vec<PathBuf> {
    let directory = root.join("versions");
    if versions::is_system_selected(&directory, environment, scout) {
        return Vec::new();
    }
    versions::ordered(&directory, environment, scout)
        .into_iter()
        .filter_map(|version| scout.program(&version.join("bin"), name))
        .collect()
}

/// asdf and mise: `installs/TOOL/VERSION/bin/NAME`, for Go with one directory more.
fn asdf_family(
    root: &Path,
    name: &str,
    environment: &Environment,
    scout: &mut Scout,
) -> Vec<PathBuf> {
    let installs = root.join("installs");
    let mut behind = Vec::new();
    for tool in scout.names(&installs) {
        for version in versions::ordered(&installs.join(tool), environment, scout) {
            let program = scout
                .program(&version.join("bin"), name)
                .or_else(|| scout.program(&version.join("go/bin"), name));
            behind.extend(program);
        }
    }
    behind
}

/// rustup links every tool to itself, by symbolic links now and by hard links before.
fn is_rustup(found: &Path, name: &str) -> bool {
    let is_named_rustup = |path: &Path| path.file_name().is_some_and(|name| name == "rustup");
    if name == "rustup" {
        return false;
    }
    match fs::canonicalize(found) {
        Ok(real) if is_named_rustup(&real) => true,
        _ => same_file(found, &found.with_file_name("rustup")),
    }
}

#[cfg(unix)]
fn same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one), Ok(other)) => one.dev() == other.dev() && one.ino() == other.ino(),
        _ => false,
    }
}

#[cfg(not(unix))]
fn same_file(_: &Path, _: &Path) -> bool {
    false
}

/// rustup: `toolchains/TOOLCHAIN/bin/NAME`; `RUSTUP_TOOLCHAIN`, else the default of
/// `settings.toml`, else stable, else any.
fn rustup(
    directory: &Path,
    name: &str,
    environment: &Environment,
    scout: &mut Scout,
) -> Vec<PathBuf> {
    let Some(home) = rustup_home(directory, environment) else { return Vec::new() };
    let toolchains = home.join("toolchains");
    let settings = scout.text(&home.join("settings.toml")).unwrap_or_default();
    let wanted = [
        environment.variables.get("RUSTUP_TOOLCHAIN").cloned(),
        default_toolchain(&settings),
        Some("stable".to_owned()),
    ];
    let names = scout.names(&toolchains);
    let mut ordered: Vec<PathBuf> = Vec::new();
    for wanted in wanted.into_iter().flatten() {
        // A custom toolchain may be given by its path.
        let found = if Path::new(&wanted).is_absolute() {
            Some(PathBuf::from(&wanted))
        } else {
            let longer = format!("{wanted}-");
            names
                .iter()
                .find(|name| **name == wanted)
                .or_else(|| names.iter().find(|name| name.starts_with(&longer)))
                .map(|name| toolchains.join(name))
        };
        ordered.extend(found);
    }
    ordered.extend(names.iter().rev().map(|name| toolchains.join(name)));
    ordered
        .into_iter()
        .filter_map(|toolchain| scout.program(&toolchain.join("bin"), name))
        .collect()
}

/// `RUSTUP_HOME`, else `.rustup` of the home directory, else beside the directory of cargo.
fn rustup_home(directory: &Path, environment: &Environment) -> Option<PathBuf> {
    let beside = directory.parent().and_then(Path::parent);
    let homes = [
        environment.directory("RUSTUP_HOME").map(Path::to_owned),
        environment.home.as_ref().map(|home| home.join(".rustup")),
        beside.map(|beside| beside.join(".rustup")),
        beside.map(|beside| beside.join("rustup")),
    ];
    homes.into_iter().flatten().find(|home| home.join("toolchains").is_dir())
}

fn default_toolchain(settings: &str) -> Option<String> {
    let settings: toml::Table = settings.parse().ok()?;
    Some(settings.get("default_toolchain")?.as_str()?.to_owned())
}
