//! A root file system, put in order: nothing in it depends on when, where or by whom it was made,
//! and nothing is in it that a box has no use for.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsStr,
    fs::File,
    io::{self, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write},
    os::unix::ffi::OsStrExt as _,
    path::Path,
};

use fumehood_core::{Bytes, Digest, DigestBuilder};
use tar::{Archive, Builder, EntryType, Header};

/// An archive in order.
pub(super) struct Ordered {
    pub(super) digest: Digest,
    pub(super) size: Bytes,
}

/// Something of a root file system.
struct Item {
    kind: Kind,
    mode: u32,
    owner: (u64, u64),
}

enum Kind {
    Directory,
    /// Its content is at this place of the archive. Several names may have the same.
    File {
        at: u64,
        size: u64,
    },
    Symlink(Vec<u8>),
}

/// Directories whose content is made when a machine starts, or belongs to one machine.
const EMPTY: &[&str] = &["dev", "proc", "run", "sys", "tmp", "var/tmp"];
/// Directories that keep their directories and lose their files: what can be made again, what
/// happened, translations and manuals.
const WITHOUT_FILES: &[&str] = &[
    "etc/apt/sources.list.d",
    "usr/share/info",
    "usr/share/lintian",
    "usr/share/locale",
    "usr/share/man",
    "var/cache",
    "var/lib/apt/lists",
    "var/log",
];
/// Files of one machine or one build.
const DROPPED: &[&str] = &[
    "etc/apt/apt.conf.d/99mmdebstrap",
    "etc/apt/sources.list",
    "etc/group-",
    "etc/gshadow-",
    "etc/hostname",
    "etc/hosts",
    "etc/machine-id",
    "etc/passwd-",
    "etc/resolv.conf",
    "etc/shadow-",
    "etc/subgid-",
    "etc/subuid-",
    "var/lib/dbus/machine-id",
    "var/lib/dpkg/available",
    "var/lib/dpkg/diversions-old",
    "var/lib/dpkg/lock",
    "var/lib/dpkg/lock-frontend",
    "var/lib/dpkg/statoverride-old",
    "var/lib/dpkg/status-old",
    "var/lib/systemd/random-seed",
];

/// Reads one archive and writes another that is in order. No file in it is newer than the epoch.
pub(super) fn normalise(from: &Path, to: &Path, epoch: u64) -> io::Result<Ordered> {
    let mut source = File::open(from)?;
    let items = read(&source)?;
    let out = Counting {
        inner: BufWriter::new(File::create(to)?),
        digest: DigestBuilder::default(),
        size: 0,
    };
    let mut builder = Builder::new(out);
    let mut written: HashMap<u64, &[u8]> = HashMap::new();
    for (path, item) in &items {
        let mut header = Header::new_gnu();
        header.set_mode(item.mode);
        header.set_uid(item.owner.0);
        header.set_gid(item.owner.1);
        header.set_mtime(epoch);
        header.set_size(0);
        let place = as_path(path);
        match &item.kind {
            Kind::Directory => {
                header.set_entry_type(EntryType::Directory);
                builder.append_data(&mut header, place, io::empty())?;
            }
            Kind::Symlink(target) => {
                header.set_entry_type(EntryType::Symlink);
                builder.append_link(&mut header, place, as_path(target))?;
            }
            Kind::File { at, size } => {
                if let Some(first) = written.get(at) {
                    header.set_entry_type(EntryType::Link);
                    builder.append_link(&mut header, place, as_path(first))?;
                    continue;
                }
                written.insert(*at, path);
                header.set_entry_type(EntryType::Regular);
                header.set_size(*size);
                source.seek(SeekFrom::Start(*at))?;
                builder.append_data(&mut header, place, BufReader::new((&source).take(*size)))?;
            }
        }
    }
    let mut out = builder.into_inner()?;
    out.flush()?;
    Ok(Ordered { digest: out.digest.finish(), size: Bytes::new(out.size) })
}

/// Everything that stays, by path.
fn read(source: &File) -> io::Result<BTreeMap<Vec<u8>, Item>> {
    let mut archive = Archive::new(source);
    let mut contents: HashMap<Vec<u8>, (u64, u64)> = HashMap::new();
    let mut items = BTreeMap::new();
    for entry in archive.entries_with_seek()? {
        let entry = entry?;
        let header = entry.header();
        let path = plain(&entry.path_bytes());
        let link = || entry.link_name_bytes().map(|link| link.into_owned()).unwrap_or_default();
        let kind = match header.entry_type() {
            EntryType::Directory => Kind::Directory,
            EntryType::Regular | EntryType::Continuous => {
                let place = (entry.raw_file_position(), entry.size());
                contents.insert(path.clone(), place);
                Kind::File { at: place.0, size: place.1 }
            }
            EntryType::Symlink => Kind::Symlink(link()),
            EntryType::Link => {
                let target = plain(&link());
                let found = contents.get(&target).copied();
                let (at, size) =
                    found.ok_or_else(|| strange(&path, "links to what is not there"))?;
                contents.insert(path.clone(), (at, size));
                Kind::File { at, size }
            }
            // A box has devices of its own.
            EntryType::Char | EntryType::Block | EntryType::Fifo => continue,
            _ => return Err(strange(&path, "is of a kind that no root file system has")),
        };
        if !stays(&path, &kind) {
            continue;
        }
        // Nobody gains rights in a box.
        let clear = if matches!(kind, Kind::Directory) { 0 } else { 0o6000 };
        let mode = header.mode()? & 0o7777 & !clear;
        items.insert(path, Item { kind, mode, owner: (header.uid()?, header.gid()?) });
    }
    if items.is_empty() {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it is empty"));
    }
    Ok(items)
}

fn strange(path: &[u8], what: &str) -> io::Error {
    let text = format!("{} {what}", String::from_utf8_lossy(path));
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// Without what stands before and behind the names.
fn plain(path: &[u8]) -> Vec<u8> {
    let path = path.strip_prefix(b"./").unwrap_or(path);
    let start = path.iter().position(|byte| *byte != b'/').unwrap_or(path.len());
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(start, |at| at + 1);
    let inner = &path[start..end.max(start)];
    if inner == b"." { Vec::new() } else { inner.to_vec() }
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

fn stays(path: &[u8], kind: &Kind) -> bool {
    // A name that is not text belongs to no package.
    let Ok(path) = std::str::from_utf8(path) else { return false };
    let below =
        |directory: &&str| path.strip_prefix(*directory).is_some_and(|rest| rest.starts_with('/'));
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_file = matches!(kind, Kind::File { .. });
    if path.is_empty() || EMPTY.iter().any(&below) {
        return false;
    }
    if DROPPED.contains(&path) || path.starts_with("etc/ssh/ssh_host_") {
        return false;
    }
    if !matches!(kind, Kind::Directory) && WITHOUT_FILES.iter().any(&below) {
        return false;
    }
    // The licences stay.
    if is_file && below(&"usr/share/doc") && name != "copyright" {
        return false;
    }
    // Compiled Python names the time of its source, which was changed here.
    !(path.split('/').any(|part| part == "__pycache__") || (is_file && name.ends_with(".pyc")))
}

/// Counts and digests what passes.
struct Counting<W> {
    inner: W,
    digest: DigestBuilder,
    size: u64,
}

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.digest.update(&bytes[..written]);
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests;
