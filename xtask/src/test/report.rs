//! What was run and how it went, kept until the last line says it.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use super::tally::Tally;
use crate::shell;

/// The stages so far.
pub struct Report {
    begun: Instant,
    stages: Vec<Stage>,
}

struct Stage {
    name: String,
    tally: Tally,
    taken: Duration,
    remark: String,
}

impl Report {
    /// An empty report.
    pub fn new() -> Report {
        Report { begun: Instant::now(), stages: Vec::new() }
    }

    /// A stage that gives something to those after it, or fails.
    pub fn stage<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T, String>) -> Option<T> {
        let begun = announce(name);
        let (result, tally, remark) = match work() {
            Ok(value) => (Some(value), Tally { passed: 1, ..Tally::default() }, String::new()),
            Err(message) => (None, Tally { failed: 1, ..Tally::default() }, message),
        };
        self.add(name, tally, begun.elapsed(), remark);
        result
    }

    /// A command that must succeed; it counts as one test.
    pub fn check(&mut self, name: &str, command: &mut Command) {
        self.stage(name, || shell::run(command));
    }

    /// A command that runs test programs, which are counted.
    pub fn tests(&mut self, name: &str, command: &mut Command) {
        self.tests_counted(name, command, Tally::add_line);
    }

    /// The same where something else than cargo runs them, and closes in other words.
    pub fn tests_counted(
        &mut self,
        name: &str,
        command: &mut Command,
        count: fn(&mut Tally, &str),
    ) {
        let begun = announce(name);
        let mut tally = Tally::default();
        let ended = shell::watch(command, |line| count(&mut tally, line));
        let remark = match ended {
            Err(message) => message,
            Ok(status) if tally.failed == 0 && !status.success() => {
                format!("it ended with {status} before its tests did")
            }
            Ok(_) if tally.programs == 0 => "no test program came to its end".to_owned(),
            Ok(_) => String::new(),
        };
        if !remark.is_empty() {
            tally.failed += 1;
        }
        self.add(name, tally, begun.elapsed(), remark);
    }

    /// Cases that are carried out here, and counted as they end.
    pub fn cases(
        &mut self,
        name: &str,
        work: impl FnOnce(&mut dyn FnMut(&str, Result<(), String>)) -> Result<(), String>,
    ) {
        let begun = announce(name);
        let mut tally = Tally::default();
        let result = work(&mut |case, ended| match ended {
            Ok(()) => {
                println!("{case} ... ok");
                tally.passed += 1;
            }
            Err(reason) => {
                println!("{case} ... FAILED: {reason}");
                tally.failed += 1;
            }
        });
        let remark = match result {
            Err(message) => message,
            Ok(()) if tally == Tally::default() => "there was no case".to_owned(),
            Ok(()) => String::new(),
        };
        tally.failed += u64::from(!remark.is_empty());
        self.add(name, tally, begun.elapsed(), remark);
    }

    /// Something that could not be run. A failure where nothing may be missing.
    pub fn missing(&mut self, name: &str, why: &str, is_failure: bool) {
        println!("\nNOT RUN: {name}: {why}");
        let tally = Tally { failed: u64::from(is_failure), ..Tally::default() };
        self.add(name, tally, Duration::ZERO, format!("NOT RUN: {why}"));
    }

    fn add(&mut self, name: &str, tally: Tally, taken: Duration, remark: String) {
        self.stages.push(Stage { name: name.to_owned(), tally, taken, remark });
    }

    /// The table of stages, and the count.
    pub fn finish(self) -> Result<(), String> {
        let mut total = Tally::default();
        println!();
        for Stage { name, tally, taken, remark } in &self.stages {
            total.add(*tally);
            println!(
                "{name:<42} {:>5} passed {:>4} failed {:>7.1} s  {remark}",
                tally.passed,
                tally.failed,
                taken.as_secs_f64()
            );
        }
        println!("{:<42} {:>32.1} s", "all", self.begun.elapsed().as_secs_f64());
        println!("{} passed, {} failed", total.passed, total.failed);
        if total.failed == 0 { Ok(()) } else { Err("not everything passed".to_owned()) }
    }
}

fn announce(name: &str) -> Instant {
    println!("\n=== {name}");
    Instant::now()
}
