//! The root file system of an image, made by `mmdebstrap` or `debootstrap` as a child of ours.

use std::{
    collections::VecDeque,
    env,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    thread,
    time::Duration,
};

use fumehood_core::image::ImageSpec;
use rustix::process::{Pid, Signal, geteuid, kill_process_group};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

use super::{
    super::{ImageError, Progress, Watcher},
    workshop::Workshop,
};

/// How many of its last lines are shown when it fails.
const LAST_WORDS: usize = 3;

/// A program that makes root file systems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Maker {
    Mmdebstrap(PathBuf),
    Debootstrap(PathBuf),
}

/// A command whose mounts are its own: made by root it mounts devices below our directory, and when
/// it is killed nobody would take them away.
fn own_mounts(program: &Path) -> Command {
    let unshare = Path::new("/usr/bin/unshare");
    if !geteuid().is_root() || !is_program(unshare) {
        return Command::new(program);
    }
    let mut command = Command::new(unshare);
    command.args(["--mount", "--"]).arg(program);
    command
}

impl Maker {
    /// The one that is installed.
    pub(super) fn find(spec: &ImageSpec) -> Result<Maker, ImageError> {
        let path = env::var_os("PATH").unwrap_or_default();
        Maker::find_in(env::split_paths(&path))
            .ok_or_else(|| ImageError::NoTool { image: spec.name.clone() })
    }

    fn find_in(directories: impl Iterator<Item = PathBuf>) -> Option<Maker> {
        // It is not in the path of every user.
        let sbin = PathBuf::from("/usr/sbin");
        let directories: Vec<PathBuf> = directories.chain([sbin]).collect();
        let find = |name: &str| {
            let mut candidates = directories.iter().map(|directory| directory.join(name));
            candidates.find(|path| is_program(path))
        };
        find("mmdebstrap")
            .map(Maker::Mmdebstrap)
            .or_else(|| find("debootstrap").map(Maker::Debootstrap))
    }

    fn name(&self) -> &'static str {
        match self {
            Maker::Mmdebstrap(_) => "mmdebstrap",
            Maker::Debootstrap(_) => "debootstrap",
        }
    }

    /// Makes the root file system as an archive.
    pub(super) async fn make(
        &self,
        spec: &ImageSpec,
        suite: &str,
        workshop: &Workshop,
        watcher: Watcher<'_>,
    ) -> Result<PathBuf, ImageError> {
        watcher(Progress::step(format!("making {} from packages of {suite}", spec.name)));
        let archive = workshop.file("root.tar");
        for command in self.commands(spec, suite, workshop, &archive) {
            self.run(command, spec, watcher).await?;
        }
        Ok(archive)
    }

    fn commands(
        &self,
        spec: &ImageSpec,
        suite: &str,
        workshop: &Workshop,
        archive: &Path,
    ) -> Vec<Command> {
        let begin = |program: &Path| {
            let mut command = own_mounts(program);
            command.env("SOURCE_DATE_EPOCH", spec.epoch.to_string()).env("LC_ALL", "C");
            command.arg("--variant=minbase");
            if !spec.packages.is_empty() {
                command.arg(format!("--include={}", spec.packages.join(",")));
            }
            command
        };
        match self {
            Maker::Mmdebstrap(program) => {
                let mut command = begin(program);
                // Without root it works as another user, who does not get into our directory.
                if geteuid().is_root() {
                    command.env("TMPDIR", workshop.path());
                }
                command.args(["--format=tar", suite]).arg(archive);
                vec![command]
            }
            Maker::Debootstrap(program) => {
                let directory = workshop.file("root");
                let mut make = begin(program);
                make.arg(suite).arg(&directory);
                let mut pack = Command::new("tar");
                pack.args(["--numeric-owner", "--one-file-system", "-C"]).arg(&directory);
                pack.arg("-cf").arg(archive).arg(".");
                vec![make, pack]
            }
        }
    }

    async fn run(
        &self,
        mut command: Command,
        spec: &ImageSpec,
        watcher: Watcher<'_>,
    ) -> Result<(), ImageError> {
        let failed = |reason: String| ImageError::Tool {
            program: self.name(),
            image: spec.name.clone(),
            reason,
            remedy: remedy(),
        };
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        // A group of its own, so that all of it can be ended together.
        command.process_group(0);
        let child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let mut running = Running(child);
        let mut last = VecDeque::new();
        if let Some(stderr) = running.0.stderr.take() {
            let mut lines = BufReader::new(stderr).split(b'\n');
            while let Ok(Some(line)) = lines.next_segment().await {
                let line = String::from_utf8_lossy(&line).trim().to_owned();
                hear(&line, &mut last, watcher);
            }
        }
        let status = running.0.wait().await.map_err(|error| failed(error.to_string()))?;
        if status.success() { Ok(()) } else { Err(failed(last_words(&last, status))) }
    }
}

/// Steps are passed on; everything else may be why it fails.
fn hear(line: &str, last: &mut VecDeque<String>, watcher: Watcher<'_>) {
    match line.strip_prefix("I: ") {
        Some(step) => watcher(Progress::step(step)),
        None if line.is_empty() => {}
        None => {
            last.push_back(line.to_owned());
            if last.len() > LAST_WORDS {
                last.pop_front();
            }
        }
    }
}

fn last_words(last: &VecDeque<String>, status: ExitStatus) -> String {
    if last.is_empty() {
        return status.to_string();
    }
    let lines: Vec<&str> = last.iter().map(|line| line.trim_start_matches("E: ")).collect();
    lines.join("; ")
}

fn remedy() -> &'static str {
    if geteuid().is_root() {
        "check that apt can reach its mirrors with `apt-get update`, and that there is free space"
    } else {
        "do it as root, or type `apt-get install uidmap` and give this user a range in /etc/subuid and /etc/subgid, so that it may have user namespaces"
    }
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// A child and everything it started. Dropped before its end, it is ended: politely first, since
/// it has mounts and files of its own to clear away.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let Some(group) = self.0.id().and_then(|id| Pid::from_raw(id.cast_signed())) else {
            return;
        };
        let _ = kill_process_group(group, Signal::TERM);
        for _ in 0..100 {
            if !matches!(self.0.try_wait(), Ok(None)) {
                break;
            }
            thread::sleep(Duration::from_millis(50));
        }
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(test)]
mod tests;
