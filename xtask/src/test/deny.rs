//! Licences, sources, bans and advisories of the dependencies, by cargo-deny.

use super::report::Report;
use crate::{
    project::{cargo, in_ci},
    shell,
};

/// Checked against this version; another may want another configuration.
const VERSION: &str = "0.20.2";

/// Checks the dependencies, as far as that can be done here.
pub fn check(report: &mut Report) {
    if !shell::works(&mut cargo(&["deny", "--version"])) {
        if !in_ci() {
            let why = format!("cargo install cargo-deny --locked --version {VERSION}");
            report.missing("dependencies", &why, false);
            return;
        }
        // Unoptimized it is built in a third of the time and checks as fast.
        let install = ["install", "cargo-deny", "--locked", "--debug", "--version", VERSION];
        report.check("cargo-deny installed", &mut cargo(&install));
    }
    // Whether the list of advisories can be had is the network's matter, not the change's.
    if shell::works(&mut cargo(&["deny", "fetch", "db"])) {
        report.check("dependencies", &mut cargo(&["deny", "check"]));
    } else {
        report.missing("advisories", "their database could not be fetched", false);
        let rest = ["deny", "check", "bans", "licenses", "sources"];
        report.check("dependencies without advisories", &mut cargo(&rest));
    }
}
