//! The limits that an engine set for its container, read from within: what is there is held by the
//! kernel, whatever the engine says of it.

use alloc::{format, string::String, vec::Vec};

use fumehood_core::{Layer, protocol::CgroupLimits};
use rustix::fs::{Mode, OFlags, open};

use super::container::text_of;
use crate::{
    held::{Held, Means},
    meters::{self, Meters},
};

const TOP: &str = "/sys/fs/cgroup";

/// Which limits hold, and the files that count what is used.
pub(super) fn look(limits: &CgroupLimits) -> (Held, Meters) {
    let mut held = Held::default();
    let mut open_meters = Vec::new();
    for layer in [Layer::Memory, Layer::Pids, Layer::Cpu] {
        let found = [Means::Version2, Means::Version1]
            .into_iter()
            .map(|means| (means, directory(layer, means)))
            .find(|(means, directory)| holds(layer, *means, directory, limits));
        let Some((means, directory)) = found else { continue };
        held.add(layer, means);
        for (meter, file) in meters::files(layer, means) {
            let path = format!("{directory}/{file}");
            if let Ok(file) = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) {
                open_meters.push((*meter, file));
            }
        }
    }
    (held, Meters(open_meters))
}

fn directory(layer: Layer, means: Means) -> String {
    let controller = match layer {
        Layer::Memory => "memory",
        Layer::Pids => "pids",
        _ => "cpu",
    };
    match means {
        Means::Version2 => String::from(TOP),
        Means::Version1 => format!("{TOP}/{controller}"),
    }
}

fn holds(layer: Layer, means: Means, directory: &str, limits: &CgroupLimits) -> bool {
    let read = |file: &str| text_of(&format!("{directory}/{file}"));
    match (layer, means) {
        (Layer::Memory, Means::Version2) => at_most(read("memory.max"), limits.memory),
        (Layer::Memory, Means::Version1) => at_most(read("memory.limit_in_bytes"), limits.memory),
        // One more for init.
        (Layer::Pids, _) => at_most(read("pids.max"), u64::from(limits.pids) + 1),
        (_, Means::Version2) => read("cpu.max").is_some_and(|text| is_quota(&text, limits)),
        (_, Means::Version1) => match (read("cpu.cfs_quota_us"), read("cpu.cfs_period_us")) {
            (Some(quota), Some(period)) => is_quota(&format!("{quota} {period}"), limits),
            _ => false,
        },
    }
}

/// True if the file holds a number that is not above this one.
fn at_most(text: Option<String>, most: u64) -> bool {
    text.and_then(|text| text.trim().parse::<u64>().ok()).is_some_and(|number| number <= most)
}

/// True if a quota and its period allow no more than the limit. No number means no quota.
fn is_quota(text: &str, limits: &CgroupLimits) -> bool {
    let mut numbers = text.split_whitespace().map(|word| word.parse::<u64>().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        // The kernel takes no quota below a millisecond.
        (Some(quota), Some(period)) if period > 0 => {
            quota * 1000 <= (u64::from(limits.milli_cores) * period).max(1_000_000)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: CgroupLimits = CgroupLimits { memory: 1 << 20, pids: 8, milli_cores: 500 };

    #[test]
    fn only_a_limit_that_is_low_enough_holds() {
        let text = |text: &str| Some(String::from(text));
        assert!(at_most(text("1048576\n"), LIMITS.memory));
        assert!(!at_most(text("1048577\n"), LIMITS.memory));
        assert!(!at_most(text("max\n"), LIMITS.memory));
        assert!(!at_most(None, LIMITS.memory));
        assert!(is_quota("50000 100000\n", &LIMITS));
        assert!(!is_quota("50001 100000\n", &LIMITS));
        assert!(!is_quota("max 100000\n", &LIMITS));
        assert!(!is_quota("-1\n 100000\n", &LIMITS));
    }
}
