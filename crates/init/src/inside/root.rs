//! The root of a box, built top to bottom on an empty tmpfs, and the step into it.

use alloc::{format, vec::Vec};

use fumehood_core::{Layer, protocol::Setup};
use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2, symlinkat},
    io::Errno,
    mount::{
        FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
        fsconfig_create, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree, unmount,
    },
    process::{fchdir, pivot_root},
};

use crate::{
    failure::{Failure, Step},
    sys::{MountAttributes, mount_setattr},
};

pub(super) fn build(setup: &Setup, trees: Vec<Option<OwnedFd>>) -> Result<(), Failure> {
    let quiet = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    let size = format!("{}", setup.disk);
    let inodes = format!("{}", setup.inodes);
    let root =
        file_system("tmpfs", &[("size", &size), ("nr_inodes", &inodes), ("mode", "755")], quiet)?;
    // Both are made while the host's /proc can still be seen, which the kernel demands.
    let hidden = quiet | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let proc = file_system("proc", &[], hidden | MountAttrFlags::MOUNT_ATTR_RDONLY)?;
    let terminals = [("newinstance", ""), ("ptmxmode", "0666"), ("mode", "620")];
    let pts = file_system(
        "devpts",
        &terminals,
        MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC,
    )?;

    // On top of the old root: a place that exists on every host.
    attach(&root, CWD, "/").step("mounting the root")?;
    let root = Root { device: device_of(root.as_fd())?, directory: root };

    root.mount_directory(&proc, "/proc")?;
    root.mount_directory(&pts, "/dev/pts")?;
    for file in &setup.files {
        root.write_file(&file.path, file.mode, &file.content)?;
    }
    for link in &setup.links {
        root.link(&link.path, &link.target)?;
    }
    for (bind, tree) in setup.binds.iter().zip(trees) {
        if let Some(tree) = tree {
            root.mount(&tree, &bind.target)?;
        }
    }
    for path in &setup.writable {
        root.make_writable(path)?;
    }
    if !setup.without.contains(&Layer::ReadOnlyRoot) {
        let attributes = MountAttributes {
            read_only: true,
            no_devices: true,
            no_exec: false,
            shift_owners: None,
        };
        mount_setattr(root.directory.as_fd(), attributes, false).step("read-only root")?;
    }

    fchdir(&root.directory).step("entering the root")?;
    pivot_root(c".", c".").step("pivot_root")?;
    unmount(c".", UnmountFlags::DETACH).step("detaching the host")?;
    rustix::process::chdir(c"/").step("entering the root")
}

/// A new file system, not yet mounted anywhere.
fn file_system(
    kind: &str,
    options: &[(&str, &str)],
    attributes: MountAttrFlags,
) -> Result<OwnedFd, Failure> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC).step_on("opening file system", kind)?;
    for (key, value) in options {
        let set = match *value {
            "" => rustix::mount::fsconfig_set_flag(context.as_fd(), *key),
            value => fsconfig_set_string(context.as_fd(), *key, value),
        };
        set.step_on("configuring file system", kind)?;
    }
    fsconfig_create(context.as_fd()).step_on("creating file system", kind)?;
    fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
        .step_on("mounting file system", kind)
}

