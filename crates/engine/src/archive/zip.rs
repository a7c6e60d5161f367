//! Zip archives. The list at the end is what counts; what stands before each file must agree.

use std::{
    cell::Cell,
    io::{self, BufReader, Read, Seek, SeekFrom},
    rc::Rc,
};

use zip::{ZipArchive, read::ZipFile, result::ZipError};

use super::{
    Refusal,
    entry::EntryPath,
    error::Refused,
    gauge::Gauge,
    ground::{Ground, read_short},
};

/// Parts of a Unix mode.
const KIND: u32 = 0o170_000;
const DIRECTORY: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_000;

/// How much may be read for one entry of the list, with its name and what is beside it.
const LIST_BYTES_PER_ENTRY: u64 = 256;

/// Unpacks everything.
pub(super) fn unpack(
    archive: impl Read + Seek,
    ground: &mut Ground,
    gauge: &mut Gauge<'_>,
) -> Result<(), Refused> {
    let entries = gauge.limits.entries;
    let most = entries.saturating_mul(LIST_BYTES_PER_ENTRY).max(1 << 20);
    let budget = Rc::new(Cell::new(most));
    let reader = BufReader::new(Budgeted { inner: archive, left: Rc::clone(&budget), most });
    let whole = |error: ZipError| Refused::whole(refusal(error));
    let mut archive = ZipArchive::new(reader).map_err(whole)?;
    // The list is read; from here on the content has limits of its own.
    budget.set(u64::MAX);
    if archive.has_duplicate_names() {
        return Err(Refused::whole(Refusal::Ambiguous { detail: "one name twice" }));
    }
    if archive.len() as u64 > entries {
        return Err(Refused::whole(Refusal::Many { most: entries }));
    }
    if archive.has_overlapping_files().map_err(whole)? {
        return Err(Refused::whole(Refusal::Ambiguous { detail: "files that overlap" }));
    }
    for index in 0..archive.len() {
        let (name, encrypted) = {
            let listed = archive.by_index_data(index).map_err(whole)?;
            (listed.name_raw().to_vec(), listed.encrypted())
        };
        let refused = |refusal| Refused::entry(&name, refusal);
        if encrypted {
            return Err(refused(Refusal::Encrypted));
        }
        let mut entry = archive.by_index(index).map_err(|error| refused(refusal(error)))?;
        one(&mut entry, &name, ground, gauge).map_err(refused)?;
    }
    Ok(())
}

fn one(
    entry: &mut ZipFile<'_, impl Read>,
    name: &[u8],
    ground: &mut Ground,
    gauge: &mut Gauge<'_>,
) -> Result<(), Refusal> {
    let limits = gauge.limits;
    gauge.entry(name.len())?;
    let mode = entry.unix_mode().unwrap_or(0);
    let path = EntryPath::new(name, limits)?;
    let is_directory = name.ends_with(b"/") || mode & KIND == DIRECTORY;
    let path = match path {
        Some(path) => path,
        None if is_directory => return Ok(()),
        None => return Err(Refusal::Nameless),
    };
    if is_directory {
        if entry.size() > 0 {
            return Err(Refusal::Ambiguous { detail: "a directory with content" });
        }
        return ground.directory(&path);
    }
    match mode & KIND {
        0 | FILE => {
            gauge.room_for(entry.size(), entry.size())?;
            let (said, packed) = (entry.size(), entry.compressed_size());
            let check = |more: usize, length: u64| {
                Gauge::ratio(limits, length, packed)?;
                if length > said {
                    return Err(Refusal::Ambiguous { detail: "longer than it says" });
                }
                gauge.bytes(more, length)
            };
            let length = ground.file(&path, mode & 0o111 != 0, entry, check)?;
            if length < said {
                return Err(Refusal::Damaged { reason: "it ends early".into() });
            }
            Ok(())
        }
        LINK => {
            let target = read_short(entry, limits.path)?;
            path.check_target(&target, limits)?;
            ground.symbolic_link(&path, &target)
        }
        _ => Err(Refusal::Special { kind: "device, pipe or socket" }),
    }
}

fn refusal(error: ZipError) -> Refusal {
    match error {
        ZipError::Io(error) => Refusal::of_reading(&error),
        ZipError::CompressionMethodNotSupported(_) => Refusal::Method,
        ZipError::UnsupportedArchive(reason) if reason == ZipError::PASSWORD_REQUIRED => {
            Refusal::Encrypted
        }
        error => Refusal::of_reading(&io::Error::other(error.to_string())),
    }
}

/// A reader that gives so much and no more. The list of a zip is read into memory; a list without
/// end must not be.
struct Budgeted<R> {
    inner: R,
    left: Rc<Cell<u64>>,
    most: u64,
}

impl<R: Read> Read for Budgeted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        match self.left.get().checked_sub(count as u64) {
            Some(left) => self.left.set(left),
            None => return Err(io::Error::other(Refusal::Names { most: self.most })),
        }
        Ok(count)
    }
}

impl<R: Seek> Seek for Budgeted<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}
