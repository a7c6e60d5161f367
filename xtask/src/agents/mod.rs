//! `cargo xtask agents`: the MCP server, tried by clients and a suite that others wrote.

mod conformance;
mod inspector;
mod served;

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{project::target, sdk, shell, test::report::Report};

/// What is installed, each with the version that was tried. The suite needs a newer Node than
/// distributions have.
const PACKAGES: &[&str] = &[
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/conformance@0.1.16",
    "node@22.23.3",
];

/// Tests the server. An error only says that something failed; what, was said before.
pub fn main() -> Result<(), String> {
    let mut report = Report::new();
    check(&mut report);
    report.finish()
}

/// Tests the server. What cannot be set up is a failure.
pub fn check(report: &mut Report) {
    let Some(program) = report.stage("program for agents", sdk::build) else { return };
    let Some(bench) = report.stage("clients of MCP", || Bench::prepare(program)) else { return };
    report.cases("MCP inspector", |case| inspector::run(&bench, case));
    report.cases("MCP conformance", |case| conformance::run(&bench, case));
}

/// What the checks work with: the program, other people's programs, and places of their own.
pub struct Bench {
    program: PathBuf,
    place: PathBuf,
}

impl Bench {
    fn prepare(program: PathBuf) -> Result<Bench, String> {
        let place = target().join("agents");
        for own in ["state", "config", "workspace"] {
            sdk::remove(&place.join(own))?;
            fs::create_dir_all(place.join(own))
                .map_err(|error| format!("{} could not be made ({error})", place.display()))?;
        }
        let mut install = Command::new("npm");
        install.args(["install", "--no-save", "--no-audit", "--no-fund", "--prefix"]).arg(&place);
        shell::run(install.args(PACKAGES).current_dir(&place))?;
        let bench = Bench { program, place };
        let version = shell::output(bench.client("node").arg("--version"))?;
        match version.trim().starts_with("v22.") {
            true => Ok(bench),
            false => Err(format!("the package node gave Node {}", version.trim())),
        }
    }

    /// A place for files.
    fn workspace(&self) -> PathBuf {
        self.place.join("workspace")
    }

    /// One of the installed programs.
    fn client(&self, name: &str) -> Command {
        let modules = self.place.join("node_modules");
        let node = modules.join("node/bin");
        let mut path = OsString::from(&node);
        path.push(":");
        path.push(env::var_os("PATH").unwrap_or_default());
        let program =
            if name == "node" { node.join(name) } else { modules.join(".bin").join(name) };
        let mut command = Command::new(program);
        command.env("PATH", path).current_dir(self.workspace());
        self.keep_to_itself(&mut command);
        command
    }

    /// Neither the user's ledger nor their settings.
    fn keep_to_itself(&self, command: &mut Command) {
        let own = |name: &str| Path::new(&self.place).join(name);
        command
            .env("FUMEHOOD_STATE_DIR", own("state"))
            .env("FUMEHOOD_CONFIG_DIR", own("config"))
            .env_remove("FUMEHOOD_BINARY");
    }
}