fn attach(tree: &OwnedFd, directory: impl AsFd, path: &str) -> Result<(), Errno> {
    move_mount(tree, c"", directory, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}

fn device_of(file: BorrowedFd<'_>) -> Result<u64, Failure> {
    fstat(file).step("looking at the root").map(|stat| stat.st_dev)
}

/// The new root while it is being built.
struct Root {
    directory: OwnedFd,
    device: u64,
}

impl Root {
    fn mount_directory(&self, tree: &OwnedFd, path: &str) -> Result<(), Failure> {
        let target = self.directory_at(path, Mode::from_raw_mode(0o755))?;
        attach_to(tree, &target).step_on("mounting", path)
    }

    /// Mounts a file on a file, a directory on a directory.
    fn mount(&self, tree: &OwnedFd, path: &str) -> Result<(), Failure> {
        let kind = fstat(tree).step_on("looking at the source of", path)?.st_mode;
        if FileType::from_raw_mode(kind).is_dir() {
            return self.mount_directory(tree, path);
        }
        let target = self.open_existing(path, OFlags::PATH).or_else(|failure| {
            if failure.errno != Errno::NOENT.raw_os_error() {
                return Err(failure);
            }
            self.create(path, 0o444)?;
            self.open_existing(path, OFlags::PATH)
        })?;
        attach_to(tree, &target).step_on("mounting", path)
    }

    fn write_file(&self, path: &str, mode: u32, content: &[u8]) -> Result<(), Failure> {
        let file = self.create(path, mode)?;
        let mut rest = content;
        while !rest.is_empty() {
            let count = rustix::io::write(&file, rest).step_on("writing", path)?;
            rest = &rest[count..];
        }
        Ok(())
    }

    fn link(&self, path: &str, target: &str) -> Result<(), Failure> {
        let (parent, name) = self.parent_of(path)?;
        symlinkat(target, parent, name).step_on("linking", path)
    }

    /// A directory of the root's own space that stays writable when the root becomes read-only.
    fn make_writable(&self, path: &str) -> Result<(), Failure> {
        let directory = self.directory_at(path, Mode::from_raw_mode(0o755))?;
        if path == "/tmp" || path == "/dev/shm" {
            rustix::fs::chmodat(
                &self.directory,
                relative(path),
                Mode::from_raw_mode(0o1777),
                rustix::fs::AtFlags::empty(),
            )
            .step_on("permissions of", path)?;
        }
        let tree = open_tree(
            &directory,
            c"",
            OpenTreeFlags::OPEN_TREE_CLONE
                | OpenTreeFlags::OPEN_TREE_CLOEXEC
                | OpenTreeFlags::AT_EMPTY_PATH,
        )
        .step_on("making writable", path)?;
        attach_to(&tree, &directory).step_on("making writable", path)
    }

    /// A new file in the root's own space.
    fn create(&self, path: &str, mode: u32) -> Result<OwnedFd, Failure> {
        let (parent, name) = self.parent_of(path)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        openat(parent, name, flags, Mode::from_raw_mode(mode)).step_on("creating", path)
    }

    fn parent_of<'a>(&self, path: &'a str) -> Result<(OwnedFd, &'a str), Failure> {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        Ok((self.directory_at(parent, Mode::from_raw_mode(0o755))?, name))
    }

    /// Opens something in the new root. No link is ever followed: one in a directory of the
    /// caller could lead a mount elsewhere.
    fn open_existing(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Failure> {
        openat2(
            &self.directory,
            relative(path),
            flags | OFlags::CLOEXEC,
            Mode::empty(),
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS,
        )
        .step_on("opening in the box:", path)
    }

    /// Opens a directory, making what is missing of the path, but only in the root's own space:
    /// nothing is ever created in a directory of the host.
    fn directory_at(&self, path: &str, mode: Mode) -> Result<OwnedFd, Failure> {
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        match self.open_existing(path, flags) {
            Err(failure) if failure.errno == Errno::NOENT.raw_os_error() => {}
            opened => return opened,
        }
        let trimmed = path.trim_end_matches('/');
        let (parent, name) = trimmed.rsplit_once('/').unwrap_or(("", trimmed));
        let parent = self.directory_at(parent, mode)?;
        if device_of(parent.as_fd())? != self.device {
            return Err(Errno::NOENT).step_on("mount target missing in a mounted directory:", path);
        }
        mkdirat(&parent, name, mode).step_on("creating", path)?;
        self.open_existing(path, flags)
    }
}

/// Attaches a mount on top of an open file or directory.
fn attach_to(tree: &OwnedFd, target: &OwnedFd) -> Result<(), Errno> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(tree, c"", target, c"", flags)
}

fn relative(path: &str) -> &str {
    match path.trim_start_matches('/') {
        "" => ".",
        path => path,
    }
}
