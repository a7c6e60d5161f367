//! The machine that was measured, in one line.

use std::{fs, process::Command};

use crate::shell;

/// Processor, kernel, versions, day, and how often everybody ran.
pub fn describe(runs: usize) -> Result<String, String> {
    let processors = fs::read_to_string("/proc/cpuinfo").map_err(|error| error.to_string())?;
    let model = processors
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("unknown processor", |(_, model)| model);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let bwrap = shell::output(Command::new("bwrap").arg("--version"))?;
    let day = shell::output(Command::new("date").args(["-u", "+%F"]))?;
    let user = if crate::system::is_root() { "root" } else { "an ordinary user" };
    Ok(format!(
        "{model}, {cores} cores, Linux {}, {}, as {user}, {}, {runs} rounds",
        kernel.trim(),
        bwrap.trim(),
        day.trim()
    ))
}
