//! Process 1 of a container: the engine made the namespaces, the root and the cgroups; what a
//! process can do to itself is done here, and what the engine gave is looked at from within.
//!
//! 1. Read the order, the first message on standard input.
//! 2. Be process 1, or nothing runs: ending a box means ending every process in sight.
//! 3. Look at what the engine gave, and correct what it claims.
//! 4. Make a net namespace and sockets for lent connections, if the plan has any.
//! 5. Lock the box as every other: limits, descriptors, capabilities, Landlock, seccomp.
//! 6. Say what was applied, and serve.

use alloc::{string::String, vec, vec::Vec};

use fumehood_core::{
    Layer, Strength,
    protocol::{BoxOrder, MAX_DATA, frame::FrameDecoder},
};
use rustix::{
    fs::{Mode, OFlags, StatVfsMountFlags, open, statvfs},
    io::Errno,
    process::{DumpableBehavior, Pid},
};

use super::{Reports, cgroup, give_up, kept, lock, network, say_and_serve, writable_places};
use crate::{
    failure::{Failure, Step},
    held::Held,
    meters::Meters,
    serve::{Carrier, Channel, Surroundings},
    sys,
};

/// Variables that the engine sets, not the image.
const OF_THE_ENGINE: &[&str] = &["HOSTNAME", "TERM", "container"];

/// The life of a container's first process. The variables are those of the image.
pub(crate) fn main(variables: &[&[u8]]) -> u8 {
    let copy = |number| rustix::io::fcntl_dupfd_cloexec(sys::descriptor(number), 3);
    let (Ok(input), Ok(output)) = (copy(0), copy(1)) else { return 1 };
    let channel = Channel::Pipes { input, output };
    let mut decoder = FrameDecoder::new();
    let order = match receive(&channel, &mut decoder) {
        Ok(Some(order)) => order,
        // The supervisor is gone, and with it the reason to be here.
        Ok(None) => return 0,
        Err(failure) => return give_up(&channel, failure),
    };
    match build(&order, &channel) {
        Ok((done, held, meters, carrier)) => {
            let surroundings = Surroundings {
                watch_memory: held.means(Layer::Memory).is_none(),
                meters,
                variables: of_the_image(variables),
                carrier,
                decoder,
            };
            say_and_serve(channel, &order.setup.required, done.0, surroundings)
        }
        Err(failure) => give_up(&channel, failure),
    }
}

/// Waits for the order. What comes behind it stays in the decoder.
fn receive(channel: &Channel, decoder: &mut FrameDecoder) -> Result<Option<BoxOrder>, Failure> {
    let mut buffer = vec![0u8; MAX_DATA];
    loop {
        match decoder.next_message() {
            Ok(None) => {}
            Ok(Some(message)) => {
                return BoxOrder::decode(message).map(Some).map_err(|_| Errno::PROTO).step("order");
            }
            Err(_) => return Err(Errno::PROTO).step("order"),
        }
        match channel.read(&mut buffer) {
            Ok(0) => return Ok(None),
            Ok(count) => decoder.push(&buffer[..count]),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno).step("reading the order"),
        }
    }
}

type Built = (Reports, Held, Meters, Carrier);

fn build(order: &BoxOrder, channel: &Channel) -> Result<Built, Failure> {
    let setup = &order.setup;
    if rustix::process::getpid() != Pid::INIT {
        return Err(Errno::PERM).step("being process 1 of the container");
    }
    let mut done = Reports(order.given.clone());
    look_around(&mut done);
    let (held, meters) = cgroup::look(&setup.cgroup);
    let mut carrier = Carrier::default();
    if let Some(lend) = &setup.lend {
        network::enter_own_namespace()?;
        network::bring_up_loopback().step("loopback")?;
        let network::Lending { sockets, detail } = network::lend(lend)?;
        carrier = Carrier::new(sockets).step("sockets of the lent network")?;
        done.correct(Layer::NetNamespace, Strength::Full, detail);
    } else if setup.loopback {
        // Engines have it up already; where not, only a privileged process could change that.
        let _ = network::bring_up_loopback();
    }
    let _ = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let writable: Vec<String> = writable_places(&setup.content).map(String::from).collect();
    let kept = kept(channel, &meters).chain(carrier.descriptors()).collect();
    lock(setup, &writable, held, kept, &mut done)?;
    Ok((done, held, meters, carrier))
}

/// Corrects what is claimed where the kernel says otherwise.
fn look_around(done: &mut Reports) {
    let claims = |done: &Reports, layer| done.0.iter().any(|report| report.layer == layer);
    let is_read_only =
        |space: rustix::fs::StatVfs| space.f_flag.contains(StatVfsMountFlags::RDONLY);
    if claims(done, Layer::ReadOnlyRoot) && !statvfs("/").is_ok_and(is_read_only) {
        done.correct(Layer::ReadOnlyRoot, Strength::Off, "the engine left the root writable");
    }
    if claims(done, Layer::CgroupNamespace)
        && !text_of("/proc/self/cgroup").is_some_and(|text| shows_only_itself(&text))
    {
        let detail = "the engine shows the cgroups of the host";
        done.correct(Layer::CgroupNamespace, Strength::Off, detail);
    }
    match text_of("/proc/self/uid_map") {
        Some(map) if !is_whole_machine(&map) => {
            let detail = "the engine maps users: root inside is not root of the host";
            done.correct(Layer::UserNamespace, Strength::Full, detail);
        }
        _ => {
            let detail = if rustix::process::getuid().is_root() {
                "the engine has none: the program has the number of the host's root, not its rights"
            } else {
                "the engine has none: inside and outside users have the same numbers"
            };
            done.correct(Layer::UserNamespace, Strength::Off, detail);
        }
    }
    let detail = "only seccomp: the engine does not forbid them otherwise";
    done.correct(Layer::Nesting, Strength::BestEffort, detail);
}

/// True if every cgroup that this process sees of itself is the top.
fn shows_only_itself(cgroups: &str) -> bool {
    cgroups.lines().all(|line| line.ends_with(":/"))
}

/// True if users are not mapped at all.
fn is_whole_machine(map: &str) -> bool {
    map.split_whitespace().eq(["0", "0", "4294967295"])
}

fn of_the_image(variables: &[&[u8]]) -> Vec<String> {
    variables
        .iter()
        .filter_map(|variable| core::str::from_utf8(variable).ok())
        .filter(|variable| {
            let name = variable.split('=').next().unwrap_or_default();
            !OF_THE_ENGINE.contains(&name)
        })
        .map(String::from)
        .collect()
}

/// A small file of the kernel.
pub(super) fn text_of(path: &str) -> Option<String> {
    let file = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut buffer = vec![0u8; 4096];
    let count = rustix::io::read(file, &mut buffer).ok()?;
    buffer.truncate(count);
    String::from_utf8(buffer).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_checked_against_what_the_kernel_shows() {
        assert!(is_whole_machine("         0          0 4294967295\n"));
        assert!(!is_whole_machine("         0     100000      65536\n"));
        assert!(shows_only_itself("4:memory:/\n0::/\n"));
        assert!(!shows_only_itself("4:memory:/docker/abc\n0::/\n"));
    }

    #[test]
    fn variables_of_the_engine_are_not_of_the_image() {
        let all = [&b"PATH=/opt/bin"[..], b"HOSTNAME=x", b"container=podman", b"JAVA_HOME=/j"];
        assert_eq!(of_the_image(&all), ["PATH=/opt/bin", "JAVA_HOME=/j"]);
    }
}
