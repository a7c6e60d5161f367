//! Memory watched by hand, for hosts where no cgroup holds the limit, and the look at full disks.

use alloc::{format, string::String, vec};

use rustix::{
    fs::{CWD, Dir, Mode, OFlags, openat, statvfs},
    process::Pid,
};

const PAGE: u64 = 4096;

/// The memory that only the box has: private pages of all processes, and its writable space.
pub(super) fn memory_in_use(writable_space: &str) -> u64 {
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
    let files = statvfs(writable_space)
        .map_or(0, |stat| stat.f_blocks.saturating_sub(stat.f_bfree) * stat.f_frsize);
    private_pages * PAGE + files
}

/// Resident pages less those that are shared, from a file that anyone may read.
fn private_pages_of(process: &str) -> Option<u64> {
    let text = read_small(&format!("/proc/{process}/statm"))?;
    let mut fields = text.split(' ').skip(1).map(|field| field.parse::<u64>().ok());
    let (resident, shared) = (fields.next()??, fields.next()??);
    Some(resident.saturating_sub(shared))
}

/// True if nothing more can be written there.
pub(super) fn is_full(writable_space: &str) -> bool {
    !writable_space.is_empty()
        && statvfs(writable_space).is_ok_and(|stat| stat.f_bavail == 0 || stat.f_favail == 0)
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
