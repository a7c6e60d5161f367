//! `cargo xtask bench`: what a box costs, beside what others cost, in one run on one machine.
//!
//! Every number stands beside the same number of a bare process and of bwrap, measured by the same
//! code in turn with it, so that whatever else the machine does hits all alike.

mod compile;
mod contestants;
mod engines;
mod gate;
mod machine;
mod memory;
mod plans;
mod samples;
mod starts;
mod table;
mod warm;

use std::{path::PathBuf, process::Command};

use serde_json::Value;

use crate::{
    project::{cargo, root},
    shell, system,
};

use self::{contestants::Contestants, table::Document};

/// What is measured, and how often.
struct Options {
    runs: usize,
    write: Option<PathBuf>,
}

impl Options {
    fn read(mut words: &[&str]) -> Result<Options, String> {
        let mut options = Options { runs: 300, write: None };
        loop {
            words = match words {
                [] => return Ok(options),
                ["--runs", number, rest @ ..] => {
                    options.runs = number.parse().map_err(|_| format!("--runs {number}?"))?;
                    rest
                }
                ["--write", file, rest @ ..] => {
                    options.write = Some(root().join(file));
                    rest
                }
                [word, ..] => return Err(format!("bench has no option {word}")),
            };
        }
    }
}

/// The programs that are measured, and the one that measures the library from inside.
struct Programs {
    fumehood: PathBuf,
    helper: PathBuf,
    python: PathBuf,
}

/// Measures, prints, and writes if asked to.
pub fn main(words: &[&str]) -> Result<(), String> {
    let options = Options::read(words)?;
    let programs = get_ready()?;
    let contestants = Contestants::new(&programs)?;
    let mut document = Document::new(machine::describe(options.runs)?);
    for workload in contestants.workloads() {
        eprintln!("starting {} …", workload.name);
        let seen = starts::in_turn(&contestants, &workload, options.runs)?;
        document.add(starts::table(&workload, &seen));
    }
    eprintln!("throughput …");
    document.add(starts::throughput(&contestants)?);
    eprintln!("compiling …");
    document.add(compile::table(&programs, &contestants)?);
    eprintln!("memory …");
    document.add(memory::table(&programs, &contestants)?);
    eprintln!("plans …");
    document.add(plans::table(&programs, options.runs)?);
    eprintln!("network …");
    document.add(gate::table(&programs)?);
    if system::is_root() {
        eprintln!("containers …");
        document.add(engines::table(&programs)?);
    }
    println!("{}", document.text());
    match options.write {
        Some(file) => document.write_into(&file),
        None => Ok(()),
    }
}

fn get_ready() -> Result<Programs, String> {
    let missing = |program: &str| {
        !shell::works(Command::new(program).arg("--version").env("PATH", system::SYSTEM_PATH))
    };
    let needs = [("bwrap", "bubblewrap"), ("unshare", "util-linux"), ("gcc", "gcc")];
    let packages: Vec<&str> =
        needs.into_iter().filter(|(program, _)| missing(program)).map(|(_, name)| name).collect();
    if !packages.is_empty() {
        if !system::is_root() {
            return Err(format!("install {} first", packages.join(" and ")));
        }
        system::install(&packages)?;
    }
    let built = build()?;
    let find = |name: &str| {
        let found = built.iter().find(|program| program.file_name().is_some_and(|n| n == name));
        found.cloned().ok_or_else(|| format!("cargo did not say where it put {name}"))
    };
    // The system's own, behind its links: the same file for everybody, no shim in the way.
    let python = std::fs::canonicalize("/usr/bin/python3")
        .map_err(|error| format!("/usr/bin/python3 is needed ({error})"))?;
    Ok(Programs { fumehood: find("fumehood")?, helper: find("fumehood-bench")?, python })
}

/// Builds what is measured, and asks cargo where it is: the place depends on its settings.
fn build() -> Result<Vec<PathBuf>, String> {
    let arguments = [
        "build",
        "--release",
        "--package",
        "fumehood-cli",
        "--package",
        "fumehood-bench",
        "--message-format=json-render-diagnostics",
    ];
    let messages = shell::output(&mut cargo(&arguments))?;
    let read = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    };
    Ok(messages.lines().filter_map(read).collect())
}
