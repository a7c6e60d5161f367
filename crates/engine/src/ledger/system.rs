//! Opening files that only this user may write, on each kind of system.

use std::{
    fs::{File, OpenOptions},
    path::Path,
};

use super::error::{LedgerError, system};

/// Opens a file to read it, write it and add to it; makes it if it is not there.
pub(super) fn open_own(path: &Path, append: bool) -> Result<File, LedgerError> {
    let mut options = OpenOptions::new();
    options.read(true).create(true);
    if append {
        options.append(true)
    } else {
        options.write(true).truncate(false)
    };
    let file = only_ours(&mut options).open(path).map_err(|error| refused(path, error))?;
    check_file(&file, path)?;
    Ok(file)
}

/// Opens a file to read it. Who may write it does not matter for that.
pub(super) fn open_to_read(path: &Path) -> Result<Option<File>, LedgerError> {
    match only_ours(OpenOptions::new().read(true)).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(refused(path, error)),
    }
}

/// Makes the directory, or checks the one that is there.
pub(super) fn own_directory(path: &Path) -> Result<(), LedgerError> {
    if !path.exists() {
        create_directory(path).map_err(system("created", path))?;
    }
    let metadata = path.symlink_metadata().map_err(system("looked at", path))?;
    if !metadata.is_dir() {
        return Err(not_ours(path, "is not a directory but a link or a file", "move it away"));
    }
    check_owner(&metadata, path)
}

fn check_file(file: &File, path: &Path) -> Result<(), LedgerError> {
    let metadata = file.metadata().map_err(system("looked at", path))?;
    if !metadata.is_file() {
        return Err(not_ours(path, "is not a regular file", "move it away"));
    }
    check_owner(&metadata, path)
}

fn not_ours(path: &Path, why: &'static str, remedy: &'static str) -> LedgerError {
    LedgerError::NotOurs { path: path.to_owned(), why, remedy }
}

#[cfg(unix)]
mod kind {
    use std::{
        fs::{self, File, Metadata, OpenOptions},
        io,
        os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _},
        path::Path,
    };

    use super::{LedgerError, not_ours, system};

    /// Links are not followed, and nothing waits for the other end of a pipe.
    pub(in super::super) fn only_ours(options: &mut OpenOptions) -> &mut OpenOptions {
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.mode(0o600).custom_flags(flags.bits().cast_signed())
    }

    pub(super) fn refused(path: &Path, error: io::Error) -> LedgerError {
        if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
            return not_ours(path, "is a symbolic link", "move it away");
        }
        system("opened", path)(error)
    }

    pub(super) fn create_directory(path: &Path) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
    }

    pub(super) fn check_owner(metadata: &Metadata, path: &Path) -> Result<(), LedgerError> {
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            let remedy = "set FUMEHOOD_STATE_DIR to a directory of your own";
            return Err(not_ours(path, "belongs to another user", remedy));
        }
        if metadata.mode() & 0o022 != 0 {
            let remedy = "take that right away with `chmod go-w`";
            return Err(not_ours(path, "can be written by other users", remedy));
        }
        Ok(())
    }

    /// Whether an open file is still the one at its path.
    pub(in super::super) fn is_at(file: &File, path: &Path) -> bool {
        let identity = |metadata: Metadata| (metadata.dev(), metadata.ino());
        let opened = file.metadata().map(identity).ok();
        opened.is_some() && opened == path.symlink_metadata().map(identity).ok()
    }
}

#[cfg(not(unix))]
mod kind {
    use std::{
        fs::{self, File, Metadata, OpenOptions},
        io,
        path::Path,
    };

    use super::{LedgerError, system};

    pub(in super::super) fn only_ours(options: &mut OpenOptions) -> &mut OpenOptions {
        options
    }

    pub(super) fn refused(path: &Path, error: io::Error) -> LedgerError {
        system("opened", path)(error)
    }

    pub(super) fn create_directory(path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    /// The state directory is below the user's own, whose rights are inherited.
    pub(super) fn check_owner(_: &Metadata, _: &Path) -> Result<(), LedgerError> {
        Ok(())
    }

    /// A file that is open cannot be replaced here.
    pub(in super::super) fn is_at(_: &File, path: &Path) -> bool {
        path.exists()
    }
}

use kind::{check_owner, create_directory, refused};
pub(super) use kind::{is_at, only_ours};
