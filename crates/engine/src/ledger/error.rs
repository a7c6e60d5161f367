//! Why the ledger could not be written or read. What verification finds is not an error of this
//! kind but its answer.

use std::{
    io,
    path::{Path, PathBuf},
};

/// Why the ledger could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// Nothing says where the ledger is.
    #[error(
        "the ledger has no place: set HOME, XDG_STATE_HOME or FUMEHOOD_STATE_DIR to a directory"
    )]
    NoPlace,
    /// The system refused something.
    #[error("the ledger's {} could not be {verb} ({reason}): check its permissions and free space, or set FUMEHOOD_STATE_DIR", path.display())]
    System {
        /// What was attempted.
        verb: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// Somebody else could write the ledger, or it is not what it seems.
    #[error("the ledger's {} is not used since it {why}: {remedy}", path.display())]
    NotOurs {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// The end of the ledger cannot be understood, so nothing can be chained to it.
    #[error("the last line of {} is not a record: see `fumehood log verify`, then move the directory away to begin a new ledger", path.display())]
    BadEnd {
        /// The file.
        path: PathBuf,
    },
    /// The name that the file should get is in use.
    #[error("{} cannot be rotated since {} is there already: see `fumehood log verify`, then move that file away", path.display(), target.display())]
    Taken {
        /// The file that is full.
        path: PathBuf,
        /// The name it should get.
        target: PathBuf,
    },
    /// The salt has the wrong length.
    #[error("{} is damaged: remove it to get a new one; new digests will differ from old ones", path.display())]
    BadSalt {
        /// The file.
        path: PathBuf,
    },
    /// A record that does not fit into a line.
    #[error("the record of {length} bytes is too long for the ledger: record less of the request")]
    TooLong {
        /// How long it is.
        length: usize,
    },
    /// A record that cannot be written as JSON.
    #[error("the record cannot be written as JSON ({0}): record less of the request")]
    Unwritable(#[from] serde_json::Error),
}

/// Turns what the system says about a path into an error.
pub(super) fn system<'a>(
    verb: &'static str,
    path: &'a Path,
) -> impl Fn(io::Error) -> LedgerError + use<'a> {
    move |error| LedgerError::System { verb, path: path.to_owned(), reason: error.to_string() }
}
