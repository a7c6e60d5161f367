//! Writes the two files: both or neither, whole or not at all, and over others only when told.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    process,
};

use fumehood_core::dockerfile::Generated;

use super::{BootstrapError, reason};

/// Writes `Dockerfile` and `.dockerignore` and gives their paths. Without `force` a file that is
/// there stops it before anything is written.
pub fn write(
    directory: &Path,
    generated: &Generated,
    force: bool,
) -> Result<Vec<PathBuf>, BootstrapError> {
    let files = [
        (directory.join("Dockerfile"), &generated.dockerfile),
        (directory.join(".dockerignore"), &generated.dockerignore),
    ];
    for (path, _) in &files {
        // A link that leads nowhere is there too.
        if !force && path.symlink_metadata().is_ok() {
            return Err(BootstrapError::Exists { path: path.clone() });
        }
    }
    // Both are complete on the disk before either gets its name.
    let mut staged: Vec<Staged> = Vec::new();
    for (path, text) in &files {
        let file = Staged::create(path, text).map_err(|error| unwritable(path, &error))?;
        staged.push(file);
    }
    let mut placed: Vec<PathBuf> = Vec::new();
    for file in &staged {
        if let Err(error) = file.place(force) {
            if !force {
                // These were made a moment ago, by nobody else.
                placed.iter().for_each(|path| drop(fs::remove_file(path)));
            }
            return Err(match error.kind() {
                io::ErrorKind::AlreadyExists => BootstrapError::Exists { path: file.path.clone() },
                _ => unwritable(&file.path, &error),
            });
        }
        placed.push(file.path.clone());
    }
    Ok(placed)
}

fn unwritable(path: &Path, error: &io::Error) -> BootstrapError {
    BootstrapError::Unwritable { path: path.to_owned(), reason: reason(error) }
}

/// A file beside the one that is to be, so that nobody ever sees half of it. Gone in the end.
struct Staged {
    beside: PathBuf,
    path: PathBuf,
}

impl Staged {
    fn create(path: &Path, text: &str) -> io::Result<Staged> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let beside = path.with_file_name(format!(".{name}.{}.new", process::id()));
        let mut file = OpenOptions::new().write(true).create_new(true).open(&beside)?;
        let staged = Staged { beside, path: path.to_owned() };
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        Ok(staged)
    }

    fn place(&self, force: bool) -> io::Result<()> {
        match force {
            // Replaces a link itself, not what it leads to.
            true => fs::rename(&self.beside, &self.path),
            false => take_name(&self.beside, &self.path),
        }
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // Gone already after a rename.
        let _ = fs::remove_file(&self.beside);
    }
}

/// Gives a file a name that is still free. A second name for it fails where somebody was faster;
/// file systems without second names get the next best, which is to look first.
fn take_name(file: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(file, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(_) if path.symlink_metadata().is_err() => fs::rename(file, path),
        Err(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Ok(()) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generated() -> Generated {
        Generated { dockerfile: "new\n".into(), dockerignore: "x\n".into(), found: Vec::new() }
    }

    fn entries(directory: &Path) -> usize {
        fs::read_dir(directory).unwrap().count()
    }

    #[test]
    fn either_file_stops_both() {
        for name in ["Dockerfile", ".dockerignore"] {
            let directory = tempfile::tempdir().unwrap();
            fs::write(directory.path().join(name), "old").unwrap();
            let error = write(directory.path(), &generated(), false).unwrap_err().to_string();
            for words in [name, "--force", "--print"] {
                assert!(error.contains(words), "{error}");
            }
            assert_eq!(entries(directory.path()), 1);
            assert_eq!(fs::read_to_string(directory.path().join(name)).unwrap(), "old");
        }
    }

    #[test]
    fn a_second_file_that_cannot_be_written_stops_the_first() {
        let directory = tempfile::tempdir().unwrap();
        let taken = format!("..dockerignore.{}.new", process::id());
        fs::create_dir(directory.path().join(taken)).unwrap();
        let error = write(directory.path(), &generated(), false).unwrap_err();
        assert!(matches!(error, BootstrapError::Unwritable { .. }), "{error}");
        assert_eq!(entries(directory.path()), 1);
    }

    #[test]
    fn force_overwrites_and_leaves_nothing_beside() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("Dockerfile"), "old").unwrap();
        write(directory.path(), &generated(), true).unwrap();
        assert_eq!(fs::read_to_string(directory.path().join("Dockerfile")).unwrap(), "new\n");
        assert_eq!(entries(directory.path()), 2);
    }

    #[test]
    fn a_name_that_was_taken_meanwhile_is_respected() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("Dockerfile");
        fs::write(&path, "old").unwrap();
        let staged = Staged::create(&path, "new").unwrap();
        let error = staged.place(false).unwrap_err();
        drop(staged);
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(entries(directory.path()), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_replaced_and_never_written_through() {
        let directory = tempfile::tempdir().unwrap();
        let outside = directory.path().join("outside");
        fs::write(&outside, "precious").unwrap();
        std::os::unix::fs::symlink(&outside, directory.path().join("Dockerfile")).unwrap();
        assert!(write(directory.path(), &generated(), false).is_err());
        write(directory.path(), &generated(), true).unwrap();
        assert_eq!(fs::read_to_string(&outside).unwrap(), "precious");
    }
}
