//! What hostile code tries in a box. `fumehood-attacks ID [ARGUMENT...]` makes the attempts of one
//! row of the catalogue and prints what each got, one `label answer` per line. It judges nothing:
//! that is done outside, where no attack can reach.
//!
//! A program of its own because it must run in any image, and because nothing of it may ever be
//! part of what is trusted.

mod answer;
mod files;
mod kernel;
mod network;
mod resources;
mod supervisor;
mod sys;

use std::{env, process::ExitCode};

/// The arguments behind the id of a row.
type Words<'a> = &'a [&'a str];

/// An attack: makes its attempts and tells what became of each.
type Attack = fn(Words<'_>);

/// The attack of a row.
fn attack(id: &str) -> Option<Attack> {
    let all = [kernel::ATTACKS, resources::ATTACKS, files::ATTACKS, network::ATTACKS];
    let mut all = all.iter().copied().chain([supervisor::ATTACKS]).flatten();
    all.find(|(name, _)| *name == id).map(|(_, attack)| *attack)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let found = words.split_first().and_then(|(id, rest)| Some((attack(id)?, rest)));
    let Some((attack, rest)) = found else {
        eprintln!("usage: fumehood-attacks ID [ARGUMENT...], such as K6");
        return ExitCode::from(2);
    };
    attack(rest);
    ExitCode::SUCCESS
}
