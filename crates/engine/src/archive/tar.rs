//! Tar archives. Extension headers are read here, within limits: the `tar` crate would read them
//! into memory however long they are.

use std::io::Read;

use tar::{Archive, Entry, EntryType, Header, PaxExtensions};

use super::{
    Refusal,
    entry::EntryPath,
    error::Refused,
    gauge::Gauge,
    ground::{Ground, read_short},
};

/// The longest extension header; real ones are a few hundred bytes.
const LONGEST_EXTENSION: usize = 1 << 20;

/// Unpacks everything.
pub(super) fn unpack(
    archive: impl Read,
    ground: &mut Ground,
    gauge: &mut Gauge<'_>,
) -> Result<(), Refused> {
    let damaged = |error: std::io::Error| Refused::whole(Refusal::of_reading(&error));
    let mut archive = Archive::new(archive);
    let mut extended = Extended::default();
    for entry in archive.entries().map_err(damaged)?.raw(true) {
        let mut entry = entry.map_err(damaged)?;
        let named = entry.header().path_bytes().into_owned();
        let refused = |refusal| Refused::entry(extended.name.as_deref().unwrap_or(&named), refusal);
        if is_extension(entry.header().entry_type()) {
            gauge.entry(0).map_err(refused)?;
            extended.read(&mut entry).map_err(|refusal| Refused::entry(&named, refusal))?;
            continue;
        }
        one(&mut entry, &extended, ground, gauge).map_err(refused)?;
        extended = Extended { global: extended.global, ..Extended::default() };
    }
    Ok(())
}

fn is_extension(kind: EntryType) -> bool {
    matches!(
        kind,
        EntryType::GNULongName
            | EntryType::GNULongLink
            | EntryType::XHeader
            | EntryType::XGlobalHeader
    )
}

fn one(
    entry: &mut Entry<'_, impl Read>,
    extended: &Extended,
    ground: &mut Ground,
    gauge: &mut Gauge<'_>,
) -> Result<(), Refusal> {
    let header = entry.header().clone();
    let damaged = |error: std::io::Error| Refusal::of_reading(&error);
    let size = header.entry_size().map_err(damaged)?;
    extended.check_size(size)?;
    let name = extended.name.clone().unwrap_or_else(|| header.path_bytes().into_owned());
    let target = extended.target(&header);
    gauge.entry(name.len() + target.as_ref().map_or(0, Vec::len))?;
    let kind = header.entry_type();
    let path = EntryPath::new(&name, gauge.limits)?;
    let is_directory = kind.is_dir() || (kind.is_file() && name.ends_with(b"/"));
    let path = match path {
        Some(path) => path,
        // The directory itself: there already.
        None if is_directory => return Ok(()),
        None => return Err(Refusal::Nameless),
    };
    if is_directory {
        if size > 0 {
            return Err(Refusal::Ambiguous { detail: "a directory with content" });
        }
        return ground.directory(&path);
    }
    match kind {
        EntryType::Regular | EntryType::Continuous => {
            gauge.room_for(size, size)?;
            let executable = header.mode().map_err(damaged)? & 0o111 != 0;
            let count = |more, length| gauge.bytes(more, length);
            let length = ground.file(&path, executable, entry, count)?;
            if length < size {
                return Err(Refusal::Damaged { reason: "it ends early".into() });
            }
            Ok(())
        }
        EntryType::Symlink => {
            let target = target.ok_or(Refusal::Nameless)?;
            path.check_target(&target, gauge.limits)?;
            ground.symbolic_link(&path, &target)
        }
        EntryType::Link => {
            let target = target.ok_or(Refusal::HardLink)?;
            // An absolute or upward one leads outside, which is the worse thing to say.
            let to = EntryPath::new(&target, gauge.limits).ok().flatten();
            ground.hard_link(&path, &to.ok_or(Refusal::HardLink)?)
        }
        EntryType::Char | EntryType::Block => Err(Refusal::Special { kind: "device" }),
        EntryType::Fifo => Err(Refusal::Special { kind: "named pipe" }),
        EntryType::GNUSparse => Err(Refusal::Special { kind: "sparse file" }),
        _ => Err(Refusal::Special { kind: "thing of an unknown kind" }),
    }
}

/// What extension headers say about the next entry.
#[derive(Default)]
struct Extended {
    name: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
    size: Option<Vec<u8>>,
    sparse: bool,
    /// Whether there was one that speaks of all entries to come.
    global: bool,
}

impl Extended {
    fn read(&mut self, entry: &mut Entry<'_, impl Read>) -> Result<(), Refusal> {
        let kind = entry.header().entry_type();
        let mut bytes = read_short(entry, LONGEST_EXTENSION)?;
        match kind {
            EntryType::GNULongName => {
                trim_end(&mut bytes);
                set(&mut self.name, bytes)
            }
            EntryType::GNULongLink => {
                trim_end(&mut bytes);
                set(&mut self.target, bytes)
            }
            // What programs write there (a commit, a time) does not matter here. What would change
            // the entries is refused below.
            EntryType::XGlobalHeader => self.records(&bytes, true),
            _ => self.records(&bytes, false),
        }
    }

    fn records(&mut self, bytes: &[u8], global: bool) -> Result<(), Refusal> {
        for record in PaxExtensions::new(bytes) {
            let record = record.map_err(|error| Refusal::of_reading(&error))?;
            let value = record.value_bytes().to_vec();
            match record.key_bytes() {
                b"path" | b"linkpath" | b"size" if global => {
                    return Err(Refusal::Ambiguous { detail: "one header for all entries" });
                }
                b"path" => set(&mut self.name, value)?,
                b"linkpath" => set(&mut self.target, value)?,
                b"size" => set(&mut self.size, value)?,
                key if key.starts_with(b"GNU.sparse") => self.sparse = true,
                _ => {}
            }
        }
        self.global |= global;
        Ok(())
    }

    /// Readers differ in which of two sizes they believe, and then see different entries.
    fn check_size(&self, size: u64) -> Result<(), Refusal> {
        if self.sparse {
            return Err(Refusal::Special { kind: "sparse file" });
        }
        match &self.size {
            Some(said) if *said != size.to_string().as_bytes() => {
                Err(Refusal::Ambiguous { detail: "two sizes" })
            }
            _ => Ok(()),
        }
    }

    fn target(&self, header: &Header) -> Option<Vec<u8>> {
        self.target.clone().or_else(|| header.link_name_bytes().map(|name| name.into_owned()))
    }
}

/// Sets what may be said once.
fn set(place: &mut Option<Vec<u8>>, value: Vec<u8>) -> Result<(), Refusal> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(Refusal::Ambiguous { detail: "two names or sizes" }),
    }
}

/// GNU names end with a NUL.
fn trim_end(bytes: &mut Vec<u8>) {
    if bytes.last() == Some(&0) {
        bytes.pop();
    }
}
