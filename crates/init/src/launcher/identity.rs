//! Who a box is on the host, and whose files its files are.
//!
//! With root, a box gets a host user that nobody else has: a high number plus the process id of
//! its first process, which is unique while the box lives. Without root it is the caller.

use alloc::{format, vec::Vec};
use core::ffi::c_void;

use fumehood_core::protocol::BOX_UID;
use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{Mode, OFlags, open, openat},
    io::Errno,
    process::{Pid, Signal, WaitOptions, kill_process, waitpid},
    thread::{UnshareFlags, unshare_unsafe},
};

use crate::{
    failure::{Failure, Step},
    sys::{self, SharedStack, start_in_user_namespace},
};

/// Far above anything that an administrator hands out, and below where numbers look negative.
const FIRST_HOST_ID: u32 = 0x4000_0000;

/// How boxes are mapped to users of the host.
#[derive(Clone, Copy)]
pub(super) enum Mapping {
    /// Each box to a user of its own.
    PerBox,
    /// All boxes to the caller.
    Caller { uid: u32, gid: u32 },
}

impl Mapping {
    /// Chooses, and without root makes this process the root of a namespace in which it may mount.
    pub(super) fn choose() -> Result<Mapping, Failure> {
        let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        if uid == 0 && may_map_anyone() {
            return Ok(Mapping::PerBox);
        }
        // SAFETY: no other thread shares anything that the call unshares.
        unsafe { unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNS) }
            .step("user namespace")?;
        write_whole("/proc/self/setgroups", b"deny").step("user namespace: setgroups")?;
        write_whole("/proc/self/uid_map", format!("{uid} {uid} 1").as_bytes())
            .step("user namespace: uid_map")?;
        write_whole("/proc/self/gid_map", format!("{gid} {gid} 1").as_bytes())
            .step("user namespace: gid_map")?;
        Ok(Mapping::Caller { uid, gid })
    }

    /// The host user and group of the box with this first process.
    fn host_ids(self, pid: Pid) -> (u32, u32) {
        match self {
            Mapping::PerBox => {
                let id = FIRST_HOST_ID + pid.as_raw_nonzero().get() as u32;
                (id, id)
            }
            Mapping::Caller { uid, gid } => (uid, gid),
        }
    }

    /// Gives a new box its user and group.
    pub(super) fn apply(self, pid: Pid) -> Result<(), Failure> {
        let (uid, gid) = self.host_ids(pid);
        if let Mapping::Caller { .. } = self {
            write_of(pid, "setgroups", b"deny").step("user namespace: setgroups")?;
        }
        write_of(pid, "uid_map", format!("{BOX_UID} {uid} 1").as_bytes())
            .step("user namespace: uid_map")?;
        write_of(pid, "gid_map", format!("{BOX_UID} {gid} 1").as_bytes())
            .step("user namespace: gid_map")
    }
}

/// User namespaces that shift the owners of mounted files, one per owner: what belongs to the owner
/// of a mounted directory belongs to the box's user inside, and what the box makes there belongs
/// to that owner.
pub(super) struct OwnerShifts {
    mapping: Mapping,
    box_pid: Pid,
    made: Vec<(u32, u32, OwnedFd)>,
}

impl OwnerShifts {
    /// Makes the one for root's own files ahead of need if there is time. Nothing is needed where
    /// the box is the caller.
    pub(super) fn new(
        mapping: Mapping,
        box_pid: Pid,
        has_time: bool,
    ) -> Result<OwnerShifts, Failure> {
        let mut shifts = OwnerShifts { mapping, box_pid, made: Vec::new() };
        if has_time {
            shifts.of(0, 0)?;
        }
        Ok(shifts)
    }

    /// The namespace for files of this owner.
    pub(super) fn of(&mut self, uid: u32, gid: u32) -> Result<Option<BorrowedFd<'_>>, Failure> {
        let Mapping::PerBox = self.mapping else { return Ok(None) };
        let known = self.made.iter().position(|made| (made.0, made.1) == (uid, gid));
        let index = match known {
            Some(index) => index,
            None => {
                let namespace = shift(uid, gid, self.mapping.host_ids(self.box_pid))?;
                self.made.push((uid, gid, namespace));
                self.made.len() - 1
            }
        };
        Ok(self.made.get(index).map(|made| made.2.as_fd()))
    }
}

/// A user namespace in which these ids are those ids of the host.
fn shift(uid: u32, gid: u32, (to_uid, to_gid): (u32, u32)) -> Result<OwnedFd, Failure> {
    let mut stack = SharedStack::new();
    // SAFETY: `hold` only sleeps, and is waited for before the stack goes.
    let holder =
        unsafe { start_in_user_namespace(&mut stack, hold) }.step("mount owner namespace")?;
    let namespace = write_of(holder, "uid_map", format!("{uid} {to_uid} 1").as_bytes())
        .and_then(|()| write_of(holder, "gid_map", format!("{gid} {to_gid} 1").as_bytes()))
        .and_then(|()| {
            let path = format!("/proc/{}/ns/user", holder.as_raw_nonzero());
            open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        });
    let _ = kill_process(holder, Signal::KILL);
    let _ = waitpid(Some(holder), WaitOptions::empty());
    namespace.step("mount owner namespace")
}

/// Holds a namespace until it has been opened; then it is killed.
extern "C" fn hold(_: *mut c_void) -> ! {
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    let moment = rustix::thread::Timespec { tv_sec: 10, tv_nsec: 0 };
    let _ = rustix::thread::nanosleep(&moment);
    sys::exit(0)
}

/// A root that was stripped of these rights (in a container, say) is no better than a user.
fn may_map_anyone() -> bool {
    use rustix::thread::{CapabilitySet, capabilities};
    let needed = CapabilitySet::SYS_ADMIN | CapabilitySet::SETUID | CapabilitySet::SETGID;
    capabilities(None).is_ok_and(|sets| sets.effective.contains(needed))
}

fn write_of(pid: Pid, name: &str, content: &[u8]) -> Result<(), Errno> {
    write_whole(&format!("/proc/{}/{name}", pid.as_raw_nonzero()), content)
}

fn write_whole(path: &str, content: &[u8]) -> Result<(), Errno> {
    let file = open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(file, content).map(drop)
}

/// Writes a small file below a directory.
pub(super) fn write_at(directory: impl AsFd, name: &str, content: &[u8]) -> Result<(), Errno> {
    let file = openat(directory, name, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(file, content).map(drop)
}
