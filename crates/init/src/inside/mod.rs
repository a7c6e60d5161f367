//! From the first instruction in new namespaces to a locked box: the steps, in order.
//!
//! Ahead of need, while nobody waits:
//!
//! 1. Make the net namespace, which takes longest, while the launcher writes the user mapping.
//! 2. Become the box's user, die with the launcher, be opaque to others.
//! 3. Make the cgroup namespace, forbid nested user namespaces.
//! 4. Begin the root: a tmpfs, /proc, terminals, and what all boxes of the launcher share.
//!
//! When the set-up arrives:
//!
//! 5. Take the host name.
//! 6. Bring up loopback, if the plan has one; make the sockets of the gate and hand them out.
//! 7. Add what this box has on top, cover what is denied or protected, pivot into the root.
//! 8. Set resource limits.
//! 9. Close everything but the control channel.
//! 10. Drop every capability, set no-new-privileges.
//! 11. Landlock, then seccomp.
//! 12. Say what was applied, and serve.
//!
//! Every step that fails ends the box with a report; nothing runs in a half-built one.

mod cgroup;
pub(crate) mod container;
mod cover;
mod landlock;
mod network;
mod overlay;
mod privileges;
mod resources;
mod root;
mod seccomp;

use alloc::{boxed::Box, format, string::String, vec, vec::Vec};
use core::mem::MaybeUninit;

use fumehood_core::{
    Layer, Strength,
    protocol::{BOX_UID, Content, FromInit, Lend, Report, Setup, ToLauncher, VERSION, frame},
};
use rustix::{
    fd::{AsRawFd, OwnedFd},
    fs::{Mode, OFlags, open},
    io::{Errno, IoSliceMut},
    net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg},
    process::{DumpableBehavior, Gid, Signal, Uid},
    thread::UnshareFlags,
};

use crate::{
    failure::{Failure, Step},
    held::Held,
    meters::{Meter, Meters},
    serve::{self, Channel, Surroundings},
    sys,
};

/// What the launcher sends to a box that waits.
enum Message {
    /// Content that all boxes share, to be prepared ahead of need.
    Base { content: Content, trees: Trees },
    /// What this box is to be.
    Order { setup: Box<Setup>, channel: OwnedFd, trees: Trees, held: Held },
}

/// Two per overlay of a content, its lower directory and its storage, then one per bind; `None` for
/// an optional one that is not there.
type Trees = Vec<Option<OwnedFd>>;

/// What was made ahead of need.
struct Prepared {
    done: Reports,
    meters: Meters,
    root: Option<root::Root>,
    /// Places that the program may write to, as far as they are known.
    writable: Vec<String>,
}

/// The life of a box's first process. Never returns to the launcher's code.
pub(crate) fn main(socket: OwnedFd, without: &[Layer]) -> ! {
    // What the launcher has open is not ours, and would count against our limit.
    let _ = sys::close_all_but(&[socket.as_raw_fd()]);
    let mut prepared = prepare(&socket, without);
    let (setup, channel, trees, held) = loop {
        match receive_message(&socket) {
            Some(Message::Base { content, trees }) => {
                prepared = prepared.and_then(|prepared| add_base(prepared, &content, trees));
            }
            Some(Message::Order { setup, channel, trees, held }) => {
                break (setup, channel, trees, held);
            }
            None => sys::exit(0),
        }
    };
    drop(socket);
    let channel = Channel::Socket(channel);
    let built = prepared.and_then(|prepared| build(&setup, trees, held, &channel, prepared));
    let code = match built {
        Ok((reports, meters)) => {
            let watch_memory = held.means(Layer::Memory).is_none();
            let surroundings = Surroundings { watch_memory, meters, ..Surroundings::default() };
            say_and_serve(channel, &setup.required, reports, surroundings)
        }
        Err(failure) => give_up(&channel, failure),
    };
    sys::exit(code)
}

/// Says what was applied, and serves unless something that is required was not.
fn say_and_serve(
    channel: Channel,
    required: &[Layer],
    reports: Vec<Report>,
    surroundings: Surroundings,
) -> u8 {
    if let Some(report) = lacking(required, &reports) {
        send_now(&channel, &FromInit::Lacking { report });
        return 1;
    }
    send_now(&channel, &FromInit::Ready { version: VERSION, reports });
    serve::main_in_box(channel, surroundings)
}

/// Says why nothing will run.
fn give_up(channel: &Channel, Failure { step, errno }: Failure) -> u8 {
    send_now(channel, &FromInit::SetupFailed { step, errno });
    1
}

/// The first layer that must hold in full and does not.
fn lacking(required: &[Layer], reports: &[Report]) -> Option<Report> {
    required.iter().find_map(|layer| {
        let report = reports.iter().find(|report| report.layer == *layer);
        match report {
            Some(report) if report.strength == Strength::Full => None,
            Some(report) => Some(report.clone()),
            None => Some(Report {
                layer: *layer,
                strength: Strength::Off,
                detail: String::from("it is not there"),
            }),
        }
    })
}

