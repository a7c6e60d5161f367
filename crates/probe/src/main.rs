//! `fumehood-probe HOST PORT tls|plain ...`: tries each connection and prints one word for each, in
//! order. It runs inside a box, so it needs nothing of the box: no shell, no C library, no resolver.

#![forbid(unsafe_code)]

mod attempt;
mod dns;
mod hello;
mod names;

use std::{process::ExitCode, thread};

use attempt::{Attempt, Seen};

const USAGE: &str = "usage: fumehood-probe HOST PORT tls|plain ...";

/// Attempts at once.
const AT_ONCE: usize = 16;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let attempts: Option<Vec<Attempt>> = arguments.chunks(3).map(Attempt::parse).collect();
    let Some(attempts) = attempts.filter(|attempts| !attempts.is_empty()) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    for some in attempts.chunks(AT_ONCE) {
        all(some).into_iter().for_each(|seen| println!("{seen}"));
    }
    ExitCode::SUCCESS
}

/// Makes attempts side by side. A box with no room for threads makes them one by one.
fn all(attempts: &[Attempt]) -> Vec<Seen> {
    thread::scope(|scope| {
        let begun: Vec<_> = attempts
            .iter()
            .map(|attempt| {
                let thread = thread::Builder::new().spawn_scoped(scope, || attempt.make());
                thread.map_err(|_| attempt.make())
            })
            .collect();
        let ended = begun.into_iter().map(|begun| match begun {
            Ok(thread) => thread.join().unwrap_or(Seen::Unreachable),
            Err(seen) => seen,
        });
        ended.collect()
    })
}
