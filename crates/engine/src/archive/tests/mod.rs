//! Archives of every kind, good and hostile, made here with the crates that read them or by hand.

mod bombs;
mod hostile_tar;
mod hostile_zip;
mod plain;
mod random;

use std::{
    fs,
    path::{Path, PathBuf},
};

use tar::{Builder, EntryType, Header};
use tempfile::TempDir;

use super::{ArchiveError, Refusal, UnpackLimits, unpacked};
use crate::Error;

/// A directory with an archive in it, and what must not change around it.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Place {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("cache")).unwrap();
        Place { directory }
    }

    fn cache(&self) -> PathBuf {
        self.directory.path().join("cache")
    }

    fn archive(&self, content: &[u8]) -> PathBuf {
        let path = self.directory.path().join("archive");
        fs::write(&path, content).unwrap();
        path
    }

    fn unpack(&self, content: &[u8]) -> Result<PathBuf, Error> {
        self.unpack_within(content, &UnpackLimits::default())
    }

    fn unpack_within(&self, content: &[u8], limits: &UnpackLimits) -> Result<PathBuf, Error> {
        unpacked(&self.archive(content), &self.cache(), limits)
    }

    /// Everything below the directory, as paths.
    fn everything(&self) -> Vec<PathBuf> {
        let mut all = Vec::new();
        let mut pending = vec![self.directory.path().to_owned()];
        while let Some(directory) = pending.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if fs::symlink_metadata(&path).unwrap().is_dir() {
                    pending.push(path.clone());
                }
                all.push(path.strip_prefix(self.directory.path()).unwrap().to_owned());
            }
        }
        all.sort();
        all
    }
}

/// Unpacks, expects a refusal of this entry, and that nothing is left.
#[track_caller]
fn assert_refused(content: &[u8], limits: &UnpackLimits, entry: Option<&str>, refusal: &Refusal) {
    let place = Place::new();
    let error = match place.unpack_within(content, limits) {
        Err(Error::Archive(error)) => error,
        other => panic!("not refused: {other:?}"),
    };
    match (&error, entry) {
        (ArchiveError::Entry { entry: named, refusal: given, .. }, Some(entry)) => {
            assert_eq!((named.as_str(), given), (entry, refusal), "{error}");
        }
        (ArchiveError::Whole { refusal: given, .. }, None) => assert_eq!(given, refusal, "{error}"),
        _ => panic!("{error}"),
    }
    let left: Vec<PathBuf> = ["archive", "cache", "cache/unpacked"].map(PathBuf::from).to_vec();
    assert_eq!(place.everything(), left, "nothing is left behind");
}

fn header(kind: EntryType, size: u64, mode: u32) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(mode);
    header
}

/// A tar with whatever is put into it.
fn tar_of(fill: impl FnOnce(&mut Builder<Vec<u8>>)) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    fill(&mut builder);
    builder.into_inner().unwrap()
}

fn add_file(tar: &mut Builder<Vec<u8>>, name: &str, content: &[u8]) {
    let mut header = header(EntryType::Regular, content.len() as u64, 0o644);
    tar.append_data(&mut header, name, content).unwrap();
}

fn add_link(tar: &mut Builder<Vec<u8>>, kind: EntryType, name: &str, target: &str) {
    let mut header = header(kind, 0, 0o777);
    tar.append_link(&mut header, name, target).unwrap();
}

/// An entry with a name that the crate itself would refuse to write.
fn add_raw(tar: &mut Builder<Vec<u8>>, kind: EntryType, name: &[u8], target: &[u8]) {
    let mut header = header(kind, 0, 0o644);
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.as_old_mut().linkname[..target.len()].copy_from_slice(target);
    header.set_cksum();
    tar.append(&header, &b""[..]).unwrap();
}

fn read(directory: &Path, name: &str) -> String {
    fs::read_to_string(directory.join(name)).unwrap()
}
