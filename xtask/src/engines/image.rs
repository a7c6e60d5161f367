//! The root file system of the test image, made from packages of this machine's own distribution:
//! no registry is asked.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::shell;

/// What the cases run. Other compilers are tested where an image has them.
const PACKAGES: &str = "python3,nodejs,gcc,g++,libc6-dev,git";

/// The file system as an archive, made once.
pub fn root_file_system(place: &Path) -> Result<PathBuf, String> {
    let archive = place.join("root.tar");
    if archive.exists() {
        return Ok(archive);
    }
    let staged = place.join("root.partial.tar");
    shell::run(
        Command::new("mmdebstrap")
            .args(["--quiet", "--variant=minbase"])
            .arg(format!("--include={PACKAGES}"))
            // Ubuntu keeps Node apart from its main packages.
            .args(is_ubuntu()?.then_some("--components=main,universe"))
            .arg(code_name()?)
            .arg(&staged),
    )?;
    fs::rename(&staged, &archive).map_err(|error| format!("{}: {error}", archive.display()))?;
    Ok(archive)
}

/// True if this machine runs Ubuntu and not Debian.
fn is_ubuntu() -> Result<bool, String> {
    Ok(release("ID")?.is_some_and(|id| id == "ubuntu"))
}

/// The name of this machine's distribution.
fn code_name() -> Result<String, String> {
    let name = release("VERSION_CODENAME")?;
    name.ok_or_else(|| "/etc/os-release has no VERSION_CODENAME".to_owned())
}

/// What the distribution says of itself under a key.
fn release(key: &str) -> Result<Option<String>, String> {
    let text = fs::read_to_string("/etc/os-release").map_err(|error| error.to_string())?;
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    Ok(value.map(|value| value.trim_matches('"').to_owned()))
}
