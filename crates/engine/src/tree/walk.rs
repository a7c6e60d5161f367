//! One directory at a time: down by name, up by `..`, which is checked to be where we came from.

use std::ffi::{CStr, CString};

use rustix::{
    fd::{AsFd, AsRawFd as _, OwnedFd},
    fs::{
        AtFlags, CWD, Dir, Mode, OFlags, ResolveFlags, Stat, chmodat, fchmod, fstat, openat,
        openat2, statat,
    },
    io::Errno,
};

/// What is done about a directory of ours that we may not read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Closed {
    /// It stays as it is and cannot be entered.
    Leave,
    /// Its owner gets all rights to it.
    Open,
}

/// Where a walk is. However deep that is, one directory is open.
pub(super) struct Walk {
    here: OwnedFd,
    /// The directories above, and under which name we left each.
    above: Vec<Level>,
    closed: Closed,
}

struct Level {
    identity: (u64, u64),
    name: CString,
}

impl Walk {
    /// Begins at a directory below another.
    pub(super) fn begin(parent: impl AsFd, name: &CStr, closed: Closed) -> Result<Walk, Errno> {
        Ok(Walk { here: open(parent, name, closed)?, above: Vec::new(), closed })
    }

    /// The directory that the walk is in.
    pub(super) fn here(&self) -> &OwnedFd {
        &self.here
    }

    /// What is in it.
    pub(super) fn entries(&self) -> Result<Dir, Errno> {
        Dir::read_from(&self.here)
    }

    /// Goes into a directory.
    pub(super) fn enter(&mut self, name: &CStr) -> Result<(), Errno> {
        let below = open(&self.here, name, self.closed)?;
        let identity = identity(&fstat(&self.here)?);
        // The way back must be there before the way down is taken.
        if self::identity(&statat(&below, c"..", AtFlags::empty())?) != identity {
            return Err(Errno::STALE);
        }
        self.above.push(Level { identity, name: name.to_owned() });
        self.here = below;
        Ok(())
    }

    /// Goes back up; gives the name of the directory that was left, or nothing at the top. If the
    /// directory was moved meanwhile, `..` leads elsewhere, and the walk fails instead.
    pub(super) fn leave(&mut self) -> Result<Option<CString>, Errno> {
        let Some(level) = self.above.pop() else { return Ok(None) };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let up = openat(&self.here, c"..", flags, Mode::empty())?;
        if identity(&fstat(&up)?) != level.identity {
            return Err(Errno::STALE);
        }
        self.here = up;
        Ok(Some(level.name))
    }
}

/// What tells one file from another.
pub(super) fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

/// Opens a directory by its name alone: no link, no way up, nothing mounted there.
fn open(parent: impl AsFd, name: &CStr, closed: Closed) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    let open = |access: OFlags| {
        let flags = access | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat2(&parent, name, flags, Mode::empty(), resolve)
    };
    let directory = match open(OFlags::RDONLY) {
        Err(Errno::ACCESS) if closed == Closed::Open => {
            let handle = open(OFlags::PATH)?;
            // A handle cannot be changed directly, but what it stands for has a name here.
            let path = format!("/proc/self/fd/{}", handle.as_raw_fd());
            chmodat(CWD, path.as_str(), Mode::RWXU, AtFlags::empty())?;
            open(OFlags::RDONLY)?
        }
        opened => opened?,
    };
    if closed == Closed::Open {
        let mode = Mode::from_raw_mode(fstat(&directory)?.st_mode);
        if !mode.contains(Mode::RWXU) {
            // Root needs no rights, and may not be able to give them on every file system.
            match fchmod(&directory, Mode::RWXU) {
                Err(_) if rustix::process::geteuid().is_root() => {}
                changed => changed?,
            }
        }
    }
    Ok(directory)
}
