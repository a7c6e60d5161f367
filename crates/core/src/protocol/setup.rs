//! How a box is to be built: the plan, reduced to what the launcher or the init of a container
//! carries out.

use alloc::{string::String, vec::Vec};

use super::{
    DecodeError, Lend,
    wire::{Reader, Writer},
};
use crate::Layer;

/// A host file or directory that appears in the box, with everything mounted below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindMount {
    /// Host path; must have no symbolic link in it.
    pub source: String,
    /// Path in the box.
    pub target: String,
    /// Whether it may be written.
    pub writable: bool,
    /// Whether what belongs to the caller belongs to the program inside.
    pub owned: bool,
    /// Whether a missing source is left out instead of being an error.
    pub optional: bool,
}

/// A host directory that the box sees as a copy: what it changes goes to the storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlayMount {
    /// The directory; must have no symbolic link in its path.
    pub lower: String,
    /// A directory that holds two more on one file system, `upper` for the changes and `work` for
    /// the kernel; must have no symbolic link in its path.
    pub storage: String,
    /// Path in the box.
    pub target: String,
}

/// A small file in the box's root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupFile {
    /// Path in the box.
    pub path: String,
    /// Permission bits.
    pub mode: u32,
    /// What is in it.
    pub content: Vec<u8>,
}

/// A symbolic link in the box's root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupLink {
    /// Path in the box.
    pub path: String,
    /// What it points to.
    pub target: String,
}

/// A resource that the kernel limits per process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Open files.
    OpenFiles,
    /// Size of one file.
    FileSize,
    /// Size of a core dump.
    CoreDump,
    /// Locked memory.
    LockedMemory,
}

/// A limit on one resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rlimit {
    /// Which resource.
    pub resource: Resource,
    /// How much of it.
    pub value: u64,
}

/// What the processes of the box may use together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CgroupLimits {
    /// Bytes of memory, swap off.
    pub memory: u64,
    /// Processes and threads.
    pub pids: u32,
    /// Thousandths of a processor core.
    pub milli_cores: u32,
}

/// What is in the root of a box.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Directories of private writable space.
    pub writable: Vec<String>,
    /// Directories of the host that it sees as copies; mounted before the binds.
    pub overlays: Vec<OverlayMount>,
    /// What of the host is in it, in order.
    pub binds: Vec<BindMount>,
    /// Small files.
    pub files: Vec<SetupFile>,
    /// Symbolic links.
    pub links: Vec<SetupLink>,
}

/// What is done to a path of the box after everything is mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoverKind {
    /// Mounted on itself, so that it cannot be renamed or removed.
    Pinned,
    /// Mounted on itself read-only.
    Protected,
    /// Something that nobody can open is mounted on it.
    Hidden,
}

/// A path of the box that is covered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cover {
    /// The path in the box.
    pub path: String,
    /// How.
    pub kind: CoverKind,
}

/// Everything needed to build a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Its host name.
    pub hostname: String,
    /// Bytes of private writable space.
    pub disk: u64,
    /// Inodes of private writable space.
    pub inodes: u64,
    /// Whether the content comes on top of the base that all boxes of the launcher share.
    pub on_base: bool,
    /// What is in it.
    pub content: Content,
    /// What of it is covered, in order.
    pub covers: Vec<Cover>,
    /// Whether loopback is up.
    pub loopback: bool,
    /// What is made for connections to be lent, if any are.
    pub lend: Option<Lend>,
    /// Limits for all processes together.
    pub cgroup: CgroupLimits,
    /// Limits per process.
    pub rlimits: Vec<Rlimit>,
    /// Layers without which nothing is run.
    pub required: Vec<Layer>,
    /// Layers left out; only for tests of the layers.
    pub without: Vec<Layer>,
}

