//! The use of a volume: a lock that ends with the process at the latest, and a stamp of when.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::Path,
    time::SystemTime,
};

use super::{VolumeError, error::storage, make};
use crate::VolumeName;

/// The file that is locked, and whose time is that of the last use.
const STAMP: &str = "used";

/// How often a volume that is removed at the same moment is made anew.
const ATTEMPTS: usize = 100;

/// Volumes in use; they are given back when this is dropped.
pub(crate) type Held = Vec<Use>;

/// One volume in use.
#[derive(Debug)]
pub(crate) struct Use {
    _lock: File,
}

impl Use {
    /// Uses a volume beside others, and makes it if need be.
    pub(super) fn shared(volume: &Path, name: &VolumeName) -> Result<Use, VolumeError> {
        for _ in 0..ATTEMPTS {
            make(&volume.join("data"))?;
            let lock = match stamp(volume, true) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened.map_err(|error| storage("opened", volume, &error))?,
            };
            lock.lock_shared().map_err(|error| storage("locked", volume, &error))?;
            // Whoever removed the volume before we had the lock has removed the file, too.
            if still_there(&lock, volume) && volume.join("data").is_dir() {
                let now = lock.set_modified(SystemTime::now());
                now.map_err(|error| storage("marked as used", volume, &error))?;
                return Ok(Use { _lock: lock });
            }
        }
        Err(VolumeError::InUse { name: name.clone() })
    }

    /// Uses a volume alone, or not at all.
    pub(super) fn alone(volume: &Path, name: &VolumeName) -> Result<Use, VolumeError> {
        let lock = stamp(volume, true).map_err(|error| storage("opened", volume, &error))?;
        match lock.try_lock() {
            // Otherwise somebody else has just removed it.
            Ok(()) if !still_there(&lock, volume) => {
                Err(VolumeError::Unknown { name: name.clone(), nearest: None })
            }
            Ok(()) => Ok(Use { _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(VolumeError::InUse { name: name.clone() }),
            Err(TryLockError::Error(error)) => Err(storage("locked", volume, &error)),
        }
    }
}

/// When a run last began to use a volume.
pub(super) fn last_used(volume: &Path) -> io::Result<SystemTime> {
    stamp(volume, false)?.metadata()?.modified()
}

fn stamp(volume: &Path, writable: bool) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(writable)
        .create(writable)
        .truncate(false)
        .mode(0o600)
        .open(volume.join(STAMP))
}

fn still_there(lock: &File, volume: &Path) -> bool {
    let same = |one: fs::Metadata, other: fs::Metadata| {
        (one.dev(), one.ino()) == (other.dev(), other.ino())
    };
    match (lock.metadata(), fs::symlink_metadata(volume.join(STAMP))) {
        (Ok(held), Ok(there)) => same(held, there),
        _ => false,
    }
}
