//! The temporary directory of one build. Two builds of the same image do not meet, and what a
//! killed one left is removed by the next.

use std::{
    ffi::CString,
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use super::ImageError;
use crate::tree;

/// A directory that is gone when this is dropped.
pub(super) struct Workshop {
    parent: PathBuf,
    name: String,
    _lock: File,
}

impl Workshop {
    /// An empty directory below the cache.
    pub(super) fn open(cache: &Path, image: &str) -> Result<Workshop, ImageError> {
        let parent = cache.join("images").join("building");
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&parent);
        made.map_err(|error| ImageError::storage("created", &parent, &error))?;
        let lock_path = parent.join(format!("{image}.lock"));
        let lock = File::create(&lock_path);
        let lock = lock.map_err(|error| ImageError::storage("created", &lock_path, &error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                return Err(ImageError::Busy { image: image.to_owned() });
            }
            Err(fs::TryLockError::Error(error)) => {
                return Err(ImageError::storage("locked", &lock_path, &error));
            }
        }
        let workshop = Workshop { parent, name: image.to_owned(), _lock: lock };
        let path = workshop.path();
        workshop.clear().map_err(|error| ImageError::storage("emptied", &path, &error))?;
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|error| ImageError::storage("created", &path, &error))?;
        Ok(workshop)
    }

    pub(super) fn path(&self) -> PathBuf {
        self.parent.join(&self.name)
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    fn clear(&self) -> io::Result<()> {
        if fs::symlink_metadata(self.path()).is_err() {
            return Ok(());
        }
        let parent = File::open(&self.parent)?;
        tree::remove(&parent, &CString::new(self.name.as_str())?)
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next build.
        let _ = self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_and_leftovers_go() {
        let cache = tempfile::tempdir().unwrap();
        let left = cache.path().join("images/building/go/deep/er");
        fs::create_dir_all(&left).unwrap();
        let workshop = Workshop::open(cache.path(), "go").unwrap();
        assert_eq!(fs::read_dir(workshop.path()).unwrap().count(), 0, "it begins empty");
        fs::write(workshop.file("root.tar"), "x").unwrap();
        assert!(matches!(Workshop::open(cache.path(), "go"), Err(ImageError::Busy { .. })));
        assert!(Workshop::open(cache.path(), "python").is_ok(), "another image can be made");
        let path = workshop.path();
        drop(workshop);
        assert!(!path.exists());
        assert!(Workshop::open(cache.path(), "go").is_ok());
    }
}
