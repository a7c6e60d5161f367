//! The storage of one run: made before its box, read when the box is over, gone if nothing was
//! changed.

use std::{
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use rustix::{
    fd::OwnedFd,
    fs::{
        AtFlags, FlockOperation, Gid, Mode, Stat, Uid, XattrFlags, chmodat, chownat, flock,
        fremovexattr, fsetxattr, fstat, mkdirat, unlinkat,
    },
    io::Errno,
};

use super::{
    changes,
    error::{OverlayError, Reason},
    place,
    record::Record,
    remove,
    stamp::Moment,
    tree::{Tree, open_directory, permissions, stat_in},
};
use crate::{Change, FilePath, RunId};

/// The changes.
pub(super) const UPPER: &str = "upper";
/// The kernel's own.
const WORK: &str = "work";

/// Where the changes of one run go. Removed when dropped, unless it was kept.
pub(crate) struct Storage {
    path: PathBuf,
    parent: OwnedFd,
    /// Holds a lock, so that nobody discards what is in use.
    directory: OwnedFd,
    lower: Tree,
    opened: Moment,
    record: Record,
    kept: bool,
}

/// What a run left.
#[derive(Default)]
pub(crate) struct Kept {
    /// The name of the overlay; absent if nothing was changed.
    pub(crate) id: Option<String>,
    /// Every change.
    pub(crate) changes: Vec<Change>,
    /// The space that they take.
    pub(crate) bytes: u64,
}

impl Storage {
    /// Makes storage for a run of a command on this directory. Changes at and below guarded paths are
    /// applied only when they are named.
    pub(crate) fn create(
        state: &Path,
        id: &RunId,
        lower: &Path,
        command: &[String],
        guarded: &[String],
    ) -> Result<Storage, OverlayError> {
        let gone = |errno| OverlayError::WorkspaceGone {
            path: lower.to_owned(),
            reason: Reason(errno).to_string(),
        };
        let tree = Tree::open(lower).map_err(gone)?;
        let owner = fstat(tree.top()).map_err(gone)?;
        let overlays = place::make(state)?;
        if overlays.starts_with(lower) {
            return Err(OverlayError::StateInWorkspace { path: state.to_owned() });
        }
        let path = overlays.join(id.as_str());
        let failed =
            |verb, errno| OverlayError::Storage { verb, path: path.clone(), reason: Reason(errno) };
        let parent = Tree::open(&overlays).map_err(|errno| failed("opened", errno))?;
        // Others may pass: the owner of the workspace need not be us. Nobody gets this far, since
        // the directory above is closed.
        mkdirat(parent.top(), id.as_str(), Mode::from_raw_mode(0o711))
            .map_err(|errno| failed("created", errno))?;
        let open = || -> Result<(OwnedFd, OwnedFd), Errno> {
            let directory = open_directory(parent.top(), id.as_str().as_bytes())?;
            flock(&directory, FlockOperation::NonBlockingLockExclusive)?;
            Ok((directory, rustix::io::dup(parent.top())?))
        };
        let (directory, parent) = open().map_err(|errno| failed("opened", errno))?;
        let record = Record {
            id: id.to_string(),
            lower: FilePath::new(lower.as_os_str().as_encoded_bytes()),
            device: owner.st_dev,
            inode: owner.st_ino,
            created: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_secs()),
            command: command.to_vec(),
            guarded: guarded.to_vec(),
            entries: None,
        };
        let mut storage = Storage {
            path: path.clone(),
            parent,
            directory,
            lower: tree,
            opened: Moment::of_change(&owner),
            record,
            kept: false,
        };
        storage.record.write(&storage.directory, &storage.path)?;
        storage.opened = storage.make_layers(&owner).map_err(|errno| match errno {
            Errno::OPNOTSUPP => OverlayError::Unsupported {
                path: state.to_owned(),
                reason: "its file system keeps no attributes of files".into(),
            },
            errno => failed("prepared", errno),
        })?;
        Ok(storage)
    }

    /// Makes the directories of the two layers. The upper one becomes the workspace that the
    /// program sees, so it has the owner and the permissions of the real one.
    fn make_layers(&self, owner: &Stat) -> Result<Moment, Errno> {
        for (name, mode) in [(WORK, 0o700), (UPPER, permissions(owner) & 0o777)] {
            mkdirat(&self.directory, name, Mode::from_raw_mode(0o700))?;
            if rustix::process::geteuid().is_root() {
                let (uid, gid) = (Uid::from_raw(owner.st_uid), Gid::from_raw(owner.st_gid));
                chownat(&self.directory, name, Some(uid), Some(gid), AtFlags::empty())?;
            }
            if name == UPPER {
                // The kernel marks directories in this way, and cannot do without.
                let upper = open_directory(&self.directory, UPPER.as_bytes())?;
                fsetxattr(&upper, "user.fumehood", b"y", XattrFlags::empty())?;
                fremovexattr(&upper, "user.fumehood")?;
            }
            chmodat(&self.directory, name, Mode::from_raw_mode(mode), AtFlags::empty())?;
        }
        let upper = stat_in(&self.directory, UPPER.as_bytes())?.ok_or(Errno::NOENT)?;
        Ok(Moment::of_change(&upper))
    }

    /// The directory with both layers.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Looks at what the run has changed, and keeps it if that is anything. The box must be over.
    pub(crate) fn finish(mut self) -> Result<Kept, OverlayError> {
        // Whatever comes, the changes are not lost because they could not be read.
        self.kept = true;
        let failed = |errno| OverlayError::Storage {
            verb: "read",
            path: self.path.join(UPPER),
            reason: Reason(errno),
        };
        let top = stat_in(&self.directory, UPPER.as_bytes())
            .and_then(|stat| stat.ok_or(Errno::NOENT))
            .map_err(failed)?;
        let readable = Mode::from_raw_mode(permissions(&top) | 0o700);
        chmodat(&self.directory, UPPER, readable, AtFlags::empty()).map_err(failed)?;
        let upper = Tree::open_in(&self.directory, UPPER).map_err(failed)?;
        let found = changes::find(&upper, &self.lower, &top, self.opened)
            .map_err(|error| error.of_overlay(&self.record.id))?;
        if found.entries.is_empty() {
            self.kept = false;
            return Ok(Kept { id: None, changes: Vec::new(), bytes: 0 });
        }
        let changes = found.entries.iter().map(|entry| entry.change.clone()).collect();
        self.record.entries = Some(found.entries);
        self.record.write(&self.directory, &self.path)?;
        Ok(Kept { id: Some(self.record.id.clone()), changes, bytes: found.bytes })
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        if !self.kept {
            // What cannot be removed now can be discarded later.
            let _ = discard(&self.parent, &self.record.id, &self.directory);
        }
    }
}

/// Removes an overlay with everything in it.
pub(super) fn discard(parent: &OwnedFd, id: &str, directory: &OwnedFd) -> Result<(), Errno> {
    remove::empty(directory)?;
    unlinkat(parent, id, AtFlags::REMOVEDIR)
}
