//! Whose a container is and until when, written on the container itself, so that any fumehood can
//! tell an orphan from a box at work.

use std::{
    collections::HashMap,
    fs,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::BoxPlan;

/// The label that names the process that made a container.
pub(super) const OWNER: &str = "fumehood.owner";
/// The label that says until when it may exist, in seconds since 1970.
pub(super) const LEASE: &str = "fumehood.lease";

/// What a box may take beyond the time of its program: the engine is slow at times.
const SLACK: Duration = Duration::from_secs(300);

/// A process, told apart from every other that ever had or will have its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    /// This boot of this machine, and the pid namespace in it.
    world: String,
    process: u32,
    started: u64,
}

impl Owner {
    /// This process.
    pub(super) fn this_process() -> Owner {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let process = std::process::id();
        Owner {
            world: format!("{}/{}", boot.trim(), namespace.display()),
            process,
            started: start_of(process).unwrap_or(0),
        }
    }

    fn label(&self) -> String {
        format!("{} {} {}", self.world, self.process, self.started)
    }

    fn parse(label: &str) -> Option<Owner> {
        let mut words = label.split(' ');
        let owner = Owner {
            world: words.next()?.to_owned(),
            process: words.next()?.parse().ok()?,
            started: words.next()?.parse().ok()?,
        };
        words.next().is_none().then_some(owner)
    }

    /// The labels of a container that this process makes now.
    pub(super) fn labels(&self, plan: &BoxPlan) -> HashMap<String, String> {
        let limits = &plan.limits;
        let longest = limits.timeout.duration() + limits.grace.duration() + SLACK;
        let until = now().saturating_add(longest.as_secs());
        HashMap::from([(OWNER.to_owned(), self.label()), (LEASE.to_owned(), until.to_string())])
    }

    /// True if nobody is there any more who could end the container with these labels.
    pub(super) fn is_orphan(&self, labels: &HashMap<String, String>) -> bool {
        judge(self, labels, now(), start_of)
    }
}

/// A process of our own world is asked for; of another world only the lease is known. What cannot
/// be read is left alone.
fn judge(
    us: &Owner,
    labels: &HashMap<String, String>,
    now: u64,
    start_of: impl Fn(u32) -> Option<u64>,
) -> bool {
    let Some(owner) = labels.get(OWNER).and_then(|label| Owner::parse(label)) else { return false };
    if owner.world == us.world {
        return start_of(owner.process) != Some(owner.started);
    }
    labels.get(LEASE).and_then(|until| until.parse::<u64>().ok()).is_some_and(|until| until < now)
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs())
}

/// When a process was started, in ticks since the boot; `None` if there is none.
fn start_of(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name is in parentheses and may hold anything; the fields after it are numbers.
    let (_, fields) = text.rsplit_once(')')?;
    fields.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(owner: &str, lease: &str) -> HashMap<String, String> {
        HashMap::from([(OWNER.to_owned(), owner.to_owned()), (LEASE.to_owned(), lease.to_owned())])
    }

    #[test]
    fn a_process_that_lives_keeps_its_containers() {
        let us = Owner::this_process();
        assert_eq!(Owner::parse(&us.label()), Some(us.clone()));
        assert!(us.started > 0, "a start time was read");
        assert!(!us.is_orphan(&labels(&us.label(), "0")), "whatever the lease says");
        let before = Owner { started: us.started - 1, ..us.clone() };
        assert!(us.is_orphan(&labels(&before.label(), "99999999999")), "the number was used again");
    }

    #[test]
    fn of_another_machine_only_the_lease_counts() {
        let us = Owner { world: "boot/pid:[1]".into(), process: 7, started: 70 };
        let nobody = |_| None;
        let of = |label: &str, lease: &str| judge(&us, &labels(label, lease), 100, nobody);
        assert!(of("other/pid:[1] 7 70", "99"));
        assert!(!of("other/pid:[1] 7 70", "101"));
        assert!(of("boot/pid:[1] 8 80", "101"));
    }

    #[test]
    fn what_is_not_ours_or_not_readable_stays() {
        let us = Owner::this_process();
        for label in ["", "x", "a b c", "a 1 2 3"] {
            assert!(!us.is_orphan(&labels(label, "0")), "{label}");
        }
        assert!(!us.is_orphan(&HashMap::new()));
    }
}
