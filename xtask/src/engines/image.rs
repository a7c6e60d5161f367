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
            .arg(code_name()?)
            .arg(&staged),
    )?;
    fs::rename(&staged, &archive).map_err(|error| format!("{}: {error}", archive.display()))?;
    Ok(archive)
}

/// The name of this machine's distribution.
fn code_name() -> Result<String, String> {
    let text = fs::read_to_string("/etc/os-release").map_err(|error| error.to_string())?;
    let name = text.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    name.map(str::to_owned).ok_or_else(|| "/etc/os-release has no VERSION_CODENAME".to_owned())
}
