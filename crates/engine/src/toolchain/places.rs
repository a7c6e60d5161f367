//! The usual places of a toolchain beyond `PATH`, as the language files write them.

use std::path::{Path, PathBuf};

use super::{environment::Environment, scout::Scout, versions};

/// The directories that a place such as `~/.nvm/versions/node/*/bin` stands for, best first.
/// Empty if it starts at a variable or home directory that there is not.
pub fn expand(place: &str, environment: &Environment, scout: &mut Scout) -> Vec<PathBuf> {
    let Some(start) = absolute(place, environment) else { return Vec::new() };
    let mut directories = vec![PathBuf::new()];
    for part in start.components() {
        let part = Path::new(part.as_os_str());
        let text = part.to_str().unwrap_or_default();
        directories = if text == "*" {
            directories
                .iter()
                .flat_map(|directory| versions::ordered(directory, environment, scout))
                .collect()
        } else if let Some(prefix) = text.strip_suffix('*') {
            directories
                .iter()
                .flat_map(|directory| versions::ordered(directory, environment, scout))
                .filter(|path| starts_with(path, prefix))
                .collect()
        } else {
            directories.iter().map(|directory| directory.join(part)).collect()
        };
    }
    directories
}

fn starts_with(path: &Path, prefix: &str) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(prefix))
}

fn absolute(place: &str, environment: &Environment) -> Option<PathBuf> {
    if let Some(rest) = place.strip_prefix("~/") {
        return Some(environment.home.as_ref()?.join(rest));
    }
    if let Some(rest) = place.strip_prefix('$') {
        let (name, rest) = rest.split_once('/')?;
        return Some(environment.directory(name)?.join(rest));
    }
    Some(PathBuf::from(place)).filter(|path| path.is_absolute())
}
