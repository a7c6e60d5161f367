//! What must hold for the machine as a whole: many boxes at once, nothing left behind, no box
//! that outlives its supervisor. One case after the other, since they count what is there.

mod bootstrap;
mod broken_off;
mod crowd;
mod engine_crowd;
mod engines;
mod images;
mod leaks;
mod mutation;
mod residue;
mod secrets;
mod supervisor;
mod tool;

use std::process::ExitCode;

use fumehood_tests::{Case, Threads, conduct};

fn cases() -> Vec<Case> {
    [
        crowd::cases(),
        leaks::cases(),
        broken_off::cases(),
        secrets::cases(),
        mutation::cases(),
        supervisor::cases(),
        engines::cases(),
        engine_crowd::cases(),
        images::cases(),
        bootstrap::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn main() -> ExitCode {
    conduct(cases(), Threads::One)
}
