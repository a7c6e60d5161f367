//! Reads the source and writes the result, with errors that name the file.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use crate::{emit::Output, limits::MAX_SOURCE_BYTES};

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The source could not be read.
    #[error("cannot read {}: {reason}", path.display())]
    Read {
        /// The file that was to be read.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// The source is larger than [`MAX_SOURCE_BYTES`].
    #[error("cannot read {}: it is larger than {} MiB", path.display(), MAX_SOURCE_BYTES >> 20)]
    TooLarge {
        /// The file that was to be read.
        path: PathBuf,
    },
    /// The source is not text.
    #[error("cannot read {}: it is not valid UTF-8 text (at byte {offset})", path.display())]
    NotText {
        /// The file that was read.
        path: PathBuf,
        /// The first byte that is not part of a character.
        offset: usize,
    },
    /// An output file or its directory could not be written.
    #[error("cannot write {}: {reason}", path.display())]
    Write {
        /// The file or directory that was to be written.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
}

/// Reads a source file, never more than [`MAX_SOURCE_BYTES`] of it.
///
/// # Errors
///
/// When the file cannot be read, is too large, or is not UTF-8.
pub fn read_source(path: &Path) -> Result<String, FileError> {
    let path_buf = || path.to_path_buf();
    let failed = |reason| FileError::Read { path: path_buf(), reason };
    let mut bytes = Vec::new();
    let limit = MAX_SOURCE_BYTES as u64 + 1;
    File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() > MAX_SOURCE_BYTES {
        return Err(FileError::TooLarge { path: path_buf() });
    }
    String::from_utf8(bytes).map_err(|error| FileError::NotText {
        path: path_buf(),
        offset: error.utf8_error().valid_up_to(),
    })
}

/// Writes `main.js` and `package.json` into `directory`, which is made if it is missing.
///
/// # Errors
///
/// When the directory or one of the files cannot be written.
pub fn write_output(directory: &Path, output: &Output) -> Result<(), FileError> {
    let failed = |path: &Path, reason| FileError::Write { path: path.to_path_buf(), reason };
    let write = |name: &str, content: &str| {
        let path = directory.join(name);
        fs::write(&path, content).map_err(|reason| failed(&path, reason))
    };
    fs::create_dir_all(directory).map_err(|reason| failed(directory, reason))?;
    write("package.json", output.package_json())?;
    write("main.js", &output.javascript)
}
