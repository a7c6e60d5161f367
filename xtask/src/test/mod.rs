//! `cargo xtask test`: everything, from a fresh machine to one line with a count.
//!
//! Whoever may set the machine up runs all tests twice where it matters: as root, and as an
//! ordinary user, who gets the boxes that need no root.

mod binaries;
mod deny;
mod ordinary;
mod reach;
pub mod report;
mod setup;
pub mod tally;

use crate::{
    agents, clients, engines, lint,
    project::{cargo, in_ci},
    sdk, system, workflow,
};

use self::report::Report;
pub use self::{reach::Reach, setup::ORDINARY_USER};

/// Runs everything. An error only says that something failed; what, was said before.
pub fn main() -> Result<(), String> {
    let mut report = Report::new();
    let user = if system::is_root() { report.stage("set-up", setup::everything) } else { None };
    report.stage("clients for the tests", clients::fetch);
    report.check("formatting", &mut lint::format_check());
    report.check("clippy", &mut lint::clippy());
    let root = user.is_some();
    let engines = if root { report.stage("Docker and Podman", engines::start) } else { None };
    // Builds the programs too, which the tests of the command line and of the machine start.
    let mut all = cargo(&["test", "--workspace", "--no-fail-fast"]);
    all.envs(engines.unwrap_or_default());
    report.tests("all tests", &mut all);
    if root {
        report.stage("Docker and Podman ended", engines::down);
    }
    match &user {
        Some(user) => ordinary::run(user, &mut report),
        None => report.missing(
            "the tests as root and as an ordinary user",
            "only one user's half was run: start `cargo xtask test` as root",
            in_ci(),
        ),
    }
    sdk::check(&mut report);
    agents::check(&mut report);
    workflow::check(&mut report);
    deny::check(&mut report);
    report.finish()
}
