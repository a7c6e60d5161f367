//! The programs that travel into boxes, carried inside this one.

use std::{
    fs,
    io::Write as _,
    os::{
        fd::OwnedFd,
        unix::fs::{MetadataExt as _, PermissionsExt as _},
    },
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use fumehood_embedded::{attacks, init, probe, typescript};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use crate::{Digest, Error};

/// The init program as a sealed file in memory: nothing on disk to tamper with, and nobody can
/// write to it through `/proc`, not even root.
pub(super) fn sealed_init() -> Result<OwnedFd, Error> {
    seal(init()).map_err(|error| Error::Setup {
        step: "preparing the init program".into(),
        reason: error.to_string(),
    })
}

fn seal(program: &[u8]) -> Result<OwnedFd, std::io::Error> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Kernels before 6.3 do not know the flag that asks for an executable file.
    let file = memfd_create("fumehood-init", flags | MemfdFlags::EXEC)
        .or_else(|_| memfd_create("fumehood-init", flags))?;
    let mut file = fs::File::from(file);
    file.write_all(program)?;
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    fcntl_add_seals(&file, seals)?;
    Ok(file.into())
}

/// A helper program as a file that can be mounted into a box, written on first use.
pub(crate) fn helper_program(name: &str, cache: &Path) -> Result<Option<PathBuf>, Error> {
    let content = match name {
        "fumehood-typescript" => typescript(),
        "fumehood-probe" => probe(),
        "fumehood-attacks" => attacks(),
        _ => return Ok(None),
    };
    stored(name, content, 0o555, cache).map(Some)
}

/// The init program as a file, for engines that mount it into their containers.
pub(super) fn init_program(cache: &Path) -> Result<PathBuf, Error> {
    stored("fumehood-init", init(), 0o555, cache)
}

/// A file with this content, written on first use. Its directory is named after the content.
pub(super) fn stored(
    name: &str,
    content: &[u8],
    mode: u32,
    cache: &Path,
) -> Result<PathBuf, Error> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let digest = Digest::of(content);
    let directory = cache.join("helpers").join(digest.as_str());
    let path = directory.join(name);
    if is_intact(&path, content.len()) {
        return Ok(path);
    }
    let failed = |verb: &'static str, path: &Path, error: std::io::Error| Error::Storage {
        verb,
        path: path.to_owned(),
        reason: error.to_string(),
    };
    fs::create_dir_all(&directory).map_err(|error| failed("created", &directory, error))?;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let staged = directory.join(format!(".{name}.{}.{number}", std::process::id()));
    fs::write(&staged, content)
        .and_then(|()| fs::set_permissions(&staged, fs::Permissions::from_mode(mode)))
        .and_then(|()| fs::rename(&staged, &path))
        .map_err(|error| failed("written", &path, error))?;
    Ok(path)
}

/// A file of ours that nobody else could have written.
fn is_intact(path: &Path, length: usize) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| {
        found.is_file()
            && found.len() == length as u64
            && found.uid() == rustix::process::geteuid().as_raw()
            && found.permissions().mode() & 0o022 == 0
    })
}
