//! Limits per process, and what stands in for cgroups where there are none.

use alloc::{format, string::String};

use fumehood_core::{
    Layer, Strength,
    protocol::{CgroupLimits, Resource, Setup},
};
use linux_raw_sys::general as nr;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::Reports;
use crate::{
    failure::{Failure, Step},
    held::{Held, Means},
    sys,
};

pub(super) fn limit(setup: &Setup, held: Held, done: &mut Reports) -> Result<(), Failure> {
    limit_processes(setup, done)?;
    for layer in [Layer::Memory, Layer::Pids, Layer::Cpu] {
        if setup.without.contains(&layer) {
            continue;
        }
        match held.means(layer) {
            Some(Means::Version2) => done.full(layer, "cgroup v2"),
            Some(Means::Version1) => done.full(layer, "cgroup v1"),
            None => stand_in(layer, &setup.cgroup, done)?,
        }
    }
    Ok(())
}

fn limit_processes(setup: &Setup, done: &mut Reports) -> Result<(), Failure> {
    if setup.without.contains(&Layer::Files) {
        return Ok(());
    }
    for limit in &setup.rlimits {
        let number = match limit.resource {
            Resource::OpenFiles => nr::RLIMIT_NOFILE,
            Resource::FileSize => nr::RLIMIT_FSIZE,
            Resource::CoreDump => nr::RLIMIT_CORE,
            Resource::LockedMemory => nr::RLIMIT_MEMLOCK,
        };
        set(number, limit.value)?;
    }
    done.full(Layer::Files, "resource limits, core dumps off");
    Ok(())
}

/// Sets a limit, or what the hard limit allows of it, which nobody here can raise.
fn set(number: u32, value: u64) -> Result<(), Failure> {
    let (_, hard) = sys::rlimit(number).step("reading a resource limit")?;
    sys::set_rlimit(number, value.min(hard)).step("setting a resource limit")
}

/// What can be done without a cgroup. A program gets past these for a moment or in part, which is
/// why they are reported as best effort.
fn stand_in(layer: Layer, limits: &CgroupLimits, done: &mut Reports) -> Result<(), Failure> {
    let detail = match layer {
        Layer::Memory => {
            String::from("no cgroup: memory is looked at every 10 ms, swap stays as it is")
        }
        Layer::Pids => {
            // Counted for the user inside the namespace, so init and the program alone.
            set(nr::RLIMIT_NPROC, u64::from(limits.pids) + 1)?;
            String::from("no cgroup: RLIMIT_NPROC inside the user namespace")
        }
        _ => {
            let cores = limits.milli_cores.div_ceil(1000) as usize;
            let kept = pin_to(cores).step("processor affinity")?;
            format!("no cgroup: started on {kept} of the processors, fractions are not held")
        }
    };
    done.add(layer, Strength::BestEffort, detail);
    Ok(())
}

/// Keeps the box on some of the processors that this process may use. Which ones depends on the
/// process id, so that boxes do not all crowd onto the first.
fn pin_to(count: usize) -> Result<usize, rustix::io::Errno> {
    let usable = sched_getaffinity(None)?;
    let all = (0..CpuSet::MAX_CPU).filter(|cpu| usable.is_set(*cpu));
    let total = all.clone().count();
    if count >= total {
        return Ok(total);
    }
    let skip = sys::now_nanos() as usize / 1000 % total;
    let mut chosen = CpuSet::new();
    for cpu in all.clone().chain(all).skip(skip).take(count) {
        chosen.set(cpu);
    }
    sched_setaffinity(None, &chosen)?;
    Ok(count)
}
