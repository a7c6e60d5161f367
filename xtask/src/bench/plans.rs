//! How long it takes to find a policy, merge it and make a plan, before anything is started.

use std::{fs, path::Path};

use super::{
    Programs,
    samples::Samples,
    table::{Table, millis},
    warm::Warm,
};

/// What a project of some size says.
const POLICY: &str = "\
version: 1
extends: default
fs:
  workspace: rw
  protect: [scripts/release.sh, .github/workflows]
net:
  mode: localhost
proc:
  memory: 1g
  cpus: 2
  pids: 200
  timeout: 10m
  output: 32m
env:
  pass: [LANG, TERM, CARGO_*]
  set:
    CI: \"true\"
    RUST_BACKTRACE: \"1\"
  deny: [AWS_*, GITHUB_TOKEN]
require: [seccomp, user_namespace, mount_namespace]
ceiling:
  memory: 4g
  cpus: 4
  timeout: 1h
";

const DENIALS: &str = "  deny: ['**/.env', '**/.ssh/**', '**/*.pem']\n";
const DIRECTORIES: usize = 200;
const FILES: usize = 500;

/// Three directories: one without a policy, one with, and one in which files have to be looked for.
pub fn table(programs: &Programs, runs: usize) -> Result<Table, String> {
    let scratch = std::env::temp_dir().join(format!("fumehood-bench-{}", std::process::id()));
    let measured = measure(programs, runs, &scratch);
    let _ = fs::remove_dir_all(&scratch);
    measured
}

fn measure(programs: &Programs, runs: usize, scratch: &Path) -> Result<Table, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", scratch.display());
    let with_denials = POLICY.replace("net:\n", &format!("{DENIALS}net:\n"));
    let projects =
        [("plain", None), ("governed", Some(POLICY)), ("large", Some(with_denials.as_str()))];
    for (name, policy) in projects {
        let directory = scratch.join(name);
        fs::create_dir_all(directory.join(".git/hooks")).map_err(failed)?;
        fs::write(directory.join(".git/config"), "[core]\n").map_err(failed)?;
        if let Some(policy) = policy {
            fs::write(directory.join("sandbox.policy.yaml"), policy).map_err(failed)?;
        }
    }
    for number in 0..DIRECTORIES {
        let directory = scratch.join("large").join(format!("d{number}"));
        fs::create_dir(&directory).map_err(failed)?;
        for file in 0..FILES {
            fs::write(directory.join(format!("f{file}.txt")), "").map_err(failed)?;
        }
    }
    let mut warm = Warm::start(&programs.helper, 0)?;
    let mut table = Table::new("policy found and merged, plan made", &["p50", "p99"]);
    let files = DIRECTORIES * FILES;
    for (row, name, runs) in [
        ("no policy file".to_owned(), "plain", runs),
        (format!("a policy of {} lines", POLICY.lines().count()), "governed", runs),
        (format!("the same, with 3 denials, and {files} files"), "large", runs.min(20)),
    ] {
        let directory = scratch.join(name);
        let mut samples = Samples::default();
        warm.plan(&directory)?;
        for _ in 0..runs {
            samples.push(warm.plan(&directory)?);
        }
        table.row(&row, &[millis(samples.median()), millis(samples.percentile(99))]);
    }
    Ok(table)
}
