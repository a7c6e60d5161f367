//! Results that are kept: directories that appear by one rename, or not at all.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use crate::Error;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Whether a result is there; if it is, it is complete.
pub(crate) fn is_there(directory: &Path) -> bool {
    directory.is_dir()
}

/// The right to make a result, while others wait for it. Given back when dropped, or when the
/// process ends, however that happens.
pub(crate) struct Turn {
    path: PathBuf,
    _lock: fs::File,
}

impl Turn {
    /// Waits until nobody else makes this result.
    pub(crate) async fn take(store: &Path) -> Result<Turn, Error> {
        let (path, lock) = Turn::file(store)?;
        let locked = tokio::task::spawn_blocking(move || lock.lock().map(|()| lock)).await;
        match locked {
            Ok(Ok(lock)) => Ok(Turn { path, _lock: lock }),
            Ok(Err(error)) => Err(storage("locked", &path, &error)),
            Err(error) => Err(storage("locked", &path, &io::Error::other(error))),
        }
    }

    /// The same for those who cannot await, and no longer than this.
    pub(crate) fn wait(store: &Path, patience: Duration) -> Result<Turn, Error> {
        const LOOK_AGAIN: Duration = Duration::from_millis(20);
        let (path, lock) = Turn::file(store)?;
        let deadline = Instant::now() + patience;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(Turn { path, _lock: lock }),
                Err(fs::TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(LOOK_AGAIN);
                }
                Err(error) => return Err(storage("locked", &path, &error.into())),
            }
        }
    }

    fn file(store: &Path) -> Result<(PathBuf, fs::File), Error> {
        let parent = store.parent().unwrap_or(store);
        fs::create_dir_all(parent).map_err(|error| storage("created", parent, &error))?;
        let path = store.with_extension("lock");
        let lock = fs::File::create(&path).map_err(|error| storage("created", &path, &error))?;
        Ok((path, lock))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Whoever waits for this file holds it open, gets the lock, and finds the result.
        let _ = fs::remove_file(&self.path);
    }
}

/// A directory that becomes the real one when it is complete, and nothing if it never is.
pub(crate) struct Staging {
    pub(crate) path: PathBuf,
}

impl Staging {
    pub(crate) fn new(store: &Path) -> Result<Staging, Error> {
        let parent = store.parent().unwrap_or(store);
        fs::create_dir_all(parent).map_err(|error| storage("created", parent, &error))?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!(".staging-{}-{number}", std::process::id()));
        fs::create_dir(&path).map_err(|error| storage("created", &path, &error))?;
        Ok(Staging { path })
    }

    pub(crate) fn publish(self, store: &Path) -> Result<(), Error> {
        match fs::rename(&self.path, store) {
            // Somebody else was faster with the same content.
            Err(_) if is_there(store) => Ok(()),
            renamed => renamed.map_err(|error| storage("written", store, &error)),
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // Gone already if it was published.
        let _ = fs::remove_dir_all(&self.path);
    }
}

pub(crate) fn storage(verb: &'static str, path: &Path, error: &io::Error) -> Error {
    Error::Storage { verb, path: path.to_owned(), reason: error.to_string() }
}
