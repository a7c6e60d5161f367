//! What is written down of an overlay: where it belongs, and what was changed.

use std::{fs::File, io::Read as _, path::Path};

use rustix::{
    fd::OwnedFd,
    fs::{Mode, OFlags, openat, renameat},
    io::Errno,
};
use serde::{Deserialize, Serialize};

use super::{
    error::{OverlayError, Reason},
    select::LeftOut,
    stamp::Stamp,
    tree::MOST_PATH,
};
use crate::{Change, ChangeKind, FileKind, FilePath};

/// The file of the record, in the directory of its overlay.
const NAME: &str = "meta.json";

/// One change, and the file that it changes as it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) change: Change,
    /// The file of the workspace, if it was there.
    pub(super) lower: Option<Stamp>,
    /// Whether that file was changed from outside while the program ran.
    pub(super) disturbed: bool,
}

impl Entry {
    pub(super) fn path(&self) -> &[u8] {
        self.change.path.as_bytes()
    }

    /// Whether the change can be applied at all.
    pub(super) fn is_usable(&self) -> bool {
        self.never_applied().is_none()
    }

    /// Why the change can never be applied, if so.
    pub(super) fn never_applied(&self) -> Option<LeftOut> {
        let special = self.change.file == FileKind::Special;
        if self.path().len() > MOST_PATH {
            Some(LeftOut::TooDeep)
        } else if special && self.change.kind != ChangeKind::Deleted {
            Some(LeftOut::Special)
        } else {
            None
        }
    }
}

/// Everything that is known of an overlay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The name of the overlay, which is that of its run.
    pub(super) id: String,
    /// The workspace.
    pub(super) lower: FilePath,
    /// Device and inode of the workspace.
    pub(super) device: u64,
    pub(super) inode: u64,
    /// When the run began, in seconds since 1970.
    pub(super) created: u64,
    /// Program and arguments.
    pub(super) command: Vec<String>,
    /// Paths that are applied only when they are named.
    pub(super) guarded: Vec<String>,
    /// The changes that are not applied yet, sorted by path; absent until the run has ended.
    pub(super) entries: Option<Vec<Entry>>,
}

impl Record {
    /// Writes the record into the directory of its overlay, whole or not at all.
    pub(super) fn write(&self, directory: &OwnedFd, path: &Path) -> Result<(), OverlayError> {
        const DRAFT: &str = "meta.json.new";
        let write = || -> Result<(), Errno> {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
            let file = File::from(openat(directory, DRAFT, flags, Mode::from_raw_mode(0o600))?);
            let mut writer = std::io::BufWriter::new(file);
            serde_json::to_writer(&mut writer, self).map_err(|error| errno(&error.into()))?;
            std::io::Write::flush(&mut writer).map_err(|error| errno(&error))?;
            renameat(directory, DRAFT, directory, NAME)
        };
        write().map_err(|errno| OverlayError::Storage {
            verb: "written",
            path: path.join(NAME),
            reason: Reason(errno),
        })
    }

    /// Reads the record of an overlay.
    pub(super) fn read(directory: &OwnedFd, path: &Path) -> Result<Record, OverlayError> {
        let damaged = |reason: String| OverlayError::Damaged { path: path.join(NAME), reason };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(directory, NAME, flags, Mode::empty())
            .map_err(|errno| damaged(Reason(errno).to_string()))?;
        let mut text = Vec::new();
        File::from(file)
            .read_to_end(&mut text)
            .map_err(|error| damaged(Reason(errno(&error)).to_string()))?;
        serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))
    }
}

pub(super) fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
