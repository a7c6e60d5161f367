//! The same test programs once more, as a user without any rights.

use super::{
    binaries::{self, Binary},
    reach::Reach,
    report::Report,
};
use crate::{
    project::{root, target},
    system::User,
};

/// What behaves differently without root.
const PACKAGES: &[&str] = &["crates/engine", "crates/cli", "tests"];

/// Runs the test programs as the user.
pub fn run(user: &User, report: &mut Report) {
    let found = report.stage("test programs for the ordinary user", || {
        let binaries = binaries::below(PACKAGES)?;
        if binaries.is_empty() {
            return Err("cargo names no test program".to_owned());
        }
        let reach = Reach::find(user, &[root(), target()])?;
        Ok((binaries, reach))
    });
    let Some((binaries, reach)) = found else { return };
    for Binary { package, name, directory, program } in &binaries {
        let mut command = reach.command(user, program, directory);
        // What cargo would set, and the tests look at.
        command.env("CARGO_MANIFEST_DIR", directory);
        report.tests(&format!("as {}: {package} {name}", user.name), &mut command);
    }
}
