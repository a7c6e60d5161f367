//! `cargo xtask fuzz`: what reads bytes of strangers, fed with bytes that a fuzzer makes up.
//!
//! The targets are in `fuzz/targets`, what they begin with in `fuzz/corpus`. What is found on the
//! way stays below the target directory; an input that breaks something belongs into the corpus,
//! once it is mended.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use crate::{
    project::{cargo, root, target},
    shell,
};

/// Tried with this version.
const CARGO_FUZZ: &str = "0.13.2";

/// A target, how often it is carried out, and where else there are inputs for it.
struct Target {
    name: &'static str,
    executions: u64,
    more: Option<&'static str>,
}

const TARGETS: &[Target] = &[
    Target { name: "protocol", executions: 2_000_000, more: None },
    Target { name: "policy", executions: 100_000, more: Some("profiles") },
    Target { name: "configuration", executions: 100_000, more: None },
    Target { name: "dns", executions: 1_000_000, more: None },
    Target { name: "greeting", executions: 1_000_000, more: None },
    Target { name: "http", executions: 500_000, more: None },
    Target { name: "archive", executions: 20_000, more: None },
];

struct Options<'a> {
    seconds: u64,
    targets: Vec<&'a Target>,
}

impl<'a> Options<'a> {
    fn read(mut words: &[&str]) -> Result<Options<'a>, String> {
        let mut options = Options { seconds: 120, targets: Vec::new() };
        while let [word, rest @ ..] = words {
            words = rest;
            match (*word, words) {
                ("--seconds", [number, rest @ ..]) => {
                    options.seconds = number.parse().map_err(|_| format!("--seconds {number}?"))?;
                    words = rest;
                }
                (name, _) => options.targets.push(named(name)?),
            }
        }
        if options.targets.is_empty() {
            options.targets.extend(TARGETS);
        }
        Ok(options)
    }
}

fn named(name: &str) -> Result<&'static Target, String> {
    TARGETS.iter().find(|target| target.name == name).ok_or_else(|| {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        format!("there is no target {name}; there are {}", names.join(", "))
    })
}

/// Carries out targets, each as often as it says or for as long as it may take. An error names
/// those that broke or did not get that far.
pub fn main(words: &[&str]) -> Result<(), String> {
    let options = Options::read(words)?;
    let program = program()?;
    let mut rows = Vec::new();
    let mut failed = Vec::new();
    for target in options.targets {
        eprintln!("=== {}", target.name);
        let begun = Instant::now();
        let done = carry_out(&program, target, options.seconds);
        let executions = *done.as_ref().unwrap_or(&0);
        rows.push((target, executions, begun.elapsed().as_secs()));
        match done {
            Ok(executions) if executions >= target.executions => {}
            Ok(executions) => failed.push(format!(
                "{}: {executions} of {} in {} s",
                target.name, target.executions, options.seconds
            )),
            Err(reason) => failed.push(format!("{}: {reason}", target.name)),
        }
    }
    println!("| target | wanted | carried out | seconds |\n|---|---:|---:|---:|");
    for (Target { name, executions, .. }, done, seconds) in rows {
        println!("| {name} | {executions} | {done} | {seconds} |");
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
}

/// cargo-fuzz, installed below the target directory where it is not there yet.
fn program() -> Result<PathBuf, String> {
    let place = target().join("cargo-fuzz");
    let program = place.join("bin/cargo-fuzz");
    if !program.exists() {
        let install = ["install", "cargo-fuzz", "--version", CARGO_FUZZ, "--locked", "--root"];
        shell::run(cargo(&install).arg(&place))?;
    }
    Ok(program)
}

/// How often the target was carried out.
fn carry_out(program: &Path, fuzzed: &Target, seconds: u64) -> Result<u64, String> {
    // New inputs go to the first directory.
    let found = target().join("fuzz").join("corpus").join(fuzzed.name);
    fs::create_dir_all(&found).map_err(|error| format!("{} ({error})", found.display()))?;
    let kept = target().join("fuzz").join("artifacts").join(fuzzed.name).join("");
    fs::create_dir_all(&kept).map_err(|error| format!("{} ({error})", kept.display()))?;
    let mut command = Command::new(program);
    command.args(["fuzz", "run", "--sanitizer", "none", "--fuzz-dir"]).arg(root().join("fuzz"));
    command.arg("--target-dir").arg(target().join("fuzz")).arg(fuzzed.name);
    command.arg(&found).arg(root().join("fuzz/corpus").join(fuzzed.name));
    command.args(fuzzed.more.map(|more| root().join(more)));
    command.arg("--").arg(format!("-artifact_prefix={}", kept.display()));
    command.arg(format!("-runs={}", fuzzed.executions));
    command.arg(format!("-max_total_time={seconds}")).arg("-print_final_stats=1");
    // Coverage is asked of the compiler with options that are not stable; the language is.
    command.env("RUSTC_BOOTSTRAP", "1").current_dir(root());
    let ended = command.stderr(Stdio::piped()).stdout(Stdio::inherit()).output();
    let ended = ended.map_err(|error| format!("cargo-fuzz could not be started ({error})"))?;
    let said = String::from_utf8_lossy(&ended.stderr);
    if !ended.status.success() {
        let lines: Vec<&str> = said.lines().collect();
        let last = lines[lines.len().saturating_sub(40)..].join("\n");
        return Err(format!("{}; what it said last:\n{last}", ended.status));
    }
    executed(&said).ok_or_else(|| "it did not say how often it was carried out".to_owned())
}

/// The count in what a fuzzer says at its end.
fn executed(said: &str) -> Option<u64> {
    let line =
        said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_a_source_and_something_to_begin_with() {
        let sources = fs::read_dir(root().join("fuzz/targets")).unwrap().count();
        assert_eq!(sources, TARGETS.len());
        for target in TARGETS {
            assert!(root().join("fuzz/targets").join(format!("{}.rs", target.name)).exists());
            assert!(root().join("fuzz/corpus").join(target.name).is_dir());
        }
    }

    #[test]
    fn the_count_is_read() {
        assert_eq!(executed("a\nstat::number_of_executed_units: 42\nb"), Some(42));
        assert_eq!(executed("nothing"), None);
    }
}
