//! What was found, remembered between runs together with everything it depends on.

use std::{
    fs::{self, File, OpenOptions},
    io::{Read, Write},
    path::Path,
    process,
    sync::atomic::{AtomicU32, Ordering},
};

use fumehood_core::language::Registry;
use serde::{Deserialize, Serialize};

use super::{
    Toolchains,
    environment::Environment,
    scout::{Scout, Witness},
};

const FILE: &str = "toolchains.json";
/// A file that is larger was not written by us.
const MOST_BYTES: u64 = 1 << 20;
/// Goes up when the meaning of the file changes.
const FORMAT: u32 = 2;

/// The file. Written from references, read into values.
#[derive(Serialize, Deserialize)]
struct Remembered<E, T> {
    format: u32,
    edition: u64,
    environment: E,
    witnesses: Vec<Witness>,
    toolchains: T,
}

/// What was remembered, and whatever it depends on.
pub struct Memory {
    pub toolchains: Toolchains,
    witnesses: Vec<Witness>,
}

impl Memory {
    /// Whether nothing has changed since.
    pub fn holds(&self) -> bool {
        self.witnesses.iter().all(Witness::holds)
    }
}

/// What was remembered, if it is ours and was found in the same surroundings.
pub fn read(directory: &Path, environment: &Environment) -> Option<Memory> {
    let file = open(&directory.join(FILE), environment.uid)?;
    let mut bytes = Vec::with_capacity(16 * 1024);
    file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    let remembered: Remembered<Environment, Toolchains> = serde_json::from_slice(&bytes).ok()?;
    let is_same = remembered.format == FORMAT
        && remembered.edition == Registry::EDITION
        && remembered.environment == *environment;
    let Remembered { toolchains, witnesses, .. } = remembered;
    is_same.then_some(Memory { toolchains, witnesses })
}

/// Remembers what was found. Failing to do so is no failure: the next run searches again.
pub fn write(directory: &Path, environment: &Environment, scout: &Scout, toolchains: &Toolchains) {
    let remembered = Remembered {
        format: FORMAT,
        edition: Registry::EDITION,
        environment,
        witnesses: scout.witnesses(),
        toolchains,
    };
    let Ok(bytes) = serde_json::to_vec(&remembered) else { return };
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let temporary = directory.join(format!("{FILE}.{}.{number}", process::id()));
    let written = create_directory(directory)
        .and_then(|()| create(&temporary))
        .and_then(|mut file| file.write_all(&bytes))
        .and_then(|()| fs::rename(&temporary, directory.join(FILE)));
    if written.is_err() {
        // It may not even exist.
        let _ = fs::remove_file(&temporary);
    }
}

/// Opens the file if it is this user's own and nobody else can write it: what it says decides
/// which directories boxes see and which programs run.
#[cfg(unix)]
fn open(path: &Path, uid: u32) -> Option<File> {
    use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file =
        OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    let is_ours = metadata.is_file() && metadata.uid() == uid && metadata.mode() & 0o022 == 0;
    is_ours.then_some(file)
}

#[cfg(not(unix))]
fn open(path: &Path, _: u32) -> Option<File> {
    OpenOptions::new().read(true).open(path).ok()
}

#[cfg(unix)]
fn create(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn create(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

#[cfg(unix)]
fn create_directory(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
fn create_directory(path: &Path) -> std::io::Result<()> {
    fs::create_dir_all(path)
}
