//! Where cgroups are mounted, and directories in them.

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{AtFlags, CWD, Dir, Mode, OFlags, mkdirat, openat, unlinkat},
    io::Errno,
    process::{Pid, test_kill_process},
};

use super::super::identity::write_at;

/// One mounted hierarchy.
pub(super) struct Hierarchy {
    pub(super) version_2: bool,
    pub(super) mount_point: String,
    /// For version 1: the controllers in the mount options.
    pub(super) options: String,
}

/// Every mounted hierarchy, and where this process is in version 2.
pub(super) struct Hierarchies {
    pub(super) all: Vec<Hierarchy>,
    pub(super) own_path: String,
}

impl Hierarchies {
    /// Reads what the kernel says about this process.
    pub(super) fn read() -> Hierarchies {
        let mounts = read_text("/proc/self/mountinfo");
        let own = read_text("/proc/self/cgroup");
        Hierarchies {
            all: mounts.lines().filter_map(parse_mount).collect(),
            own_path: own
                .lines()
                .find_map(|line| line.strip_prefix("0::"))
                .unwrap_or("/")
                .to_string(),
        }
    }
}

/// One line of `mountinfo`: fields, a dash, then type, source and options.
fn parse_mount(line: &str) -> Option<Hierarchy> {
    let (mount, filesystem) = line.split_once(" - ")?;
    let mut filesystem = filesystem.split(' ');
    let version_2 = match filesystem.next()? {
        "cgroup" => false,
        "cgroup2" => true,
        _ => return None,
    };
    Some(Hierarchy {
        version_2,
        mount_point: mount.split(' ').nth(4)?.to_string(),
        options: filesystem.nth(1).unwrap_or_default().to_string(),
    })
}

fn read_text(path: &str) -> String {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    openat(CWD, path, flags, Mode::empty()).map(read_all).unwrap_or_default()
}

fn read_all(file: OwnedFd) -> String {
    let mut content = Vec::new();
    let mut buffer = vec![0u8; 4096];
    while let Ok(count @ 1..) = rustix::io::read(&file, &mut buffer) {
        content.extend_from_slice(&buffer[..count]);
    }
    String::from_utf8(content).unwrap_or_default()
}

/// An open directory of a hierarchy.
pub(super) struct Directory(OwnedFd);

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Directory {
    pub(super) fn open(path: &str) -> Option<Directory> {
        open_directory(CWD, path).ok().map(Directory)
    }

    /// The directory of this name below.
    pub(super) fn open_below(&self, name: &str) -> Option<Directory> {
        open_directory(&self.0, name).ok().map(Directory)
    }

    /// The directory of this name below, made if need be.
    pub(super) fn make(&self, name: &str) -> Option<Directory> {
        match mkdirat(&self.0, name, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => self.open_below(name),
            Err(_) => None,
        }
    }

    /// Removes a directory below. The kernel may need a moment to see that it is empty.
    pub(super) fn remove(&self, name: &str) {
        for _ in 0..200 {
            match unlinkat(&self.0, name, AtFlags::REMOVEDIR) {
                Err(Errno::BUSY) => {
                    let _ = rustix::thread::nanosleep(&rustix::thread::Timespec {
                        tv_sec: 0,
                        tv_nsec: 1_000_000,
                    });
                }
                _ => return,
            }
        }
    }

    pub(super) fn open_for_writing(&self, name: &str) -> Option<OwnedFd> {
        openat(&self.0, name, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()).ok()
    }

    pub(super) fn open_for_reading(&self, name: &str) -> Option<OwnedFd> {
        openat(&self.0, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()
    }

    pub(super) fn write(&self, name: &str, content: &[u8]) -> bool {
        write_at(&self.0, name, content).is_ok()
    }

    pub(super) fn write_number(&self, name: &str, number: u64) -> bool {
        self.write(name, format!("{number}").as_bytes())
    }

    pub(super) fn read(&self, name: &str) -> Option<String> {
        self.open_for_reading(name).map(read_all)
    }

    /// Removes the empty directories of launchers that are gone.
    pub(super) fn sweep(&self) {
        let Ok(entries) = Dir::read_from(&self.0) else { return };
        for entry in entries.flatten() {
            let Ok(name) = entry.file_name().to_str() else { continue };
            let launcher = name
                .strip_prefix("box-")
                .and_then(|rest| rest.split('-').next())
                .and_then(|pid| pid.parse().ok())
                .and_then(Pid::from_raw);
            if launcher.is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH)) {
                let _ = unlinkat(&self.0, name, AtFlags::REMOVEDIR);
            }
        }
    }
}

fn open_directory(parent: impl AsFd, path: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    openat(parent, path, flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_lines_of_both_versions_are_understood() {
        let v1 = "35 26 0:30 / /sys/fs/cgroup/memory rw,nosuid shared:9 - cgroup cgroup rw,memory";
        let parsed = parse_mount(v1).unwrap();
        assert!(!parsed.version_2);
        assert_eq!(parsed.mount_point, "/sys/fs/cgroup/memory");
        assert_eq!(parsed.options, "rw,memory");
        let v2 = "26 24 0:22 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate";
        assert!(parse_mount(v2).unwrap().version_2);
        assert!(parse_mount("22 1 8:1 / / rw - ext4 /dev/sda1 rw").is_none());
    }
}
