//! The version of an installation: from a file or a name where that tells it, else by asking the
//! program.

use std::{
    io::Read,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use fumehood_core::language::VersionSpec;

use super::scout::Scout;

/// A program that takes longer to print its version is not worth waiting for.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often the program is looked after.
const PAUSE: Duration = Duration::from_millis(1);
/// The most that is read of what it prints; what does not fit into a pipe blocks it anyway.
const MOST_TEXT: u64 = 64 * 1024;

/// The version of the installation that `program` belongs to.
pub fn of(
    program: &Path,
    prefix: Option<&Path>,
    spec: &VersionSpec,
    scout: &mut Scout,
) -> Option<String> {
    let quiet = prefix
        .and_then(|prefix| from_file(prefix, spec, scout).or_else(|| from_name(prefix, spec)));
    if quiet.is_some() {
        return quiet;
    }
    if let Some(known) = scout.versions.get(program) {
        return known.clone();
    }
    let version = from_program(program, spec);
    scout.versions.insert(program.to_owned(), version.clone());
    version
}

fn from_file(prefix: &Path, spec: &VersionSpec, scout: &mut Scout) -> Option<String> {
    let text = scout.text(&prefix.join(spec.file.as_ref()?))?;
    spec.file_pattern.as_ref()?.capture(&text).map(str::to_owned)
}

fn from_name(prefix: &Path, spec: &VersionSpec) -> Option<String> {
    let name = prefix.file_name()?.to_str()?;
    spec.directory_pattern.as_ref()?.capture(name).map(str::to_owned)
}

fn from_program(program: &Path, spec: &VersionSpec) -> Option<String> {
    let mut child = Command::new(program)
        .args(&spec.arguments)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "C")
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let start = Instant::now();
    let ended = loop {
        match child.try_wait() {
            Ok(Some(_)) => break true,
            Ok(None) if start.elapsed() < PATIENCE => thread::sleep(PAUSE),
            _ => break false,
        }
    };
    if !ended {
        // Nothing can be done if even that fails; the version stays unknown.
        let _ = child.kill();
        let _ = child.wait();
        return None;
    }
    let mut printed = Vec::new();
    child.stdout.take()?.take(MOST_TEXT).read_to_end(&mut printed).ok()?;
    child.stderr.take()?.take(MOST_TEXT).read_to_end(&mut printed).ok()?;
    spec.pattern.capture(&String::from_utf8_lossy(&printed)).map(str::to_owned)
}
