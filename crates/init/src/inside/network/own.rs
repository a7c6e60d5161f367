//! A net namespace in a container that may change nothing about its own: inside a user namespace of
//! init's, which maps nobody but init itself.

use alloc::format;

use rustix::{
    fs::{Mode, OFlags, open},
    io::Errno,
    thread::UnshareFlags,
};

use crate::failure::{Failure, Step};

pub(in crate::inside) fn enter_own_namespace() -> Result<(), Failure> {
    let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
    // SAFETY: nothing of this process is shared with another thread.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNET) }.step(
        "a net namespace for lent connections, which takes a user namespace in the container,",
    )?;
    let step = "mapping the user of the container";
    write("/proc/self/setgroups", "deny").step(step)?;
    write("/proc/self/uid_map", &format!("{0} {0} 1", uid.as_raw())).step(step)?;
    write("/proc/self/gid_map", &format!("{0} {0} 1", gid.as_raw())).step(step)
}

fn write(path: &str, text: &str) -> Result<(), Errno> {
    let file = open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(file, text.as_bytes()).map(drop)
}
