//! Boxes made ahead of need: all namespaces are there, nothing is mounted, nothing runs. A blank
//! waits for its set-up on a socket of its own and serves one box, once.

use alloc::{format, vec::Vec};
use core::mem::MaybeUninit;

use fumehood_core::{Layer, protocol::Setup};
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
    identity::Mapping,
    sources,
};
use crate::{
    failure::{Failure, Step},
    held::Held,
    inside,
    sys::{self, Namespaces, clone_process},
};

/// The most descriptors that one message can carry, less the control channel.
const MOST_BINDS: usize = 252;

/// A box that waits for its set-up.
pub(super) struct Blank {
    pub(super) pid: Pid,
    pub(super) cgroup: BoxCgroup,
    socket: OwnedFd,
    owner_shift: Option<OwnedFd>,
}

/// Makes blanks.
pub(super) struct Maker {
    mapping: Mapping,
    cgroups: Cgroups,
    count: u32,
}

impl Maker {
    pub(super) fn new() -> Result<Maker, Failure> {
        // The cgroup files are looked for first: afterwards an ordinary user's process lives in
        // a namespace of its own, where the same files are somebody else's.
        let cgroups = Cgroups::find();
        Ok(Maker { mapping: Mapping::choose()?, cgroups, count: 0 })
    }

    /// Removes what dead launchers left behind.
    pub(super) fn sweep(&self) {
        self.cgroups.sweep();
    }

    pub(super) fn blank(&mut self, without: &[Layer]) -> Result<Blank, Failure> {
        self.count += 1;
        let name = format!("box-{}-{}", rustix::process::getpid().as_raw_nonzero(), self.count);
        let cgroup = self.cgroups.make(&name);
        match self.start(without, &cgroup) {
            Ok((pid, socket)) => self.finish(pid, socket, cgroup),
            Err(failure) => {
                cgroup.remove();
                Err(failure)
            }
        }
    }

    fn start(&self, without: &[Layer], cgroup: &BoxCgroup) -> Result<(Pid, OwnedFd), Failure> {
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .step("box socket")?;
        let namespaces = [
            (Layer::UserNamespace, Namespaces::USER),
            (Layer::MountNamespace, Namespaces::MOUNT),
            (Layer::PidNamespace, Namespaces::PID),
            (Layer::NetNamespace, Namespaces::NET),
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
                for tasks in cgroup.version_1_tasks() {
                    let _ = sys::write_cgroup_zero(tasks);
                }
                inside::main(theirs)
            }
        }
    }

    fn finish(&self, pid: Pid, socket: OwnedFd, cgroup: BoxCgroup) -> Result<Blank, Failure> {
        let shift = self.mapping.apply(pid).and_then(|()| self.mapping.shift_for(pid));
        match shift {
            Ok(owner_shift) => Ok(Blank { pid, cgroup, socket, owner_shift }),
            Err(failure) => {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
                cgroup.remove();
                Err(failure)
            }
        }
    }
}

impl Blank {
    /// Opens what of the host belongs into the box, and sends all of it with the set-up.
    pub(super) fn hand_over(
        &self,
        setup: &Setup,
        packet: &[u8],
        channel: OwnedFd,
        held: Held,
    ) -> Result<(), Failure> {
        if setup.binds.len() > MOST_BINDS {
            return Err(Failure {
                step: format!("{} mounts, which is more than {MOST_BINDS},", setup.binds.len()),
                errno: Errno::TOOBIG.raw_os_error(),
            });
        }
        let shift = self.owner_shift.as_ref().map(OwnedFd::as_fd);
        let trees = crate::collect_results(
            setup.binds.iter().map(|bind| sources::open_detached(bind, shift)),
        )?;
        let present: Vec<u8> = trees.iter().map(|tree| u8::from(tree.is_some())).collect();
        let [a, b, c, d] = (present.len() as u32).to_le_bytes();
        let head = [held.bits(), a, b, c, d];
        let descriptors: Vec<BorrowedFd<'_>> = core::iter::once(channel.as_fd())
            .chain(trees.iter().flatten().map(OwnedFd::as_fd))
            .collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(253))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
        sendmsg(
            &self.socket,
            &[IoSlice::new(&head), IoSlice::new(&present), IoSlice::new(packet)],
            &mut ancillary,
            SendFlags::NOSIGNAL,
        )
        .step("box hand-over")
        .map(drop)
    }
}
