//! Files into and out of the box, with the rights of the program and no more.

use alloc::vec;

use fumehood_core::protocol::{FromInit, MAX_DATA};
use rustix::{
    fd::OwnedFd,
    fs::{CWD, FileType, Mode, OFlags, fstat, mkdirat, openat},
    io::Errno,
};

use super::outgoing::Outgoing;

/// Writes a file, or appends to it; missing directories are made.
pub(super) fn put(path: &str, mode: u32, append: bool, data: &[u8]) -> FromInit {
    match write(path, mode, append, data) {
        Ok(()) => FromInit::Done,
        Err(errno) => FromInit::Failed { errno: errno.raw_os_error() },
    }
}

fn write(path: &str, mode: u32, append: bool, data: &[u8]) -> Result<(), Errno> {
    let how = if append { OFlags::APPEND } else { OFlags::CREATE | OFlags::TRUNC };
    let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | how;
    let mode = Mode::from_raw_mode(mode & 0o777);
    let file = match openat(CWD, path, flags, mode) {
        Err(Errno::NOENT) if !append => {
            make_parents(path);
            openat(CWD, path, flags, mode)?
        }
        opened => opened?,
    };
    let mut rest = data;
    while !rest.is_empty() {
        match rustix::io::write(&file, rest) {
            Ok(count) => rest = &rest[count..],
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

fn make_parents(path: &str) {
    for (index, _) in path.match_indices('/').skip(1) {
        let _ = mkdirat(CWD, &path[..index], Mode::from_raw_mode(0o755));
    }
}

/// A file on its way out.
pub(super) struct Sending {
    file: OwnedFd,
    left: u64,
}

impl Sending {
    /// Opens a regular file that is not longer than allowed.
    pub(super) fn open(path: &str, most: u64) -> Result<Sending, Errno> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = openat(CWD, path, flags, Mode::empty())?;
        let stat = fstat(&file)?;
        if !FileType::from_raw_mode(stat.st_mode).is_file() {
            return Err(Errno::INVAL);
        }
        if stat.st_size as u64 > most {
            return Err(Errno::FBIG);
        }
        Ok(Sending { file, left: most })
    }

    /// Sends the next piece. True when nothing is left.
    pub(super) fn step(&mut self, outgoing: &mut Outgoing) -> bool {
        let mut buffer = vec![0u8; MAX_DATA];
        match rustix::io::read(&self.file, &mut buffer) {
            Err(Errno::INTR) => false,
            Err(errno) => {
                outgoing.push(&FromInit::Failed { errno: errno.raw_os_error() });
                true
            }
            // It may have grown since it was opened: the bound holds for what is sent.
            Ok(count) if count as u64 > self.left => {
                outgoing.push(&FromInit::Failed { errno: Errno::FBIG.raw_os_error() });
                true
            }
            Ok(count) => {
                self.left -= count as u64;
                buffer.truncate(count);
                outgoing.push(&FromInit::Data { data: buffer, last: count == 0 });
                count == 0
            }
        }
    }
}
