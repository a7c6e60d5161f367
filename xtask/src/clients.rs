//! `cargo xtask clients`: libraries and programs that boxes of the tests use to reach a server.
//! Fetched once, each in one version, into the target directory; the tests themselves fetch nothing.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    project::{root, target},
    shell,
    system::SYSTEM_PATH,
};

const PYTHON: &[&str] = &["pip==26.3", "requests==2.34.2"];
const NODE: &str = "ws@8.22.2";

/// Fetches what is missing.
pub fn fetch() -> Result<(), String> {
    let place = target().join("clients");
    if !place.join("python/requests").exists() {
        python(&place)?;
    }
    if !place.join("node_modules/ws").exists() {
        node(&place)?;
    }
    go(&place)?;
    println!("every client is there");
    Ok(())
}

/// A name behind which nothing is half done.
fn staged(place: &Path, name: &str) -> Result<PathBuf, String> {
    let staged = place.join(format!("{name}.partial"));
    let _ = fs::remove_dir_all(&staged);
    fs::create_dir_all(&staged).map_err(|error| format!("{}: {error}", staged.display()))?;
    Ok(staged)
}

fn put(from: &Path, to: &Path) -> Result<(), String> {
    fs::rename(from, to).map_err(|error| format!("{}: {error}", to.display()))
}

fn python(place: &Path) -> Result<(), String> {
    let staged = staged(place, "python")?;
    let environment = staged.join("environment");
    shell::run(system("python3").args(["-m", "venv"]).arg(&environment))?;
    let libraries = staged.join("libraries");
    let mut pip = Command::new(environment.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check", "--target"]);
    shell::run(pip.arg(&libraries).args(PYTHON))?;
    put(&libraries, &place.join("python"))?;
    fs::remove_dir_all(&staged).map_err(|error| format!("{}: {error}", staged.display()))
}

fn node(place: &Path) -> Result<(), String> {
    let staged = staged(place, "node")?;
    let mut npm = system("npm");
    npm.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"]);
    shell::run(npm.arg(&staged).arg(NODE))?;
    put(&staged.join("node_modules"), &place.join("node_modules"))?;
    fs::remove_dir_all(&staged).map_err(|error| format!("{}: {error}", staged.display()))
}

/// Go itself sees whether anything has changed.
fn go(place: &Path) -> Result<(), String> {
    let source = root().join("tests/conformance/egress/clients/client.go");
    let mut go = system("go");
    // It stands alone, so that it runs in any image.
    go.env("CGO_ENABLED", "0").arg("build").arg("-o").arg(place.join("go-client")).arg(source);
    shell::run(&mut go)
}

/// A program where every user finds it.
fn system(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env("PATH", SYSTEM_PATH);
    command
}
