//! Landlock: even if a mount were wrong, only the named places can be written.

use alloc::{format, string::String};

use fumehood_core::{Layer, Strength, protocol::Setup};
use rustix::{
    fd::AsFd,
    fs::{Mode, OFlags, open},
    io::Errno,
};

use super::Reports;
use crate::{
    failure::{Failure, Step},
    sys::landlock,
};

const EXECUTE: u64 = 1 << 0;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const MAKE_CHAR: u64 = 1 << 6;
const MAKE_BLOCK: u64 = 1 << 11;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;
/// Rights on a rule that is a file, not a directory.
const FILE_RIGHTS: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;

const SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS: u64 = 0b11;

/// The file rights that a version of Landlock knows.
fn known_rights(version: usize) -> u64 {
    match version {
        1 => (1 << 13) - 1,
        2 => (1 << 14) - 1,
        3 | 4 => (1 << 15) - 1,
        _ => (1 << 16) - 1,
    }
}

pub(super) fn restrict(
    setup: &Setup,
    writable: &[String],
    done: &mut Reports,
) -> Result<(), Failure> {
    if setup.without.contains(&Layer::Landlock) {
        return Ok(());
    }
    let version = match landlock::version() {
        Ok(version @ 1..) => version,
        Ok(_) | Err(Errno::NOSYS | Errno::OPNOTSUPP) => {
            done.add(Layer::Landlock, Strength::Off, "this kernel has no Landlock");
            return Ok(());
        }
        Err(errno) => return Err(errno).step("landlock"),
    };
    let known = known_rights(version);
    let handled = [known, 0, SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS];
    let words = match version {
        1..=3 => 1,
        4 | 5 => 2,
        _ => 3,
    };
    let rules = landlock::create(&handled[..words]).step("landlock rule set")?;
    let everything = known & !(MAKE_CHAR | MAKE_BLOCK);
    let allow = |path: &str, rights: u64| -> Result<(), Failure> {
        let file = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
            .step_on("landlock: opening", path)?;
        let kind = rustix::fs::fstat(&file).step_on("landlock: looking at", path)?.st_mode;
        let is_directory = rustix::fs::FileType::from_raw_mode(kind).is_dir();
        let rights = if is_directory { rights } else { rights & FILE_RIGHTS };
        landlock::allow(rules.as_fd(), rights & known, file.as_fd())
            .step_on("landlock rule for", path)
    };
    let read_only_root = !setup.without.contains(&Layer::ReadOnlyRoot);
    allow("/", if read_only_root { EXECUTE | READ_FILE | READ_DIR } else { everything })?;
    allow("/dev", READ_FILE | WRITE_FILE | IOCTL_DEV)?;
    for path in writable {
        allow(path, everything)?;
    }
    landlock::restrict(rules.as_fd()).step("landlock")?;
    done.full(Layer::Landlock, &format!("version {version}: files{}", scope_detail(version)));
    Ok(())
}

fn scope_detail(version: usize) -> &'static str {
    if version >= 6 { ", abstract sockets, signals" } else { "" }
}
