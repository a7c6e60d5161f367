//! What reads files of strangers, for the targets in `fuzz/`.

use std::path::{Path, PathBuf};

use crate::{
    Error,
    archive::{UnpackLimits, unpacked},
};

/// Unpacks an archive into a cache, with limits that a fuzzer does not wait for.
pub fn unpack(archive: &Path, cache: &Path) -> Result<PathBuf, Error> {
    let limits =
        UnpackLimits { total: 1 << 20, file: 1 << 18, entries: 64, ..UnpackLimits::default() };
    unpacked(archive, cache, &limits)
}
