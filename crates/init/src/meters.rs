//! What the cgroups of a box count, read through open files: by init when the program has ended,
//! by the launcher when init did not live to tell.

use alloc::vec::Vec;

use fumehood_core::{Layer, protocol::BoxUsage};
use rustix::{fd::OwnedFd, io::pread};

use crate::held::Means;

/// One thing that is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meter {
    MemoryPeak = 0,
    OomKills = 1,
    PidsPeak = 2,
    PidsRefused = 3,
}

impl Meter {
    pub(crate) fn from_number(number: u8) -> Option<Meter> {
        [Meter::MemoryPeak, Meter::OomKills, Meter::PidsPeak, Meter::PidsRefused]
            .into_iter()
            .find(|meter| *meter as u8 == number)
    }

    /// The field of the file that holds the number; `None` if the file is the number.
    fn field(self) -> Option<&'static str> {
        match self {
            Meter::MemoryPeak | Meter::PidsPeak => None,
            Meter::OomKills => Some("oom_kill"),
            Meter::PidsRefused => Some("max"),
        }
    }
}

/// The files of a cgroup that tell what was used, where this layer is held by these means.
pub(crate) fn files(layer: Layer, means: Means) -> &'static [(Meter, &'static str)] {
    match (layer, means) {
        (Layer::Memory, Means::Version1) => &[
            (Meter::MemoryPeak, "memory.max_usage_in_bytes"),
            (Meter::OomKills, "memory.oom_control"),
        ],
        (Layer::Memory, Means::Version2) => {
            &[(Meter::MemoryPeak, "memory.peak"), (Meter::OomKills, "memory.events")]
        }
        (Layer::Pids, _) => &[(Meter::PidsPeak, "pids.peak"), (Meter::PidsRefused, "pids.events")],
        _ => &[],
    }
}

/// The open files of a box.
#[derive(Default)]
pub(crate) struct Meters(pub(crate) Vec<(Meter, OwnedFd)>);

impl Meters {
    pub(crate) fn read(&self) -> BoxUsage {
        let mut usage = BoxUsage::default();
        for (meter, file) in &self.0 {
            let value = read(*meter, file);
            match meter {
                Meter::MemoryPeak => usage.memory_peak = value,
                Meter::OomKills => usage.oom_kills = value,
                // The init of the box is not the caller's business.
                Meter::PidsPeak => usage.pids_peak = value.map(|peak| peak.saturating_sub(1)),
                Meter::PidsRefused => usage.pids_refused = value,
            }
        }
        usage
    }
}

fn read(meter: Meter, file: &OwnedFd) -> Option<u64> {
    let mut buffer = [0u8; 512];
    let count = pread(file, &mut buffer[..], 0).ok()?;
    let text = core::str::from_utf8(buffer.get(..count)?).ok()?;
    parse(text, meter.field())
}

fn parse(text: &str, field: Option<&str>) -> Option<u64> {
    let Some(field) = field else { return text.trim().parse().ok() };
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(' ')?;
        if name == field { value.trim().parse().ok() } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_fields_are_found() {
        assert_eq!(parse("4096\n", None), Some(4096));
        let control = "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n";
        assert_eq!(parse(control, Some("oom_kill")), Some(3));
        assert_eq!(parse("max 2\n", Some("max")), Some(2));
        assert_eq!(parse("max 2\n", Some("min")), None);
        assert_eq!(parse("garbage", None), None);
    }
}
