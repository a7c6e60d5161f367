//! A Dockerfile for a directory: reads what matters in it, and writes the two files.
//!
//! What goes into the files is decided by [`fumehood_core::dockerfile`]; here is only what touches
//! the disk.

mod read;
mod write;

use std::path::{Path, PathBuf};

use fumehood_core::dockerfile::{Base, DETECTED, Generated, generate};

pub use self::{
    read::{MOST_BYTES, MOST_DEPTH, MOST_FILES},
    write::write,
};

/// Why no Dockerfile was made. Each message is one sentence with the next step.
#[derive(Debug, thiserror::Error)]
pub enum BootstrapError {
    /// The directory cannot be read.
    #[error("the directory {} cannot be read ({reason}): check the path", path.display())]
    Unreadable {
        /// The directory.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// Nothing that is known is there.
    #[error(
        "no project was found in {}: name the directory of one of those that are detected, {DETECTED}",
        path.display()
    )]
    NothingFound {
        /// The directory.
        path: PathBuf,
    },
    /// A file is there already.
    #[error(
        "{} is there already and was not touched: add --force to overwrite it, or --print to see the new one",
        path.display()
    )]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be written.
    #[error(
        "{} could not be written ({reason}): check the permissions and the space of its directory",
        path.display()
    )]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
}

/// What was made for a directory.
#[derive(Debug)]
pub struct Proposal {
    /// The two files and the reasons.
    pub generated: Generated,
    /// What was left out while reading, one sentence each.
    pub left_out: Vec<String>,
}

/// Reads a directory and makes both files, without writing them. A base that is given is used
/// whatever the project needs.
pub fn propose(directory: &Path, base: Option<Base>) -> Result<Proposal, BootstrapError> {
    let (files, left_out) = read::read(directory)?;
    match generate(&files, base) {
        Ok(generated) => Ok(Proposal { generated, left_out }),
        Err(_) => Err(BootstrapError::NothingFound { path: directory.to_owned() }),
    }
}

/// The system's words, without the number behind them.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.clone(), |(words, _)| words.to_owned())
}
