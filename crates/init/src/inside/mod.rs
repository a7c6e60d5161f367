//! From the first instruction in new namespaces to a locked box: the steps, in order.
//!
//! 1. Wait for the set-up; by then the launcher has written the user mapping.
//! 2. Become the box's user, die with the launcher, be opaque to others.
//! 3. Enter the cgroup and uts namespaces properly: own view, own name.
//! 4. Forbid nested user namespaces.
//! 5. Build the root and pivot into it.
//! 6. Bring up loopback, if the plan has one.
//! 7. Set resource limits.
//! 8. Drop every capability, set no-new-privileges.
//! 9. Landlock, then seccomp.
//! 10. Close everything but the control channel, say what was applied, serve.
//!
//! Every step that fails ends the box with a report; nothing runs in a half-built one.

mod landlock;
mod network;
mod privileges;
mod resources;
mod root;
mod seccomp;

use alloc::{format, string::String, vec, vec::Vec};
use core::mem::MaybeUninit;

use fumehood_core::{
    Layer, Strength,
    protocol::{BOX_UID, FromInit, Report, Setup, ToLauncher, VERSION, frame},
};
use rustix::{
    fd::OwnedFd,
    fs::{Mode, OFlags, open},
    io::{Errno, IoSliceMut},
    net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg},
    process::{DumpableBehavior, Gid, Signal, Uid},
    thread::UnshareFlags,
};

use crate::{
    failure::{Failure, Step},
    held::Held,
    serve, sys,
};

/// Everything that came with the set-up.
struct Order {
    setup: Setup,
    channel: OwnedFd,
    /// One per bind of the set-up; `None` for an optional one that is not there.
    trees: Vec<Option<OwnedFd>>,
    /// What the launcher limits by cgroups.
    held: Held,
}

/// The life of a box's first process. Never returns to the launcher's code.
pub(crate) fn main(socket: OwnedFd) -> ! {
    let Some(order) = receive_order(socket) else { sys::exit(0) };
    let Order { setup, channel, trees, held } = order;
    let code = match build(&setup, trees, held, &channel) {
        Ok(reports) => {
            send_now(&channel, &FromInit::Ready { version: VERSION, reports });
            serve::main_in_box(channel, held.means(Layer::Memory).is_none())
        }
        Err(Failure { step, errno }) => {
            send_now(&channel, &FromInit::SetupFailed { step, errno });
            1
        }
    };
    sys::exit(code)
}

fn receive_order(socket: OwnedFd) -> Option<Order> {
    let mut packet = vec![0u8; fumehood_core::protocol::MAX_MESSAGE + 512];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(253))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(
        &socket,
        &mut [IoSliceMut::new(&mut packet)],
        &mut ancillary,
        RecvFlags::CMSG_CLOEXEC,
    )
    .ok()?;
    let mut descriptors = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(passed) = message {
            descriptors.extend(passed);
        }
    }
    let mut descriptors = descriptors.into_iter();
    let channel = descriptors.next()?;
    let bytes = packet.get(..received.bytes)?;
    let ([held, count @ ..], bytes) = bytes.split_first_chunk::<5>()?;
    let (present, packet) = bytes.split_at_checked(u32::from_le_bytes(*count) as usize)?;
    let held = Held::from_bits(*held);
    let trees = present.iter().map(|flag| (*flag == 1).then(|| descriptors.next())?).collect();
    match ToLauncher::decode(packet) {
        Ok(ToLauncher::Open { setup, .. }) => Some(Order { setup, channel, trees, held }),
        _ => None,
    }
}

