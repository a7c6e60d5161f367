//! What this process knows of itself and of the time.

use std::{
    env,
    fs::File,
    io::Read as _,
    time::{SystemTime, UNIX_EPOCH},
};

use super::{Caller, Moment};

/// This moment.
pub fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment::from_unix_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Who runs this process.
pub(super) fn caller() -> Caller {
    let uid = user();
    Caller {
        uid,
        user: name_of(uid),
        pid: std::process::id(),
        host: text_of("/proc/sys/kernel/hostname").map(|name| name.trim().to_owned()),
        program: env::current_exe().ok().map(|path| path.to_string_lossy().into_owned()),
    }
}

#[cfg(unix)]
fn user() -> u32 {
    rustix::process::getuid().as_raw()
}

#[cfg(not(unix))]
fn user() -> u32 {
    0
}

/// From the machine's own list only: asking a directory service could take seconds, and `USER` can
/// say anything.
fn name_of(uid: u32) -> Option<String> {
    let list = text_of("/etc/passwd")?;
    let number = uid.to_string();
    list.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == number).then(|| name.to_owned())
    })
}

/// A small file as text.
fn text_of(path: &str) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(64 << 10).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
