//! The file `salt`: the secret under which values are digested, made once.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    path::Path,
};

use super::{
    Salt,
    error::{LedgerError, system},
    system::{only_ours, open_to_read},
};

/// Its name.
const NAME: &str = "salt";

/// The salt of a ledger, if it has one.
pub(super) fn read(directory: &Path) -> Result<Option<Salt>, LedgerError> {
    let path = directory.join(NAME);
    let Some(file) = open_to_read(&path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(Salt::BYTES as u64 + 1).read_to_end(&mut bytes).map_err(system("read", &path))?;
    match <[u8; Salt::BYTES]>::try_from(bytes) {
        Ok(bytes) => Ok(Some(Salt::new(bytes))),
        Err(_) => Err(LedgerError::BadSalt { path }),
    }
}

/// The salt of a ledger; makes one if it has none. Only for whoever holds the lock.
pub(super) fn read_or_create(directory: &Path) -> Result<Salt, LedgerError> {
    if let Some(salt) = read(directory)? {
        return Ok(salt);
    }
    let (path, temporary) = (directory.join(NAME), directory.join("salt.new"));
    let create = || {
        let bytes = random()?;
        // One that a crash left.
        let _ = fs::remove_file(&temporary);
        let mut file: File =
            only_ours(OpenOptions::new().write(true).create_new(true)).open(&temporary)?;
        file.write_all(&bytes)?;
        fs::rename(&temporary, &path)?;
        Ok(Salt::new(bytes))
    };
    create().map_err(system("created", &path))
}

#[cfg(unix)]
fn random() -> io::Result<[u8; Salt::BYTES]> {
    let mut bytes = [0; Salt::BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The standard library seeds its hash tables with random keys of the system; this is the way to
/// them without another dependency.
#[cfg(not(unix))]
fn random() -> io::Result<[u8; Salt::BYTES]> {
    use std::hash::{BuildHasher as _, RandomState};
    let mut bytes = [0; Salt::BYTES];
    for (number, part) in bytes.chunks_mut(8).enumerate() {
        // A thread of its own gets keys of its own.
        let word = std::thread::spawn(move || RandomState::new().hash_one(number))
            .join()
            .map_err(|_| io::Error::other("no random numbers"))?;
        part.copy_from_slice(&word.to_le_bytes());
    }
    Ok(bytes)
}