/// A message: what is held, how many binds there are, which of them are there, the packet of the
/// supervisor as it came. With an order comes the control channel, then the trees.
fn receive_message(socket: &OwnedFd) -> Option<Message> {
    // Fresh pages: only what is written costs anything.
    let mut packet = vec![0u8; fumehood_core::protocol::MAX_MESSAGE + 512];
    let (length, descriptors) = receive(socket, &mut packet).ok()?;
    let mut descriptors = descriptors.into_iter();
    let ([held, count @ ..], bytes) = packet.get(..length)?.split_first_chunk::<5>()?;
    let (present, packet) = bytes.split_at_checked(u32::from_le_bytes(*count) as usize)?;
    let trees = |descriptors: &mut alloc::vec::IntoIter<OwnedFd>| -> Trees {
        present.iter().map(|flag| (*flag == 1).then(|| descriptors.next())?).collect()
    };
    match ToLauncher::decode(packet) {
        Ok(ToLauncher::Open { setup, .. }) => {
            let channel = descriptors.next()?;
            let (trees, held) = (trees(&mut descriptors), Held::from_bits(*held));
            Some(Message::Order { setup, channel, trees, held })
        }
        Ok(ToLauncher::Base(content)) => {
            Some(Message::Base { content, trees: trees(&mut descriptors) })
        }
        _ => None,
    }
}

/// Everything that does not depend on the plan.
fn prepare(socket: &OwnedFd, without: &[Layer]) -> Result<Prepared, Failure> {
    let without = |layer: Layer| without.contains(&layer);
    let mut done = Reports(Vec::new());
    if !without(Layer::NetNamespace) {
        // SAFETY: nothing of this process is shared with another thread.
        unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }.step("net namespace")?;
        done.full(Layer::NetNamespace, "own net namespace, no interface but lo");
    }
    let (joins, meters) = wait_for_mapping(socket).step("user mapping")?;
    if !without(Layer::UserNamespace) {
        become_box_user().step("box user")?;
        done.full(Layer::UserNamespace, "own user namespace, never host root");
    }
    for join in joins {
        sys::write_cgroup_zero(join).step("joining a cgroup")?;
    }
    if !without(Layer::CgroupNamespace) {
        // SAFETY: the same.
        unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWCGROUP) }
            .step("cgroup namespace")?;
        done.full(Layer::CgroupNamespace, "own cgroup namespace");
    }
    for (layer, detail) in [
        (Layer::PidNamespace, "own pid namespace, init is process 1"),
        (Layer::IpcNamespace, "own ipc namespace"),
        (Layer::UtsNamespace, "own uts namespace"),
    ] {
        if !without(layer) {
            done.full(layer, detail);
        }
    }
    if !without(Layer::Nesting) {
        match forbid_nested_namespaces() {
            Ok(()) => done.full(Layer::Nesting, "user.max_user_namespaces is 0 inside"),
            Err(errno) => {
                let detail =
                    format!("only seccomp: /proc/sys is closed (error {})", errno.raw_os_error());
                done.add(Layer::Nesting, Strength::BestEffort, detail);
            }
        }
    }
    let root = if without(Layer::MountNamespace) { None } else { Some(root::Root::begin()?) };
    Ok(Prepared { done, meters, root, writable: Vec::new() })
}

fn add_base(mut prepared: Prepared, content: &Content, trees: Trees) -> Result<Prepared, Failure> {
    if let Some(root) = &mut prepared.root {
        root.add(content, trees)?;
    }
    prepared.writable.extend(writable_places(content).map(String::from));
    Ok(prepared)
}

/// Where a program may write: our own space, and what of the caller is mounted writable.
fn writable_places(content: &Content) -> impl Iterator<Item = &str> {
    let binds = content.binds.iter().filter(|bind| bind.writable && bind.owned);
    let overlays = content.overlays.iter().map(|overlay| &overlay.target);
    content
        .writable
        .iter()
        .chain(overlays)
        .chain(binds.map(|bind| &bind.target))
        .map(String::as_str)
}

/// The launcher says when the user mapping is written, and passes the files of our cgroups.
fn wait_for_mapping(socket: &OwnedFd) -> Result<(Vec<OwnedFd>, Meters), Errno> {
    let mut message = [0u8; 64];
    let (length, descriptors) = receive(socket, &mut message)?;
    let Some((joins, meters)) = message[..length].split_first() else {
        // The launcher is gone, and with it the reason to be here.
        sys::exit(0)
    };
    let mut descriptors = descriptors.into_iter();
    let joins = descriptors.by_ref().take(usize::from(*joins)).collect();
    let meters = meters.iter().filter_map(|number| Meter::from_number(*number)).zip(descriptors);
    Ok((joins, Meters(meters.collect())))
}

