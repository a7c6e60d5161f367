//! What runs could leave on this machine, as far as it is this process's doing.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::judge::Seen;

/// How many there are of each kind.
pub(super) type Residue = BTreeMap<&'static str, usize>;

/// What there is once the launcher has come to rest: it makes up for boxes that were used as soon
/// as nobody asks for one.
pub(super) async fn at_rest() -> Residue {
    tokio::time::sleep(Duration::from_millis(500)).await;
    now()
}

/// Of which kinds there are more than before, and stay more.
pub(super) async fn left_since(before: &Residue, patience: Duration) -> Seen {
    let begun = Instant::now();
    let more = |now: &Residue| -> BTreeMap<&'static str, usize> {
        let beyond = |(kind, count): (&&'static str, &usize)| {
            let extra = count.saturating_sub(before.get(kind).copied().unwrap_or(0));
            (*kind, extra)
        };
        now.iter().map(beyond).collect()
    };
    let mut left = more(&now());
    while left.values().any(|count| *count > 0) && begun.elapsed() < patience {
        tokio::time::sleep(Duration::from_millis(50)).await;
        left = more(&now());
    }
    left.into_iter().fold(Seen::default(), |seen, (kind, count)| {
        seen.and(kind, if count == 0 { "none".to_owned() } else { format!("{count} more") })
    })
}

fn now() -> Residue {
    let ours = descendants();
    let namespaces: BTreeSet<PathBuf> =
        ours.iter().filter_map(|pid| fs::read_link(format!("/proc/{pid}/ns/net")).ok()).collect();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    BTreeMap::from([
        ("processes", ours.len()),
        ("net_namespaces", namespaces.len()),
        ("mounts", mounts.lines().count()),
        ("cgroups", cgroups(&ours)),
        ("descriptors", fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)),
    ])
}

/// Every process below this one.
fn descendants() -> BTreeSet<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return BTreeSet::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let parent = |pid: u32| -> Option<u32> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    let parents: BTreeMap<u32, u32> = pids.filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let own = std::process::id();
    let below = |pid: u32| {
        let chain = std::iter::successors(Some(pid), |pid| parents.get(pid).copied());
        chain.skip(1).take(64).any(|above| above == own)
    };
    parents.keys().copied().filter(|pid| below(*pid)).collect()
}

/// Cgroups of boxes that a launcher of ours made: their names have its number.
fn cgroups(ours: &BTreeSet<u32>) -> usize {
    let is_ours = |name: &str| {
        let mut parts = name.strip_prefix("box-").into_iter().flat_map(|rest| rest.split('-'));
        parts.next().and_then(|pid| pid.parse().ok()).is_some_and(|pid| ours.contains(&pid))
    };
    let mut waiting = vec![PathBuf::from("/sys/fs/cgroup")];
    let mut count = 0;
    while let Some(directory) = waiting.pop() {
        for path in directories(&directory) {
            count +=
                usize::from(path.file_name().and_then(|name| name.to_str()).is_some_and(is_ours));
            waiting.push(path);
        }
    }
    count
}

fn directories(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    directories.map(|entry| entry.path()).collect()
}
