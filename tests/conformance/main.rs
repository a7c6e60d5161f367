//! What every backend must do: one list of cases, run wherever they apply.

mod attacks;
mod descriptors;
mod egress;
mod ends;
mod environment;
mod files;
mod git;
mod identity;
mod languages;
mod limits;
mod mounts;
mod network;
mod overlay;
mod policy;
mod processes;
mod refusals;
mod report;
mod resources;
mod streams;
mod volumes;

use std::process::ExitCode;

use fumehood_tests::{Case, Threads, conduct};

fn cases() -> Vec<Case> {
    [
        attacks::cases(),
        languages::cases(),
        streams::cases(),
        ends::cases(),
        environment::cases(),
        limits::cases(),
        resources::cases(),
        files::cases(),
        mounts::cases(),
        volumes::cases(),
        git::cases(),
        overlay::cases(),
        network::cases(),
        egress::cases(),
        identity::cases(),
        descriptors::cases(),
        policy::cases(),
        processes::cases(),
        refusals::cases(),
        report::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn main() -> ExitCode {
    conduct(cases(), Threads::Many)
}
