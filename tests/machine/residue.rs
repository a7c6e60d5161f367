//! Everything that a run could leave on a machine, as sets that can be compared.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// What is there at one moment.
#[derive(Debug, PartialEq, Eq)]
pub struct Residue {
    /// Processes of ours: init programs and everything below this process.
    processes: BTreeSet<String>,
    /// Directories of ours in any cgroup hierarchy.
    cgroups: BTreeSet<String>,
    /// Mounts that this process sees.
    mounts: BTreeSet<String>,
    /// Net namespaces that some process is in.
    net_namespaces: BTreeSet<String>,
    /// Files of ours where temporary files go.
    files: BTreeSet<String>,
    /// Open descriptors of this process.
    descriptors: BTreeSet<String>,
}

impl Residue {
    /// Looks around. `kept` is a directory of ours in which nothing may pile up.
    pub fn now(kept: &Path) -> Residue {
        let mut files = BTreeSet::new();
        for entry in names(&std::env::temp_dir()) {
            if entry.contains("fumehood") {
                files.insert(entry);
            }
        }
        tree(kept, &mut files);
        Residue {
            processes: processes(),
            cgroups: cgroups(),
            mounts: mounts(),
            net_namespaces: net_namespaces(),
            files,
            descriptors: names(Path::new("/proc/self/fd")).into_iter().collect(),
        }
    }

    /// The kinds of which there are more than before, with what they are.
    fn beyond(&self, before: &Residue) -> BTreeMap<&'static str, String> {
        let sets = [
            ("processes", &self.processes, &before.processes),
            ("cgroups", &self.cgroups, &before.cgroups),
            ("mounts", &self.mounts, &before.mounts),
            ("net namespaces", &self.net_namespaces, &before.net_namespaces),
            ("files", &self.files, &before.files),
            ("descriptors", &self.descriptors, &before.descriptors),
        ];
        sets.into_iter()
            .filter(|(_, now, then)| now.len() > then.len())
            .map(|(kind, now, then)| {
                let new: Vec<&String> = now.difference(then).take(20).collect();
                (kind, format!("{} after {}: {new:?}", now.len(), then.len()))
            })
            .collect()
    }
}

/// What there is once the launcher has come to rest: it makes up for the boxes that were used as
/// soon as nobody asks for one.
pub fn at_rest(kept: &Path) -> Residue {
    thread::sleep(Duration::from_millis(500));
    Residue::now(kept)
}

/// Fails unless there is soon no more of anything than before. Names may differ: a launcher keeps
/// boxes ready, and they are others each time. Other programs may come and go meanwhile: only
/// what stays is a leak.
pub fn assert_as_before(before: &Residue, kept: &Path) {
    // An engine takes its time to remove a container.
    let deadline = Instant::now() + Duration::from_secs(40);
    let mut stayed = Residue::now(kept).beyond(before);
    while !stayed.is_empty() {
        assert!(Instant::now() < deadline, "left behind: {stayed:#?}");
        thread::sleep(Duration::from_millis(100));
        let beyond = Residue::now(kept).beyond(before);
        stayed.retain(|kind, found| match beyond.get(kind) {
            Some(still) => {
                found.clone_from(still);
                true
            }
            None => false,
        });
    }
}

fn names(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
}

/// Mounts, without those that an engine of the tests makes for itself beside its socket.
fn mounts() -> BTreeSet<String> {
    let engines: Vec<String> = ["FUMEHOOD_TEST_DOCKER", "FUMEHOOD_TEST_PODMAN"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .filter_map(|host| {
            let directory = Path::new(host.strip_prefix("unix://")?).parent()?;
            Some(format!(" {}/", directory.display()))
        })
        .collect();
    let mut all = lines(Path::new("/proc/self/mountinfo"));
    all.retain(|line| !engines.iter().any(|directory| line.contains(directory)));
    all
}

fn lines(file: &Path) -> BTreeSet<String> {
    fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect()
}

fn pids() -> impl Iterator<Item = u32> {
    names(Path::new("/proc")).into_iter().filter_map(|name| name.parse().ok())
}

/// Name and parent of a process.
fn stat(pid: u32) -> Option<(String, u32)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (head, tail) = text.rsplit_once(')')?;
    let name = head.split_once('(')?.1.to_owned();
    Some((name, tail.split_whitespace().nth(1)?.parse().ok()?))
}

fn processes() -> BTreeSet<String> {
    let all: Vec<(u32, String, u32)> =
        pids().filter_map(|pid| stat(pid).map(|(name, parent)| (pid, name, parent))).collect();
    let below_us = |mut pid: u32| {
        while let Some((_, _, parent)) = all.iter().find(|(candidate, ..)| *candidate == pid) {
            if *parent == std::process::id() {
                return true;
            }
            pid = *parent;
        }
        false
    };
    all.iter()
        .filter(|(pid, ..)| is_init(*pid) || below_us(*pid))
        .map(|(pid, name, _)| format!("{pid} {name}"))
        .collect()
}

/// The init program has no name of its own on the disk; its arguments give it away.
fn is_init(pid: u32) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
    words[0].starts_with(b"/proc/self/fd/") && words.get(1).is_some_and(|word| !word.is_empty())
}

fn cgroups() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![(PathBuf::from("/sys/fs/cgroup"), false)];
    while let Some((directory, ours)) = waiting.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries.filter_map(Result::ok) {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let ours = ours || entry.file_name() == "fumehood";
                if ours {
                    found.insert(entry.path().display().to_string());
                }
                waiting.push((entry.path(), ours));
            }
        }
    }
    found
}

fn net_namespaces() -> BTreeSet<String> {
    pids()
        .filter_map(|pid| fs::read_link(format!("/proc/{pid}/ns/net")).ok())
        .map(|name| name.display().to_string())
        .collect()
}

fn tree(directory: &Path, found: &mut BTreeSet<String>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.filter_map(Result::ok) {
        found.insert(entry.path().display().to_string());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            tree(&entry.path(), found);
        }
    }
}