impl Content {
    pub(super) fn write(&self, w: &mut Writer) {
        w.list(&self.writable, |w, path| w.text(path));
        w.list(&self.overlays, |w, overlay| {
            w.text(&overlay.lower);
            w.text(&overlay.storage);
            w.text(&overlay.target);
        });
        w.list(&self.binds, |w, bind| {
            w.text(&bind.source);
            w.text(&bind.target);
            w.bool(bind.writable);
            w.bool(bind.owned);
            w.bool(bind.optional);
        });
        w.list(&self.files, |w, file| {
            w.text(&file.path);
            w.u32(file.mode);
            w.bytes(&file.content);
        });
        w.list(&self.links, |w, link| {
            w.text(&link.path);
            w.text(&link.target);
        });
    }

    pub(super) fn read(r: &mut Reader<'_>) -> Result<Content, DecodeError> {
        Ok(Content {
            writable: r.list(Reader::text)?,
            overlays: r.list(|r| {
                Ok(OverlayMount { lower: r.text()?, storage: r.text()?, target: r.text()? })
            })?,
            binds: r.list(|r| {
                Ok(BindMount {
                    source: r.text()?,
                    target: r.text()?,
                    writable: r.bool()?,
                    owned: r.bool()?,
                    optional: r.bool()?,
                })
            })?,
            files: r.list(|r| {
                Ok(SetupFile { path: r.text()?, mode: r.u32()?, content: r.bytes(64 << 10)? })
            })?,
            links: r.list(|r| Ok(SetupLink { path: r.text()?, target: r.text()? }))?,
        })
    }
}

impl Setup {
    pub(super) fn write(&self, w: &mut Writer) {
        w.text(&self.hostname);
        w.u64(self.disk);
        w.u64(self.inodes);
        w.bool(self.on_base);
        self.content.write(w);
        w.list(&self.covers, |w, cover| {
            w.u8(cover.kind as u8);
            w.text(&cover.path);
        });
        w.bool(self.loopback);
        w.bool(self.lend.is_some());
        if let Some(lend) = &self.lend {
            lend.write(w);
        }
        w.u64(self.cgroup.memory);
        w.u32(self.cgroup.pids);
        w.u32(self.cgroup.milli_cores);
        w.list(&self.rlimits, |w, limit| {
            w.u8(limit.resource as u8);
            w.u64(limit.value);
        });
        for layers in [&self.required, &self.without] {
            w.list(layers, |w, layer| w.u8(*layer as u8));
        }
    }

    pub(super) fn read(r: &mut Reader<'_>) -> Result<Setup, DecodeError> {
        Ok(Setup {
            hostname: r.text()?,
            disk: r.u64()?,
            inodes: r.u64()?,
            on_base: r.bool()?,
            content: Content::read(r)?,
            covers: r.list(|r| Ok(Cover { kind: read_cover(r.u8()?)?, path: r.text()? }))?,
            loopback: r.bool()?,
            lend: if r.bool()? { Some(Lend::read(r)?) } else { None },
            cgroup: CgroupLimits { memory: r.u64()?, pids: r.u32()?, milli_cores: r.u32()? },
            rlimits: r
                .list(|r| Ok(Rlimit { resource: read_resource(r.u8()?)?, value: r.u64()? }))?,
            required: r.list(read_layer)?,
            without: r.list(read_layer)?,
        })
    }
}

fn read_layer(r: &mut Reader<'_>) -> Result<Layer, DecodeError> {
    Layer::from_number(r.u8()?).ok_or(DecodeError::Unknown("layer"))
}

fn read_cover(number: u8) -> Result<CoverKind, DecodeError> {
    [CoverKind::Pinned, CoverKind::Protected, CoverKind::Hidden]
        .into_iter()
        .find(|kind| *kind as u8 == number)
        .ok_or(DecodeError::Unknown("cover"))
}

fn read_resource(number: u8) -> Result<Resource, DecodeError> {
    [Resource::OpenFiles, Resource::FileSize, Resource::CoreDump, Resource::LockedMemory]
        .into_iter()
        .find(|resource| *resource as u8 == number)
        .ok_or(DecodeError::Unknown("resource"))
}
