//! The overlays that are kept: listing them, finding one, discarding it.

use std::path::{Path, PathBuf};

use rustix::{
    fd::OwnedFd,
    fs::{FlockOperation, flock, fstat},
    io::Errno,
};

use super::{
    apply::{self, Applied},
    diff,
    error::{OverlayError, Reason},
    place,
    record::{Entry, Record},
    storage::{self, UPPER},
    tree::{Tree, host_path, names, open_directory},
};
use crate::Change;

/// The overlays of this user.
#[derive(Debug)]
pub struct Overlays {
    path: PathBuf,
}

impl Overlays {
    /// Those in a state directory; in the usual one if none is given.
    pub fn new(state_dir: Option<&Path>) -> Result<Overlays, OverlayError> {
        Ok(Overlays { path: place::overlays(&place::state_dir(state_dir)?) })
    }

    /// Every overlay, the newest first. Those of other users are left out.
    pub fn list(&self) -> Result<Vec<Overlay>, OverlayError> {
        let Some(tree) = self.tree()? else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for id in self.ids(&tree)? {
            match Overlay::open(&self.path, &tree, &id) {
                Ok(overlay) => all.push(overlay),
                Err(OverlayError::NotYours { .. }) => {}
                // Discarded by somebody else since we looked.
                Err(OverlayError::Storage { reason: Reason(Errno::NOENT), .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }

    /// The overlay whose name begins like this; without a name, the newest that is not in use.
    pub fn find(&self, id: Option<&str>) -> Result<Overlay, OverlayError> {
        let Some(id) = id else {
            let free = self.list()?.into_iter().find(|overlay| !overlay.is_busy());
            return free.ok_or(OverlayError::None);
        };
        let not_found = || OverlayError::NotFound { id: id.to_owned() };
        let tree = self.tree()?.ok_or_else(not_found)?;
        let mut matching = self.ids(&tree)?;
        matching.retain(|name| name.starts_with(id));
        if let Some(exact) = matching.iter().position(|name| name == id) {
            matching = vec![matching.swap_remove(exact)];
        }
        match matching.as_slice() {
            [] => Err(not_found()),
            [one] => Overlay::open(&self.path, &tree, one),
            _ => Err(OverlayError::Ambiguous { id: id.to_owned() }),
        }
    }

    /// Whether a name is the beginning of the name of an overlay.
    pub fn is_known(&self, id: &str) -> bool {
        let ids = self.tree().and_then(|tree| tree.map_or(Ok(Vec::new()), |tree| self.ids(&tree)));
        !id.is_empty() && ids.is_ok_and(|ids| ids.iter().any(|name| name.starts_with(id)))
    }

    /// `None` if there never was an overlay.
    fn tree(&self) -> Result<Option<Tree>, OverlayError> {
        let real = match std::fs::canonicalize(&self.path) {
            Ok(real) => real,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failed("found", super::record::errno(&error))),
        };
        place::check(&real)?;
        Tree::open(&real).map(Some).map_err(|errno| self.failed("opened", errno))
    }

    /// All names, the newest first: they begin with the time.
    fn ids(&self, tree: &Tree) -> Result<Vec<String>, OverlayError> {
        let names = names(tree.top()).map_err(|errno| self.failed("read", errno))?;
        let looks_right =
            |name: &String| name.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        let mut ids: Vec<String> = names
            .into_iter()
            .filter_map(|n| String::from_utf8(n).ok())
            .filter(looks_right)
            .collect();
        ids.sort_unstable_by(|a, b| b.cmp(a));
        Ok(ids)
    }

    fn failed(&self, verb: &'static str, errno: Errno) -> OverlayError {
        OverlayError::Storage { verb, path: self.path.clone(), reason: Reason(errno) }
    }
}

/// What one run has changed, kept until it is applied or discarded.
pub struct Overlay {
    id: String,
    path: PathBuf,
    parent: OwnedFd,
    directory: OwnedFd,
    /// `None` if it cannot be read, which does not keep it from being discarded.
    record: Result<Record, OverlayError>,
}

impl std::fmt::Debug for Overlay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Overlay").field("id", &self.id).finish()
    }
}

impl Overlay {
    fn open(overlays: &Path, tree: &Tree, id: &str) -> Result<Overlay, OverlayError> {
        let path = overlays.join(id);
        let failed = |errno| OverlayError::Storage {
            verb: "opened",
            path: path.clone(),
            reason: Reason(errno),
        };
        let directory = open_directory(tree.top(), id.as_bytes()).map_err(failed)?;
        let owner = fstat(&directory).map_err(failed)?.st_uid;
        if owner != rustix::process::geteuid().as_raw() {
            return Err(OverlayError::NotYours { id: id.to_owned() });
        }
        let parent = rustix::io::dup(tree.top()).map_err(failed)?;
        let record = Record::read(&directory, &path);
        Ok(Overlay { id: id.to_owned(), path, parent, directory, record })
    }

