//! Memory watched by hand, for hosts where no cgroup holds the limit, and the look at full disks.

use alloc::{format, string::String, vec, vec::Vec};

use rustix::{
    fs::{CWD, Dir, Mode, OFlags, openat, stat, statvfs},
    process::Pid,
};

const PAGE: u64 = 4096;

/// The memory that only the box has: private pages of all processes, and its writable places.
pub(super) fn memory_in_use(places: &[String]) -> u64 {
    let mut private_pages = 0;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if let Ok(mut processes) = openat(CWD, c"/proc", flags, Mode::empty()).and_then(Dir::new) {
        while let Some(Ok(entry)) = processes.read() {
            let Ok(name) = entry.file_name().to_str() else { continue };
            if name.bytes().all(|byte| byte.is_ascii_digit()) && name != "1" {
                private_pages += private_pages_of(name).unwrap_or(0);
            }
        }
    }
    private_pages * PAGE + files_in(places)
}

/// What is stored in these places. Several may be parts of one file system.
fn files_in(places: &[String]) -> u64 {
    let mut seen = Vec::new();
    let mut bytes = 0;
    for place in places {
        let (Ok(of_place), Ok(space)) = (stat(place.as_str()), statvfs(place.as_str())) else {
            continue;
        };
        if !seen.contains(&of_place.st_dev) {
            seen.push(of_place.st_dev);
            bytes += space.f_blocks.saturating_sub(space.f_bfree) * space.f_frsize;
        }
    }
    bytes
}

/// Resident pages less those that are shared, from a file that anyone may read.
fn private_pages_of(process: &str) -> Option<u64> {
    let text = read_small(&format!("/proc/{process}/statm"))?;
    let mut fields = text.split(' ').skip(1).map(|field| field.parse::<u64>().ok());
    let (resident, shared) = (fields.next()??, fields.next()??);
    Some(resident.saturating_sub(shared))
}

/// True if nothing more can be written to one of these places.
pub(super) fn is_full(places: &[String]) -> bool {
    places.iter().any(|place| {
        statvfs(place.as_str()).is_ok_and(|space| space.f_bavail == 0 || space.f_favail == 0)
    })
}

/// The direct children of this process, those left to it included.
pub(super) fn children() -> alloc::vec::Vec<Pid> {
    let own = rustix::process::getpid().as_raw_nonzero();
    read_small(&format!("/proc/self/task/{own}/children"))
        .unwrap_or_default()
        .split(' ')
        .filter_map(|pid| Pid::from_raw(pid.trim().parse().ok()?))
        .collect()
}

fn read_small(path: &str) -> Option<String> {
    let file = openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut buffer = vec![0u8; 4096];
    let count = rustix::io::read(file, &mut buffer).ok()?;
    buffer.truncate(count);
    String::from_utf8(buffer).ok()
}
