//! Why the configuration could not be loaded.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::source::Problem;

/// Why the configuration could not be loaded. Nothing is run then: half of it may be what protects.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Something in it is wrong; the report says what and where.
    #[error(transparent)]
    Problem(#[from] Problem),
    /// Two files in one place, and nobody could say which of them counts.
    #[error("{} and {} are both there: keep one of them", first.display(), second.display())]
    TwoFiles {
        /// One of them.
        first: PathBuf,
        /// Another.
        second: PathBuf,
    },
    /// A file is there and cannot be read.
    #[error("the configuration {} cannot be read ({reason}): check its permissions, or move it away", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// A directory, a pipe or a device has the name of the file.
    #[error("the configuration {} is not a regular file: put a file there, or move it away", path.display())]
    NotAFile {
        /// What is there.
        path: PathBuf,
    },
    /// A file is larger than any configuration.
    #[error("the configuration {} is larger than {most} bytes: is it the right file?", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most there may be.
        most: u64,
    },
    /// A file is not text.
    #[error("the configuration {} is not valid UTF-8: save it as UTF-8", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// A variable is not text.
    #[error("the variable {name} is not valid UTF-8: set it to plain text, or unset it")]
    VariableNotText {
        /// Its name.
        name: &'static str,
    },
}

impl ConfigError {
    /// A file that the system did not let us read.
    pub(super) fn unreadable(path: &Path, error: &io::Error) -> ConfigError {
        let text = error.to_string();
        let reason = text.split(" (os error").next().unwrap_or(&text).to_owned();
        ConfigError::Unreadable { path: path.to_owned(), reason }
    }
}
