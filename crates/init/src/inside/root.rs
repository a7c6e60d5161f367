//! The root of a box, built top to bottom on an empty tmpfs, and the step into it.

use alloc::{format, string::String, vec::Vec};

use fumehood_core::{
    Layer,
    protocol::{Content, Setup},
};
use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{
        AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, chmodat, fstat, mkdirat, openat,
        openat2, symlinkat, unlinkat,
    },
    io::Errno,
    mount::{
        FsMountFlags, FsOpenFlags, FsPickFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags,
        UnmountFlags, fsconfig_create, fsconfig_reconfigure, fsconfig_set_string, fsmount, fsopen,
        fspick, move_mount, open_tree, unmount,
    },
    process::{fchdir, pivot_root},
};

use super::overlay;
use crate::{
    failure::{Failure, Step},
    sys::{MountAttributes, mount_setattr},
};

/// File systems that every box has, made while the host's /proc can still be seen, which the
/// kernel demands.
struct FileSystems {
    proc: OwnedFd,
    terminals: OwnedFd,
}

impl FileSystems {
    fn make() -> Result<FileSystems, Failure> {
        let quiet = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let closed = MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_RDONLY;
        let options = [("newinstance", ""), ("ptmxmode", "0666"), ("mode", "620")];
        Ok(FileSystems {
            proc: file_system("proc", &[], quiet | closed)?,
            terminals: file_system("devpts", &options, quiet)?,
        })
    }
}

impl Root {
    /// An empty root with /proc and terminals, mounted on top of the old one.
    pub(super) fn begin() -> Result<Root, Failure> {
        let file_systems = FileSystems::make()?;
        let quiet = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
        // Room for what we put there ourselves; the plan says how much the program gets.
        let options = [("size", "1m"), ("nr_inodes", "1k"), ("mode", "755")];
        let directory = file_system("tmpfs", &options, quiet)?;
        // The old root is a place that exists on every host.
        attach(&directory, CWD, "/").step("mounting the root")?;
        let mut root = Root { directory, made: Vec::new(), mounted: Vec::new() };
        root.mount_directory(&file_systems.proc, "/proc")?;
        root.mount_directory(&file_systems.terminals, "/dev/pts")?;
        Ok(root)
    }

    /// Adds content. The trees are the detached mounts of its overlays and binds.
    pub(super) fn add(
        &mut self,
        content: &Content,
        trees: Vec<Option<OwnedFd>>,
    ) -> Result<(), Failure> {
        for file in &content.files {
            self.write_file(&file.path, file.mode, &file.content)?;
        }
        for link in &content.links {
            self.link(&link.path, &link.target)?;
        }
        let mut trees = trees.into_iter();
        for overlay in &content.overlays {
            let (Some(Some(lower)), Some(Some(storage))) = (trees.next(), trees.next()) else {
                return Err(Errno::NOENT).step_on("layers of the overlay at", &overlay.target);
            };
            let tree =
                overlay::make(&self.directory, &lower, &storage).map_err(Failure::of_overlay)?;
            self.mount(&tree, &overlay.target)?;
        }
        // The box's own space comes first: it would cover what is mounted in it. What lies in a
        // mount itself has to wait for that.
        let waits =
            |path: &&String| content.binds.iter().any(|bind| is_at_or_below(path, &bind.target));
        for path in content.writable.iter().filter(|path| !waits(path)) {
            self.make_writable(path)?;
        }
        for (bind, tree) in content.binds.iter().zip(trees) {
            if let Some(tree) = tree {
                self.mount(&tree, &bind.target)?;
            }
        }
        for path in content.writable.iter().filter(waits) {
            self.make_writable(path)?;
        }
        Ok(())
    }

    /// Gives the root its size, makes it read-only, and moves into it for good.
    pub(super) fn enter(self, setup: &Setup) -> Result<(), Failure> {
        // No size is no limit.
        let bounded = !setup.without.contains(&Layer::Disk);
        let (size, inodes) = if bounded { (setup.disk, setup.inodes) } else { (0, 0) };
        self.resize(size, inodes).step("size of the writable space")?;
        if !setup.without.contains(&Layer::ReadOnlyRoot) {
            let attributes = MountAttributes {
                read_only: true,
                no_devices: true,
                no_exec: false,
                shift_owners: None,
            };
            mount_setattr(self.directory.as_fd(), attributes, false).step("read-only root")?;
        }
        fchdir(&self.directory).step("entering the root")?;
        pivot_root(c".", c".").step("pivot_root")?;
        unmount(c".", UnmountFlags::DETACH).step("detaching the host")?;
        rustix::process::chdir(c"/").step("entering the root")
    }

    fn resize(&self, bytes: u64, inodes: u64) -> Result<(), Errno> {
        let flags = FsPickFlags::FSPICK_EMPTY_PATH | FsPickFlags::FSPICK_CLOEXEC;
        let context = fspick(&self.directory, c"", flags)?;
        fsconfig_set_string(context.as_fd(), "size", format!("{bytes}"))?;
        fsconfig_set_string(context.as_fd(), "nr_inodes", format!("{inodes}"))?;
        fsconfig_reconfigure(context.as_fd())
    }
}

