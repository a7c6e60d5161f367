//! Why there is no policy.

use std::path::PathBuf;

use fumehood_core::source::Problem;

/// Why a policy could not be found, read or merged.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// Something is wrong in a file, or a layer asks for more than it may. Several lines, with the
    /// place and a hint.
    #[error(transparent)]
    Problem(#[from] Problem),
    /// A file cannot be read.
    #[error("the policy {} cannot be read ({reason}): check the path and its permissions", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// Not a file.
    #[error("the policy {} is not a file: name a file, or remove it", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// Larger than any policy.
    #[error("the policy {} is larger than 1 MiB: a policy is a small text", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// Not text.
    #[error("the policy {} is not valid UTF-8: save it as text", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// A file that was found wants something from outside of its project.
    #[error(
        "the project's policy mounts {} ({origin}), which is outside of the project: if you trust it, name the file with --policy",
        path.display()
    )]
    Reaches {
        /// What it mounts.
        path: PathBuf,
        /// Where it says so.
        origin: String,
    },
    /// A file that was found belongs to somebody who could so decide what runs here.
    #[error(
        "the policy {} belongs to another user: if you trust it, name it with --policy {}",
        path.display(), path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
    },
}
