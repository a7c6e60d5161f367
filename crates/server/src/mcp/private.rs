//! The private directories of a server, all in one place that is gone with it. A server that was
//! killed leaves its place behind; the next one to start removes it.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt as _,
    path::Path,
    sync::{Mutex, PoisonError},
    thread,
};

use tempfile::TempDir;

use super::failure::CallError;

const PREFIX: &str = "fumehood-mcp-";
/// How often somebody else may take a new place for an orphan before we give up.
const ATTEMPTS: usize = 16;

/// A place, and the lock that says that its server lives. The kernel lets go of the lock when the
/// server ends, however it ends.
#[derive(Debug)]
struct Place {
    directory: TempDir,
    _lock: File,
}

impl Place {
    fn make() -> io::Result<Place> {
        for _ in 0..ATTEMPTS {
            let directory = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
            // A sweeper that came first has the lock, or has removed the directory already.
            let Some(lock) = locked(directory.path()) else { continue };
            let still = fs::symlink_metadata(directory.path()).map(|found| found.ino());
            if still.is_ok_and(|inode| lock.metadata().is_ok_and(|own| own.ino() == inode)) {
                return Ok(Place { directory, _lock: lock });
            }
        }
        Err(io::Error::other("every new one was removed by others"))
    }
}

/// The lock of a directory, if nobody has it.
fn locked(directory: &Path) -> Option<File> {
    let file = File::open(directory).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

/// Makes private directories, and sweeps up after servers that are gone.
#[derive(Debug, Default)]
pub(super) struct Private(Mutex<Option<Place>>);

impl Private {
    /// Nothing is made before it is needed. What others have left is removed beside the first calls.
    pub(super) fn new() -> Private {
        // Without the thread nothing is lost but space.
        let sweeper = thread::Builder::new().name("sweeper".into());
        let _ = sweeper.spawn(|| sweep(&std::env::temp_dir()));
        Private::default()
    }

    /// A new directory for its owner alone, gone when it is dropped.
    pub(super) fn directory(&self) -> Result<TempDir, CallError> {
        let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = match &mut *place {
            Some(place) => place,
            none => none.insert(Place::make().map_err(CallError::Private)?),
        };
        tempfile::tempdir_in(place.directory.path()).map_err(CallError::Private)
    }
}

/// Removes the places whose servers are gone. Only our own: nobody else's files are our affair.
fn sweep(temporary: &Path) {
    let Ok(own) = tempfile::tempfile().and_then(|file| file.metadata()) else { return };
    for entry in fs::read_dir(temporary).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let path = entry.path();
        let ours = fs::symlink_metadata(&path)
            .is_ok_and(|found| found.is_dir() && found.uid() == own.uid());
        if ours && let Some(_lock) = locked(&path) {
            // What cannot be removed now is there for the next one.
            let _ = fs::remove_dir_all(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_places_of_the_dead_are_swept() {
        let temporary = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = temporary.path().join(name);
            fs::create_dir_all(path.join("inner")).unwrap();
            fs::write(path.join("inner/file"), "x").unwrap();
            path
        };
        let (dead, alive, other) =
            (make("fumehood-mcp-dead"), make("fumehood-mcp-alive"), make("other"));
        let link = temporary.path().join("fumehood-mcp-link");
        std::os::unix::fs::symlink(&other, &link).unwrap();
        let lock = locked(&alive).unwrap();
        sweep(temporary.path());
        assert!(!dead.exists());
        assert!(alive.join("inner/file").exists() && other.join("inner/file").exists());
        assert!(link.exists(), "a link is not followed, and not ours to judge");
        drop(lock);
        sweep(temporary.path());
        assert!(!alive.exists());
    }

    #[test]
    fn a_place_is_locked_and_goes_with_its_owner() {
        let private = Private::default();
        let one = private.directory().unwrap();
        let place = one.path().parent().unwrap().to_owned();
        assert!(locked(&place).is_none(), "its owner has the lock");
        let other = private.directory().unwrap();
        assert_eq!(other.path().parent(), Some(&*place));
        drop(private);
        assert!(!place.exists());
    }
}