fn build(
    setup: &Setup,
    trees: Vec<Option<OwnedFd>>,
    held: Held,
    channel: &OwnedFd,
) -> Result<Vec<Report>, Failure> {
    let without = |layer: Layer| setup.without.contains(&layer);
    let mut done = Reports(Vec::new());

    become_box_user().step("box user")?;
    if !without(Layer::UserNamespace) {
        done.full(Layer::UserNamespace, "own user namespace, never host root");
    }
    if !without(Layer::CgroupNamespace) {
        // SAFETY: the only thing unshared is the view of cgroups, and there is no other thread.
        unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWCGROUP) }
            .step("cgroup namespace")?;
        done.full(Layer::CgroupNamespace, "own cgroup namespace");
    }
    if !without(Layer::UtsNamespace) {
        rustix::system::sethostname(setup.hostname.as_bytes()).step("host name")?;
        done.full(Layer::UtsNamespace, "own uts namespace");
    }
    for (layer, detail) in [
        (Layer::PidNamespace, "own pid namespace, init is process 1"),
        (Layer::NetNamespace, "own net namespace, no interface but lo"),
        (Layer::IpcNamespace, "own ipc namespace"),
    ] {
        if !without(layer) {
            done.full(layer, detail);
        }
    }
    if !without(Layer::Nesting) {
        match forbid_nested_namespaces() {
            Ok(()) => done.full(Layer::Nesting, "user.max_user_namespaces is 0 inside"),
            Err(errno) => done.add(
                Layer::Nesting,
                Strength::BestEffort,
                format!(
                    "only seccomp: /proc/sys cannot be written (error {})",
                    errno.raw_os_error()
                ),
            ),
        }
    }
    if !without(Layer::MountNamespace) {
        root::build(setup, trees)?;
        done.full(Layer::MountNamespace, "own mount namespace, new root, host root detached");
        done.full(Layer::Disk, "tmpfs size and inode limits");
        if !without(Layer::ReadOnlyRoot) {
            done.full(Layer::ReadOnlyRoot, "read-only mounts");
        }
    }
    if setup.loopback {
        network::bring_up_loopback().step("loopback")?;
    }
    resources::limit(setup, held, &mut done)?;
    keep_only(channel).step("closing descriptors")?;
    done.full(Layer::Descriptors, "close_range before exec");
    privileges::drop_all(setup, &mut done)?;
    landlock::restrict(setup, &mut done)?;
    if !without(Layer::Seccomp) {
        seccomp::install().step("seccomp")?;
        done.full(Layer::Seccomp, "allow list, native architecture only");
    }
    Ok(done.0)
}

/// What was applied so far.
struct Reports(Vec<Report>);

impl Reports {
    fn add(&mut self, layer: Layer, strength: Strength, detail: impl Into<String>) {
        self.0.push(Report { layer, strength, detail: detail.into() });
    }

    fn full(&mut self, layer: Layer, detail: &str) {
        self.add(layer, Strength::Full, detail);
    }
}

/// Changes to the box's user, keeping for now the capabilities over the new namespaces.
fn become_box_user() -> Result<(), Errno> {
    let (uid, gid) = (Uid::from_raw(BOX_UID), Gid::from_raw(BOX_UID));
    // Refused where the mapping was written without privilege; then there is nothing to gain
    // from the groups either, since none of them is mapped.
    let _ = rustix::thread::set_thread_groups(&[]);
    rustix::thread::set_thread_res_gid(gid, gid, gid)?;
    rustix::thread::set_thread_res_uid(uid, uid, uid)?;
    // After the change of user, which would clear both.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    Ok(())
}

/// The file shows, and changes, the limit of the namespace of whoever opens it.
fn forbid_nested_namespaces() -> Result<(), Errno> {
    let path = c"/proc/sys/user/max_user_namespaces";
    let file = open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(file, b"0").map(drop)
}

/// Closes every descriptor but the control channel, and makes 0 to 2 harmless.
fn keep_only(channel: &OwnedFd) -> Result<(), Errno> {
    let null = open(c"/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    drop(null);
    sys::close_all_but(channel)
}

/// Sends a message before the loop that usually does so is running.
fn send_now(channel: &OwnedFd, message: &FromInit) {
    let mut framed = Vec::new();
    frame::append(&mut framed, &message.encode());
    let mut rest = framed.as_slice();
    while !rest.is_empty() {
        match rustix::net::send(channel, rest, rustix::net::SendFlags::NOSIGNAL) {
            Ok(count) => rest = &rest[count..],
            Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}
