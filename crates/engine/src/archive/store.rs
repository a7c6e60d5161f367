//! Where unpacked archives are kept, and the way there: digest, private copy, unpacking, rename.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufReader, Read, Seek as _, Write},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use flate2::read::MultiGzDecoder;
use rustix::fs::OFlags;

use super::{
    ArchiveError, UnpackLimits,
    error::{Refusal, Refused},
    gauge::{Counting, Gauge, Guarded},
    ground::Ground,
    kind::Kind,
    tar, zip,
};
use crate::{
    Digest, DigestBuilder, Error,
    run::store::{Staging, Turn, is_there, storage},
};

/// Longer than unpacking the largest archive takes; whoever does it holds the lock.
const PATIENCE: Duration = Duration::from_secs(300);

/// The directory with the content of an archive, unpacked now or before. Its path is real.
pub(crate) fn unpacked(
    archive: &Path,
    cache: &Path,
    limits: &UnpackLimits,
) -> Result<PathBuf, Error> {
    let mut source = Source::open(archive, limits)?;
    let kind = source.kind()?;
    let digest = source.copy(&mut io::sink())?;
    let store = cache.join("unpacked").join(digest.as_str());
    if !is_there(&store) {
        let _turn = Turn::wait(&store, PATIENCE)?;
        if !is_there(&store) {
            make(&mut source, kind, &digest, &store)?;
        }
    }
    fs::canonicalize(&store).map_err(|error| storage("found", &store, &error))
}

fn make(source: &mut Source<'_>, kind: Kind, digest: &Digest, store: &Path) -> Result<(), Error> {
    let staging = Staging::new(store)?;
    // From a copy that nobody else can write to: what is kept under a digest must have it.
    let mut copy = anonymous_file(&staging.path).map_err(|e| storage("created", store, &e))?;
    if source.copy(&mut copy)? != *digest {
        return Err(ArchiveError::Changed { path: source.path.to_owned() }.into());
    }
    copy.rewind().map_err(|error| storage("read", store, &error))?;
    let done = unpack(copy, kind, &staging.path, source.limits);
    done.map_err(|Refused { entry, refusal }| match entry {
        Some(entry) => ArchiveError::Entry { path: source.path.to_owned(), entry, refusal },
        None => ArchiveError::Whole { path: source.path.to_owned(), refusal },
    })?;
    staging.publish(store)
}

fn unpack(copy: File, kind: Kind, directory: &Path, limits: &UnpackLimits) -> Result<(), Refused> {
    let cannot = |error| Refused::whole(Refusal::of_writing(error));
    let mut ground = Ground::new(directory).map_err(cannot)?;
    let mut gauge = Gauge::new(limits);
    match kind {
        Kind::Tar => tar::unpack(BufReader::new(copy), &mut ground, &mut gauge)?,
        Kind::TarGz => {
            let (counting, count) = Counting::new(copy);
            let decoder = MultiGzDecoder::new(counting);
            let guarded = Guarded::new(decoder, count, limits);
            tar::unpack(BufReader::new(guarded), &mut ground, &mut gauge)?;
        }
        Kind::Zip => zip::unpack(copy, &mut ground, &mut gauge)?,
    }
    ground.finish()
}

/// A file without a name.
fn anonymous_file(directory: &Path) -> io::Result<File> {
    let path = directory.with_extension("archive");
    let file =
        OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}

/// The archive as the caller named it.
struct Source<'a> {
    path: &'a Path,
    file: File,
    limits: &'a UnpackLimits,
}

impl<'a> Source<'a> {
    fn open(path: &'a Path, limits: &'a UnpackLimits) -> Result<Source<'a>, Error> {
        // A pipe in its place must not hold us up.
        let flags = OFlags::NONBLOCK.bits() as i32;
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
        let file = opened.map_err(|error| unreadable(path, &error))?;
        let about = file.metadata().map_err(|error| unreadable(path, &error))?;
        if !about.is_file() {
            return Err(ArchiveError::Unknown { path: path.to_owned() }.into());
        }
        let source = Source { path, file, limits };
        if about.len() > limits.archive {
            return Err(source.too_large());
        }
        Ok(source)
    }

    fn kind(&mut self) -> Result<Kind, Error> {
        let mut start = Vec::new();
        let read = (&self.file).take(Kind::NEEDED as u64).read_to_end(&mut start);
        read.map_err(|error| unreadable(self.path, &error))?;
        Kind::of(&start).ok_or_else(|| ArchiveError::Unknown { path: self.path.to_owned() }.into())
    }

    /// Copies everything; gives the digest of what was copied.
    fn copy(&mut self, to: &mut impl Write) -> Result<Digest, Error> {
        let failed = |error: io::Error| unreadable(self.path, &error);
        self.file.rewind().map_err(failed)?;
        let mut digest = DigestBuilder::default();
        let mut buffer = vec![0; 256 << 10];
        let mut length = 0;
        loop {
            let count = match self.file.read(&mut buffer) {
                Ok(0) => return Ok(digest.finish()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.map_err(failed)?,
            };
            // It may grow while it is read.
            length += count as u64;
            if length > self.limits.archive {
                return Err(self.too_large());
            }
            let piece = buffer.get(..count).unwrap_or_default();
            digest.update(piece);
            to.write_all(piece).map_err(|error| storage("copied", self.path, &error))?;
        }
    }

    fn too_large(&self) -> Error {
        let path = self.path.to_owned();
        ArchiveError::TooLarge { path, most: self.limits.archive }.into()
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    ArchiveError::Unreadable { path: path.to_owned(), reason: error.to_string() }.into()
}