/// A new file system, not yet mounted anywhere.
pub(super) fn file_system(
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

pub(super) fn attach(tree: &OwnedFd, directory: impl AsFd, path: &str) -> Result<(), Errno> {
    move_mount(tree, c"", directory, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}

/// The new root while it is being built. Only this process sees it, so what was made in it is as
/// it was made, and paths can be used without care, except below what was mounted from the host.
pub(super) struct Root {
    directory: OwnedFd,
    /// Directories that are there and are ours.
    made: Vec<String>,
    /// Where something of the host is mounted.
    mounted: Vec<String>,
}

impl Root {
    fn mount_directory(&mut self, tree: &OwnedFd, path: &str) -> Result<(), Failure> {
        if self.is_in_mount(path) {
            return self.mount_in_mount(tree, path, OFlags::DIRECTORY);
        }
        self.make_directory(path)?;
        self.attach_at(tree, path)
    }

    /// Mounts a file on a file, a directory on a directory.
    fn mount(&mut self, tree: &OwnedFd, path: &str) -> Result<(), Failure> {
        let kind = fstat(tree).step_on("looking at the source of", path)?.st_mode;
        if FileType::from_raw_mode(kind).is_dir() {
            self.mount_directory(tree, path)?;
        } else if self.is_in_mount(path) {
            self.mount_in_mount(tree, path, OFlags::empty())?;
        } else {
            self.create(path, 0o444)?;
            self.attach_at(tree, path)?;
        }
        self.mounted.push(path.into());
        Ok(())
    }

    fn write_file(&mut self, path: &str, mode: u32, content: &[u8]) -> Result<(), Failure> {
        let file = self.create(path, mode)?;
        let mut rest = content;
        while !rest.is_empty() {
            let count = rustix::io::write(&file, rest).step_on("writing", path)?;
            rest = &rest[count..];
        }
        Ok(())
    }

    fn link(&mut self, path: &str, target: &str) -> Result<(), Failure> {
        self.make_parent(path)?;
        symlinkat(target, &self.directory, relative(path)).step_on("linking", path)
    }

    /// A directory of the root's own space that stays writable when the root becomes read-only.
    fn make_writable(&mut self, path: &str) -> Result<(), Failure> {
        self.make_directory(path)?;
        if matches!(path, "/tmp" | "/var/tmp" | "/dev/shm") {
            let everyone = Mode::from_raw_mode(0o1777);
            chmodat(&self.directory, relative(path), everyone, AtFlags::empty())
                .step_on("permissions of", path)?;
        }
        let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        let tree =
            open_tree(&self.directory, relative(path), flags).step_on("making writable", path)?;
        self.attach_at(&tree, path)
    }

    /// A new file in the root's own space.
    fn create(&mut self, path: &str, mode: u32) -> Result<OwnedFd, Failure> {
        self.make_parent(path)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        openat(&self.directory, relative(path), flags, Mode::from_raw_mode(mode))
            .step_on("creating", path)
    }

    fn make_parent(&mut self, path: &str) -> Result<(), Failure> {
        match path.trim_end_matches('/').rsplit_once('/') {
            Some((parent, _)) if !parent.is_empty() => self.make_directory(parent),
            _ => Ok(()),
        }
    }

    fn make_directory(&mut self, path: &str) -> Result<(), Failure> {
        if self.made.iter().any(|made| made == path) {
            return Ok(());
        }
        if self.is_in_mount(path) {
            return Err(Errno::EXIST).step_on("two things want the same place in the box:", path);
        }
        self.make_parent(path)?;
        mkdirat(&self.directory, relative(path), Mode::from_raw_mode(0o755))
            .step_on("creating", path)?;
        self.made.push(path.into());
        Ok(())
    }

    fn attach_at(&self, tree: &OwnedFd, path: &str) -> Result<(), Failure> {
        attach(tree, &self.directory, relative(path)).step_on("mounting", path)
    }

    /// Whether a path is at or below something of the host.
    fn is_in_mount(&self, path: &str) -> bool {
        self.mounted.iter().any(|mounted| is_at_or_below(path, mounted))
    }

    /// Mounts on something in a directory of the host. It must be there, since nothing is ever
    /// created in such a directory, and no link is followed: one could lead the mount elsewhere.
    fn mount_in_mount(&self, tree: &OwnedFd, path: &str, kind: OFlags) -> Result<(), Failure> {
        let target = self.find(path, kind).step_on("finding the mount target", path)?;
        attach_on(tree, &target).step_on("mounting", path)
    }

    /// What is at a path, if no link leads there.
    pub(super) fn find(&self, path: &str, kind: OFlags) -> Result<OwnedFd, Errno> {
        openat2(
            &self.directory,
            relative(path),
            OFlags::PATH | OFlags::CLOEXEC | kind,
            Mode::empty(),
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS,
        )
    }

    /// Mounts something for the time of a few steps, at a place that is gone afterwards.
    pub(super) fn with_mounted<T>(
        &self,
        tree: &OwnedFd,
        use_it: impl FnOnce(&OwnedFd) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        const PLACE: &str = ".in-passing";
        let step = "a place in passing";
        mkdirat(&self.directory, PLACE, Mode::from_raw_mode(0o700)).step(step)?;
        attach(tree, &self.directory, PLACE).step(step)?;
        let mounted = self.find(PLACE, OFlags::DIRECTORY).step(step)?;
        let used = use_it(&mounted)?;
        drop(mounted);
        // Unmounting takes a path and nothing else: from here on we are in the new root.
        fchdir(&self.directory).step(step)?;
        unmount(PLACE, UnmountFlags::DETACH).step(step)?;
        unlinkat(&self.directory, PLACE, AtFlags::REMOVEDIR).step(step)?;
        Ok(used)
    }
}

/// Mounts a tree on what was opened.
pub(super) fn attach_on(tree: &OwnedFd, target: &OwnedFd) -> Result<(), Errno> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(tree, c"", target, c"", flags)
}

fn is_at_or_below(path: &str, top: &str) -> bool {
    path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn relative(path: &str) -> &str {
    match path.trim_start_matches('/') {
        "" => ".",
        path => path,
    }
}
