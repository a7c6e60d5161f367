//! The test programs that cargo built, found by asking it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{
    project::{cargo, root},
    shell,
};

/// A test program.
pub struct Binary {
    /// The package it belongs to.
    pub package: String,
    /// Its own name.
    pub name: String,
    /// The directory of the package, where cargo starts it.
    pub directory: PathBuf,
    /// The program.
    pub program: PathBuf,
}

/// Every test program of the packages in these directories. Asked for with the whole workspace,
/// as the tests were run: a smaller selection has other features, and would be built again.
pub fn below(directories: &[&str]) -> Result<Vec<Binary>, String> {
    let arguments = ["test", "--workspace", "--no-run", "--message-format=json"];
    let messages = shell::output(&mut cargo(&arguments))?;
    let binaries = messages.lines().filter_map(|line| read(&serde_json::from_str(line).ok()?));
    let wanted: Vec<PathBuf> = directories.iter().map(|name| root().join(name)).collect();
    Ok(binaries.filter(|binary| wanted.contains(&binary.directory)).collect())
}

/// A message about a test program; other messages are passed over.
fn read(message: &Value) -> Option<Binary> {
    // Programs that are not tests themselves have none here.
    let is_test = message["profile"]["test"].as_bool()? && message["target"]["kind"][0] != "bin";
    let program = message["executable"].as_str()?;
    let manifest = Path::new(message["manifest_path"].as_str()?);
    let directory = manifest.parent()?.to_owned();
    is_test.then(|| Binary {
        package: directory.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        name: message["target"]["name"].as_str().unwrap_or_default().to_owned(),
        directory,
        program: PathBuf::from(program),
    })
}
