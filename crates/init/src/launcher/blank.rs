//! Boxes made ahead of need: all namespaces are there, nothing is mounted, nothing runs. A blank
//! waits for its set-up on a socket of its own and serves one box, once.

use alloc::{format, vec::Vec};
use core::{iter, mem::MaybeUninit};

use fumehood_core::{
    Layer,
    protocol::{Content, Setup},
};
use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    io::{Errno, IoSlice},
    net::{
        AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags,
        SocketType, sendmsg, socketpair,
    },
    process::Pid,
};

use super::{
    cgroup::{BoxCgroup, Cgroups},
    identity::{Mapping, OwnerShifts},
    sources,
};
use crate::{
    failure::{Failure, Step},
    held::Held,
    inside,
    meters::Meters,
    sys::{Namespaces, clone_process},
};

/// The most descriptors that one message can carry, less the control channel.
const MOST_BINDS: usize = 252;

/// A box that waits for its set-up.
pub(super) struct Blank {
    pub(super) pid: Pid,
    pub(super) cgroup: BoxCgroup,
    /// Whether it has the base that all boxes share, or why it could not be given.
    pub(super) base: Result<bool, Failure>,
    socket: OwnedFd,
    shifts: OwnerShifts,
}

/// Content that all boxes share, and the packet in which it came.
pub(super) struct Base {
    pub(super) content: Content,
    pub(super) packet: Vec<u8>,
}

/// Makes blanks.
pub(super) struct Maker {
    mapping: Mapping,
    pub(super) cgroups: Cgroups,
    count: u32,
    swept: bool,
    /// Whether there is time to make what a box may need, before it is known that it does.
    has_time: bool,
}

impl Maker {
    pub(super) fn new(has_time: bool) -> Result<Maker, Failure> {
        let mapping = Mapping::choose()?;
        Ok(Maker { mapping, cgroups: Cgroups::find(), count: 0, swept: false, has_time })
    }

    /// Removes what dead launchers left behind, the first time it is called.
    pub(super) fn sweep_once(&mut self) {
        if !self.swept {
            self.cgroups.sweep();
            self.swept = true;
        }
    }

    pub(super) fn blank(&mut self, without: &[Layer]) -> Result<Blank, Failure> {
        self.count += 1;
        let name = format!("box-{}-{}", rustix::process::getpid().as_raw_nonzero(), self.count);
        let mut cgroup = self.cgroups.begin(&name);
        let (pid, socket) = match self.start(without, &cgroup) {
            Ok(started) => started,
            Err(failure) => {
                self.cgroups.remove(&name);
                return Err(failure);
            }
        };
        // The new process makes its net namespace meanwhile.
        self.cgroups.complete(&mut cgroup);
        let finished = self
            .mapping
            .apply(pid)
            .and_then(|()| tell_mapped(&socket, &cgroup))
            .and_then(|()| OwnerShifts::new(self.mapping, pid, self.has_time));
        match finished {
            Ok(shifts) => Ok(Blank { pid, cgroup, base: Ok(false), socket, shifts }),
            Err(failure) => {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
                self.cgroups.remove(&name);
                Err(failure)
            }
        }
    }

    fn start(&self, without: &[Layer], cgroup: &BoxCgroup) -> Result<(Pid, OwnedFd), Failure> {
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .step("box socket")?;
        // The net namespace takes longest: the box makes it itself, while we go on.
        let namespaces = [
            (Layer::UserNamespace, Namespaces::USER),
            (Layer::MountNamespace, Namespaces::MOUNT),
            (Layer::PidNamespace, Namespaces::PID),
            (Layer::IpcNamespace, Namespaces::IPC),
            (Layer::UtsNamespace, Namespaces::UTS),
        ]
        .into_iter()
        .filter(|(layer, _)| !without.contains(layer))
        .fold(Namespaces::NONE, |all, (_, one)| all.and(one));
        match clone_process(namespaces, cgroup.version_2()).step("namespaces")? {
            Some(pid) => Ok((pid, ours)),
            None => {
                drop(ours);
                inside::main(theirs, without)
            }
        }
    }
}

/// Tells a box that it has its user, and gives it the files of its cgroups: first those by which
/// it joins them, then those that count what it uses.
fn tell_mapped(socket: &OwnedFd, cgroup: &BoxCgroup) -> Result<(), Failure> {
    let (joins, Meters(meters)) = (cgroup.joins(), cgroup.meters());
    let message: Vec<u8> =
        iter::once(joins.len() as u8).chain(meters.iter().map(|(meter, _)| *meter as u8)).collect();
    let descriptors: Vec<BorrowedFd<'_>> =
        joins.iter().chain(meters.iter().map(|(_, file)| file)).map(OwnedFd::as_fd).collect();
    send_with(socket, &[IoSlice::new(&message)], &descriptors)
}

/// Sends a message with descriptors to a box.
fn send_with(
    socket: &OwnedFd,
    message: &[IoSlice<'_>],
    descriptors: &[BorrowedFd<'_>],
) -> Result<(), Failure> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(253))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
    }
    sendmsg(socket, message, &mut ancillary, SendFlags::NOSIGNAL).step("box socket").map(drop)
}

impl Blank {
    /// Sends what all boxes share, to be prepared ahead of need.
    pub(super) fn give_base(&mut self, base: &Base) {
        self.base =
            self.send_content(&base.content, &base.packet, None, Held::default()).map(|()| true);
    }

    /// Sends the set-up and the control channel: from now on this is a box.
    pub(super) fn hand_over(
        &mut self,
        setup: &Setup,
        packet: &[u8],
        channel: OwnedFd,
        held: Held,
    ) -> Result<(), Failure> {
        self.send_content(&setup.content, packet, Some(channel), held)
    }

    /// Opens what of the host belongs into the box, and sends all of it with the packet.
    fn send_content(
        &mut self,
        content: &Content,
        packet: &[u8],
        channel: Option<OwnedFd>,
        held: Held,
    ) -> Result<(), Failure> {
        let count = content.binds.len() + 2 * content.overlays.len();
        if count > MOST_BINDS {
            return Err(Failure {
                step: format!("{count} mounts, which is more than {MOST_BINDS},"),
                errno: Errno::TOOBIG.raw_os_error(),
            });
        }
        let shifts = &mut self.shifts;
        let mut trees = Vec::new();
        for overlay in &content.overlays {
            let layers = sources::open_layers(overlay, shifts).map_err(Failure::of_overlay)?;
            trees.extend(layers.map(Some));
        }
        trees.extend(crate::collect_results(
            content.binds.iter().map(|bind| sources::open_detached(bind, shifts)),
        )?);
        let present: Vec<u8> = trees.iter().map(|tree| u8::from(tree.is_some())).collect();
        let [a, b, c, d] = (present.len() as u32).to_le_bytes();
        let head = [held.bits(), a, b, c, d];
        let descriptors: Vec<BorrowedFd<'_>> =
            channel.iter().chain(trees.iter().flatten()).map(OwnedFd::as_fd).collect();
        let message = [IoSlice::new(&head), IoSlice::new(&present), IoSlice::new(packet)];
        send_with(&self.socket, &message, &descriptors)
    }
}
