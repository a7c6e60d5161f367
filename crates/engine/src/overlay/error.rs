//! Why an overlay could not be made, found, shown or applied.

use std::{fmt, path::PathBuf};

use rustix::io::Errno;

use crate::FilePath;

/// The system's words for why something failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason(pub Errno);

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = std::io::Error::from(self.0).to_string();
        // The number says nothing that the words do not.
        f.write_str(words.split(" (os error").next().unwrap_or(&words))
    }
}

/// Why a path cannot be applied any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// It is not what it was when the program ran.
    Changed,
    /// It was changed from outside while the program ran.
    ChangedMeanwhile,
    /// The program added it, and now something is there.
    Appeared,
    /// It is gone.
    Vanished,
    /// It is on another file system, or behind a symbolic link that was not there.
    Elsewhere,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Conflict::Changed => "changed since the run",
            Conflict::ChangedMeanwhile => "changed by others during the run",
            Conflict::Appeared => "appeared since the run",
            Conflict::Vanished => "vanished since the run",
            Conflict::Elsewhere => "behind a link or a mount that was not there",
        })
    }
}

/// Why something about an overlay did not work. Each message is one sentence with the next step.
#[derive(Debug, thiserror::Error)]
pub enum OverlayError {
    /// Nothing says where state is kept.
    #[error("there is no place to keep the changes (HOME is not set): set FUMEHOOD_STATE_DIR")]
    NoStateDirectory,
    /// A plan with an overlay was given to a backend without storage for it.
    #[error("the plan has an overlay and no storage for it: run it through a sandbox")]
    NoStorage,
    /// The state directory belongs to somebody else, or others may write to it.
    #[error(
        "the state directory {} is not safe ({reason}): set FUMEHOOD_STATE_DIR to a directory of your own", path.display()
    )]
    UnsafeStateDirectory {
        /// The directory.
        path: PathBuf,
        /// Why not.
        reason: &'static str,
    },
    /// The state directory is in the workspace.
    #[error(
        "the changes cannot be kept in {}, which is in the workspace itself: set FUMEHOOD_STATE_DIR to another directory", path.display()
    )]
    StateInWorkspace {
        /// The state directory.
        path: PathBuf,
    },
    /// The file system of the state directory, or of the workspace, cannot be part of an overlay.
    #[error(
        "the kernel cannot make an overlay of the workspace with its changes in {} ({reason}): set FUMEHOOD_STATE_DIR to a directory on a local disk such as ext4, xfs or btrfs, unmount what is mounted below the workspace, or use --workspace DIR:rw", path.display()
    )]
    Unsupported {
        /// The state directory.
        path: PathBuf,
        /// What the kernel said.
        reason: String,
    },
    /// A file of the overlay's own could not be used.
    #[error("{} could not be {verb} ({reason}): check its permissions and free space", path.display())]
    Storage {
        /// What was attempted.
        verb: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's reason.
        reason: Reason,
    },
    /// What is known of an overlay cannot be read.
    #[error("the record {} is damaged ({reason}): discard the overlay", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A changed file could not be read.
    #[error("the change of {path} could not be read ({reason}): discard the overlay and run again")]
    Unreadable {
        /// The file.
        path: FilePath,
        /// The system's reason.
        reason: Reason,
    },
    /// More changes than can be kept.
    #[error(
        "the program made more than {most} changes: discard the overlay {id}, and run it with --workspace DIR:rw on a copy"
    )]
    TooMany {
        /// The most there may be.
        most: usize,
        /// The overlay.
        id: String,
    },
    /// There is no overlay at all.
    #[error("no changes are kept: run something with --workspace DIR:overlay first")]
    None,
    /// No overlay has this name.
    #[error("no overlay is called {id}: `fumehood diff --list` shows what there is")]
    NotFound {
        /// The name as given.
        id: String,
    },
    /// Several overlays have names that begin like this.
    #[error("{id} is the beginning of several names: write more of it, see `fumehood diff --list`")]
    Ambiguous {
        /// The name as given.
        id: String,
    },
    /// The overlay belongs to another user.
    #[error("the overlay {id} belongs to another user: only they can use it")]
    NotYours {
        /// Its name.
        id: String,
    },
    /// The overlay is in use.
    #[error("the overlay {id} is in use by another process: wait until it has ended")]
    Busy {
        /// Its name.
        id: String,
    },
    /// The run of the overlay was killed before its changes were recorded.
    #[error(
        "the run {id} was killed before its changes were recorded: `fumehood discard {id}` removes them"
    )]
    Unfinished {
        /// Its name.
        id: String,
    },
    /// The workspace of the overlay is not there, or is another one now.
    #[error(
        "the workspace {} is not the one of the run any more ({reason}): put it back, or discard the overlay", path.display()
    )]
    WorkspaceGone {
        /// Its path.
        path: PathBuf,
        /// The system's reason, or what differs.
        reason: String,
    },
    /// A path named by the caller leads out of the workspace.
    #[error("the path {} is not in the workspace {}: name a changed file", path.display(), workspace.display())]
    OutsideWorkspace {
        /// The path as given.
        path: PathBuf,
        /// The workspace.
        workspace: PathBuf,
    },
    /// Nothing changed at a path named by the caller.
    #[error("nothing changed at {}: `fumehood diff --stat` lists the changes", path.display())]
    NotChanged {
        /// The path as given.
        path: PathBuf,
    },
    /// The workspace is not what it was.
    #[error(
        "nothing was applied, because the workspace is not what it was: {}; look at `fumehood diff` and apply the other paths by name, or discard", listed(.conflicts)
    )]
    Conflicts {
        /// Where, and what is different.
        conflicts: Vec<(FilePath, Conflict)>,
    },
    /// Applying stopped at a path.
    #[error(
        "applying stopped at {path} ({reason}): {done} changes are applied, {left} are not and stay in the overlay; put that right and apply again"
    )]
    Stopped {
        /// Where.
        path: FilePath,
        /// The system's reason, or what is different.
        reason: String,
        /// How many changes were applied.
        done: usize,
        /// How many were not.
        left: usize,
    },
    /// What was compared cannot be written.
    #[error("the comparison could not be written ({0}): check where it goes")]
    Output(#[source] std::io::Error),
}

fn listed(conflicts: &[(FilePath, Conflict)]) -> String {
    const SHOWN: usize = 10;
    let mut parts: Vec<String> = conflicts
        .iter()
        .take(SHOWN)
        .map(|(path, conflict)| format!("{path} ({conflict})"))
        .collect();
    if conflicts.len() > SHOWN {
        parts.push(format!("and {} more", conflicts.len() - SHOWN));
    }
    parts.join(", ")
}
