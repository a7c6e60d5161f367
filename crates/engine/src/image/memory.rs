//! When an image was made and last used. Engines keep neither: all images of ours are said to be of
//! the same moment, so that the same content is the same image.
//!
//! One small file per image below the cache directory. All of it is best effort: what is not known
//! keeps an image from being removed for its age, and nothing else.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use crate::BackendName;

/// How often a use is worth writing down, in seconds.
const OFTEN_ENOUGH: u64 = 60;

/// What is known of an image. Times are seconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Memory {
    /// Which image the name meant when it was made or fetched.
    pub(super) id: Option<String>,
    /// When that was.
    pub(super) made: Option<u64>,
    /// When a box was last opened from the name.
    pub(super) used: Option<u64>,
}

impl Memory {
    pub(super) fn read(cache: &Path, backend: BackendName, name: &str) -> Memory {
        let text = fs::read(file(cache, backend, name)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    fn write(&self, cache: &Path, backend: BackendName, name: &str) {
        let path = file(cache, backend, name);
        let Ok(text) = serde_json::to_vec(self) else { return };
        let staged = path.with_extension(format!("{}.new", std::process::id()));
        let parent = path.parent().unwrap_or(cache);
        let written = fs::create_dir_all(parent)
            .and_then(|()| fs::write(&staged, text))
            .and_then(|()| fs::rename(&staged, &path));
        if written.is_err() {
            let _ = fs::remove_file(&staged);
        }
    }
}

/// Remembers that a name means this image from now on.
pub(super) fn remember_making(cache: &Path, backend: BackendName, name: &str, id: &str) {
    let before = Memory::read(cache, backend, name);
    let made = Some(now());
    Memory { id: Some(id.to_owned()), made, ..before }.write(cache, backend, name);
}

/// Remembers that a box was opened from a name.
pub(crate) fn remember_use(cache: &Path, backend: BackendName, name: &str) {
    let before = Memory::read(cache, backend, name);
    let now = now();
    if before.used.is_none_or(|used| used.abs_diff(now) >= OFTEN_ENOUGH) {
        Memory { used: Some(now), ..before }.write(cache, backend, name);
    }
}

/// Forgets an image that is gone.
pub(super) fn forget(cache: &Path, backend: BackendName, name: &str) {
    let _ = fs::remove_file(file(cache, backend, name));
}

pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs())
}

fn file(cache: &Path, backend: BackendName, name: &str) -> PathBuf {
    cache.join("images").join(backend.name()).join(format!("{name}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCKER: BackendName = BackendName::Docker;

    #[test]
    fn making_and_use_are_remembered_apart() {
        let cache = tempfile::tempdir().unwrap();
        let read = || Memory::read(cache.path(), DOCKER, "python");
        assert_eq!(read(), Memory::default());
        remember_use(cache.path(), DOCKER, "python");
        let used = read().used.unwrap();
        assert!(now() - used < 5 && read().made.is_none());
        remember_making(cache.path(), DOCKER, "python", "sha256:1");
        assert_eq!(read().id.as_deref(), Some("sha256:1"));
        assert_eq!(read().used, Some(used));
        assert_eq!(Memory::read(cache.path(), BackendName::Podman, "python"), Memory::default());
        let files = fs::read_dir(cache.path().join("images/docker")).unwrap().count();
        assert_eq!(files, 1, "nothing but the file is left");
        forget(cache.path(), DOCKER, "python");
        assert_eq!(read(), Memory::default());
    }

    #[test]
    fn a_use_long_ago_is_written_over() {
        let cache = tempfile::tempdir().unwrap();
        let old = Memory { used: Some(5), made: Some(3), id: None };
        old.write(cache.path(), DOCKER, "go");
        remember_use(cache.path(), DOCKER, "go");
        let read = Memory::read(cache.path(), DOCKER, "go");
        assert!(read.used.unwrap() > 5 && read.made == Some(3));
    }

    #[test]
    fn nonsense_is_nothing_known() {
        let cache = tempfile::tempdir().unwrap();
        let path = file(cache.path(), DOCKER, "go");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "{").unwrap();
        assert_eq!(Memory::read(cache.path(), DOCKER, "go"), Memory::default());
        // Where nothing can be written, nothing happens.
        remember_use(Path::new("/proc/nowhere"), DOCKER, "go");
    }
}