    /// Its name, which is that of its run.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The directory that the program saw a copy of; absent if the record is damaged.
    pub fn workspace(&self) -> Option<&Path> {
        self.record.as_ref().ok().map(|record| host_path(record.lower.as_bytes()))
    }

    /// When the run began, in seconds since 1970.
    pub fn created(&self) -> Option<u64> {
        self.record.as_ref().ok().map(|record| record.created)
    }

    /// Program and arguments of the run.
    pub fn command(&self) -> &[String] {
        self.record.as_ref().map_or(&[], |record| &record.command)
    }

    /// The changes that are not applied yet, sorted by path.
    pub fn changes(&self) -> Result<impl Iterator<Item = &Change>, OverlayError> {
        Ok(self.entries()?.iter().map(|entry| &entry.change))
    }

    /// True while its run goes on, or somebody applies or discards it.
    pub fn is_busy(&self) -> bool {
        match flock(&self.directory, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                let _ = flock(&self.directory, FlockOperation::Unlock);
                false
            }
            Err(_) => true,
        }
    }

    /// Writes the changes as a unified diff with git's extended headers.
    pub fn diff(&self, output: &mut dyn std::io::Write) -> Result<(), OverlayError> {
        let entries = self.entries()?;
        diff::write(entries, &self.upper()?, &self.lower()?, output)
    }

    /// How many lines each change adds and takes away.
    pub fn statistics(&self) -> Result<Vec<diff::FileStatistics>, OverlayError> {
        let entries = self.entries()?;
        diff::statistics(entries, &self.upper()?, &self.lower()?)
    }

    /// Carries changes over into the workspace: all of them, or those at and below these paths,
    /// which are relative to the workspace or absolute. Changes nothing unless everything asked
    /// for can be applied. What was applied is taken out of the overlay, and the overlay goes when
    /// nothing is left in it.
    pub fn apply(&mut self, paths: &[PathBuf]) -> Result<Applied, OverlayError> {
        self.lock()?;
        // Somebody else may have applied some of it since we looked.
        self.record = Record::read(&self.directory, &self.path);
        self.entries()?;
        let (upper, lower) = (self.upper()?, self.lower()?);
        let record = match &mut self.record {
            Ok(record) => record,
            Err(_) => return Err(OverlayError::Unfinished { id: self.id.clone() }),
        };
        let (mut applied, stopped) = apply::apply(record, &upper, &lower, paths)?;
        if record.entries.as_ref().is_some_and(Vec::is_empty) && stopped.is_none() {
            storage::discard(&self.parent, &self.id, &self.directory)
                .map_err(|errno| failed("removed", &self.path, errno))?;
            applied.removed = true;
        } else {
            record.write(&self.directory, &self.path)?;
        }
        match stopped {
            Some(error) => Err(error),
            None => Ok(applied),
        }
    }

    /// Removes the overlay with all its changes.
    pub fn discard(self) -> Result<(), OverlayError> {
        self.lock()?;
        storage::discard(&self.parent, &self.id, &self.directory)
            .map_err(|errno| failed("removed", &self.path, errno))
    }

    fn lock(&self) -> Result<(), OverlayError> {
        flock(&self.directory, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| OverlayError::Busy { id: self.id.clone() })
    }

    fn entries(&self) -> Result<&[Entry], OverlayError> {
        match &self.record {
            Ok(Record { entries: Some(entries), .. }) => Ok(entries),
            Ok(_) if self.is_busy() => Err(OverlayError::Busy { id: self.id.clone() }),
            Ok(_) => Err(OverlayError::Unfinished { id: self.id.clone() }),
            Err(OverlayError::Damaged { path, reason }) => {
                Err(OverlayError::Damaged { path: path.clone(), reason: reason.clone() })
            }
            Err(_) => Err(OverlayError::Unfinished { id: self.id.clone() }),
        }
    }

    fn upper(&self) -> Result<Tree, OverlayError> {
        Tree::open_in(&self.directory, UPPER)
            .map_err(|errno| failed("opened", &self.path.join(UPPER), errno))
    }

    /// The workspace, if it is still the same directory.
    fn lower(&self) -> Result<Tree, OverlayError> {
        let path = self.workspace().unwrap_or(Path::new("")).to_owned();
        let gone = |reason: String| OverlayError::WorkspaceGone { path: path.clone(), reason };
        let tree = Tree::open(&path).map_err(|errno| gone(Reason(errno).to_string()))?;
        let now = fstat(tree.top()).map_err(|errno| gone(Reason(errno).to_string()))?;
        match &self.record {
            Ok(record) if (record.device, record.inode) == (now.st_dev, now.st_ino) => Ok(tree),
            _ => Err(gone("it is another directory".into())),
        }
    }
}

fn failed(verb: &'static str, path: &Path, errno: Errno) -> OverlayError {
    OverlayError::Storage { verb, path: path.to_owned(), reason: Reason(errno) }
}