/// One message with its descriptors.
fn receive(socket: &OwnedFd, message: &mut [u8]) -> Result<(usize, Vec<OwnedFd>), Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(253))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let iov = &mut [IoSliceMut::new(message)];
    let received = recvmsg(socket, iov, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let mut descriptors = Vec::new();
    for part in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(passed) = part {
            descriptors.extend(passed);
        }
    }
    Ok((received.bytes, descriptors))
}

fn build(
    setup: &Setup,
    trees: Trees,
    held: Held,
    channel: &Channel,
    prepared: Prepared,
) -> Result<(Vec<Report>, Meters), Failure> {
    let without = |layer: Layer| setup.without.contains(&layer);
    let Prepared { mut done, meters, root, mut writable } = prepared;
    writable.extend(writable_places(&setup.content).map(String::from));
    if !without(Layer::UtsNamespace) {
        rustix::system::sethostname(setup.hostname.as_bytes()).step("host name")?;
    }
    if setup.loopback || setup.lend.is_some() {
        network::bring_up_loopback().step("loopback")?;
    }
    if let Some(lend) = &setup.lend {
        lend_connections(lend, channel, &mut done)?;
    }
    if let Some(mut root) = root {
        root.add(&setup.content, trees)?;
        if !without(Layer::CoveredPaths) {
            cover::apply(&root, &setup.covers)?;
            done.full(Layer::CoveredPaths, &cover::summary(&setup.covers));
        }
        root.enter(setup)?;
        done.full(Layer::MountNamespace, "own mount namespace, new root, host root detached");
        if !without(Layer::Disk) {
            done.full(Layer::Disk, "tmpfs size and inode limits");
        }
        if !without(Layer::ReadOnlyRoot) {
            done.full(Layer::ReadOnlyRoot, "read-only mounts");
        }
    }
    let kept = kept(channel, &meters).collect();
    lock(setup, &writable, held, kept, &mut done)?;
    Ok((done.0, meters))
}

/// Hands the sockets of the gate to the supervisor. After this the box has none of them.
fn lend_connections(lend: &Lend, channel: &Channel, done: &mut Reports) -> Result<(), Failure> {
    if !done.0.iter().any(|report| report.layer == Layer::NetNamespace) {
        // It would be the host's network whose routes are changed.
        return Err(Errno::PERM).step("lending connections without a net namespace");
    }
    let network::Lending { sockets, detail } = network::lend(lend)?;
    let (kinds, sockets): (Vec<_>, Vec<_>) = sockets.into_iter().unzip();
    let mut framed = Vec::new();
    frame::append(&mut framed, &FromInit::Lent { sockets: kinds }.encode());
    channel.hand_out(&framed, &sockets).step("handing sockets to the gate")?;
    done.correct(Layer::NetNamespace, Strength::Full, detail);
    Ok(())
}

/// What a process can do to itself, whoever made its namespaces and its root.
fn lock(
    setup: &Setup,
    writable: &[String],
    held: Held,
    kept: Vec<i32>,
    done: &mut Reports,
) -> Result<(), Failure> {
    resources::limit(setup, held, done)?;
    keep_only(kept).step("closing descriptors")?;
    done.full(Layer::Descriptors, "close_range before exec");
    privileges::drop_all(setup, done)?;
    landlock::restrict(setup, writable, done)?;
    if !setup.without.contains(&Layer::Seccomp) {
        seccomp::install().step("seccomp")?;
        done.full(Layer::Seccomp, "allow list, native architecture only");
    }
    Ok(())
}

/// What was applied so far.
struct Reports(Vec<Report>);

impl Reports {
    fn add(&mut self, layer: Layer, strength: Strength, detail: impl Into<String>) {
        self.0.push(Report { layer, strength, detail: detail.into() });
    }

    /// Replaces what was said of a layer.
    fn correct(&mut self, layer: Layer, strength: Strength, detail: impl Into<String>) {
        self.0.retain(|report| report.layer != layer);
        self.add(layer, strength, detail);
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

/// The descriptors that every init needs: the control channel and the meters.
fn kept(channel: &Channel, meters: &Meters) -> impl Iterator<Item = i32> {
    channel.descriptors().chain(meters.0.iter().map(|(_, file)| file.as_raw_fd()))
}

/// Closes every descriptor but these, and makes 0 to 2 harmless.
/// The program gets none of them: they are closed again before it starts.
fn keep_only(mut kept: Vec<i32>) -> Result<(), Errno> {
    let null = open(c"/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    drop(null);
    kept.sort_unstable();
    sys::close_all_but(&kept)
}

/// Sends a message before the loop that usually does so is running.
fn send_now(channel: &Channel, message: &FromInit) {
    let mut framed = Vec::new();
    frame::append(&mut framed, &message.encode());
    let mut rest = framed.as_slice();
    while !rest.is_empty() {
        match channel.write(rest) {
            Ok(count) => rest = &rest[count..],
            Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}
