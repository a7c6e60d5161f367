//! Named volumes: directories that belong to no run and are kept between runs.
//!
//! A volume is `volumes/NAME` in the state directory: `data` is what boxes see, `used` is locked
//! while a run uses the volume and remembers when that was. It is made when it is first used.

mod error;
mod held;
mod place;

use std::{
    ffi::CString,
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    time::SystemTime,
};

use rustix::fs::{Mode, OFlags};

pub use self::error::VolumeError;
pub(crate) use self::held::Held;
use self::{error::storage, held::Use};
use crate::{Bytes, VolumeName, nearest, tree};

/// What a volume is called while it is being removed; no name can begin like this.
const REMOVED: &str = ".removed-";

static NEXT: AtomicU32 = AtomicU32::new(0);

/// All volumes of a user.
#[derive(Clone, Debug)]
pub struct Volumes {
    directory: PathBuf,
}

/// One volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Its name.
    pub name: VolumeName,
    /// The lengths of all its files together; a file with several names counts once.
    pub size: Bytes,
    /// How many files are in it.
    pub files: u64,
    /// When a run last began to use it.
    pub last_used: SystemTime,
}

impl Volumes {
    /// The volumes in the state directory: `FUMEHOOD_STATE_DIR`, or `fumehood` in
    /// `XDG_STATE_HOME`, or `~/.local/state/fumehood`.
    pub fn open() -> Result<Volumes, VolumeError> {
        Ok(Volumes::in_state_dir(&place::state_dir()?))
    }

    /// The volumes in another state directory.
    pub fn in_state_dir(state: &Path) -> Volumes {
        Volumes { directory: state.join("volumes") }
    }

    /// The volumes in this state directory, or in the one that the environment says.
    pub(crate) fn of(state: Option<&Path>) -> Result<Volumes, VolumeError> {
        state.map_or_else(Volumes::open, |state| Ok(Volumes::in_state_dir(state)))
    }

    /// All volumes, by name.
    pub fn list(&self) -> Result<Vec<Volume>, VolumeError> {
        let mut all = Vec::new();
        for name in self.names()? {
            let measured = tree::measure(&self.directory.join(name.as_str()).join("data"));
            let last_used = held::last_used(&self.directory.join(name.as_str()));
            // One without both was removed while we looked, or is just being made.
            if let (Ok(measured), Ok(last_used)) = (measured, last_used) {
                let size = Bytes::new(measured.bytes);
                all.push(Volume { name, size, files: measured.files, last_used });
            }
        }
        Ok(all)
    }

    /// Removes a volume with everything in it. Refused while a run uses it.
    pub fn remove(&self, name: &VolumeName) -> Result<(), VolumeError> {
        let path = self.directory.join(name.as_str());
        if !path.is_dir() {
            let known = self.names()?;
            let nearest = nearest(name.as_str(), known.iter().map(VolumeName::as_str));
            let nearest = nearest.first().map(|&name| name.to_owned());
            return Err(VolumeError::Unknown { name: name.clone(), nearest });
        }
        let alone = Use::alone(&path, name)?;
        // Gone for everybody at once, whatever happens to the rest.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let removed = self.directory.join(format!("{REMOVED}{}-{number}", std::process::id()));
        fs::rename(&path, &removed).map_err(|error| storage("removed", &path, &error))?;
        drop(alone);
        self.sweep()
    }

    /// Where a volume's content is, without symbolic links on the way. It may not be there yet.
    pub(crate) fn data(&self, name: &VolumeName) -> Result<PathBuf, VolumeError> {
        make(&self.directory)?;
        let real = fs::canonicalize(&self.directory)
            .map_err(|error| storage("found", &self.directory, &error))?;
        Ok(real.join(name.as_str()).join("data"))
    }

    /// Keeps volumes from being removed, and makes those that are not there.
    pub(crate) fn hold(&self, names: &[VolumeName]) -> Result<Held, VolumeError> {
        make(&self.directory)?;
        names.iter().map(|name| Use::shared(&self.directory.join(name.as_str()), name)).collect()
    }

    fn names(&self) -> Result<Vec<VolumeName>, VolumeError> {
        let mut names: Vec<VolumeName> = self
            .entries()?
            .iter()
            .filter(|name| self.directory.join(name).is_dir())
            .filter_map(|name| name.parse().ok())
            .collect();
        names.sort();
        Ok(names)
    }

    /// Removes what was renamed for removal, by this process or by one that did not finish.
    fn sweep(&self) -> Result<(), VolumeError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(&self.directory, flags, Mode::empty())
            .map_err(|error| storage("opened", &self.directory, &error.into()))?;
        for name in self.entries()? {
            if let (true, Ok(c_name)) = (name.starts_with(REMOVED), CString::new(name.as_str())) {
                tree::remove(&directory, &c_name)
                    .map_err(|error| storage("removed", &self.directory.join(&name), &error))?;
            }
        }
        Ok(())
    }

    fn entries(&self) -> Result<Vec<String>, VolumeError> {
        let entries = match fs::read_dir(&self.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.map_err(|error| storage("read", &self.directory, &error))?,
        };
        Ok(entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
    }
}

/// A directory for its owner alone, with those above it.
fn make(directory: &Path) -> Result<(), VolumeError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
    made.map_err(|error| storage("created", directory, &error))
}

#[cfg(test)]
mod tests;
