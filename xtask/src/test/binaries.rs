//! The test programs that cargo built, found by asking it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{project::cargo, shell};

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

/// Every test program of these packages.
pub fn of(packages: &[&str]) -> Result<Vec<Binary>, String> {
    let mut arguments = vec!["test", "--no-run", "--message-format=json"];
    for package in packages {
        arguments.extend(["--package", package]);
    }
    let messages = shell::output(&mut cargo(&arguments))?;
    Ok(messages.lines().filter_map(|line| read(&serde_json::from_str(line).ok()?)).collect())
}

/// A message about a test program; other messages are passed over.
fn read(message: &Value) -> Option<Binary> {
    let is_test = message["profile"]["test"].as_bool()?;
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
