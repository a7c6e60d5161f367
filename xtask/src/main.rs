//! Chores of the project, one command each.
//!
//! `cargo xtask test` is all there is to know: it sets the machine up, runs every check and every
//! test, and ends with a count.

mod agents;
mod bench;
mod clients;
mod conformance;
mod engines;
mod fuzz;
mod lint;
mod loopback;
mod marks;
mod project;
mod sbom;
mod sdk;
mod shell;
mod system;
mod test;
mod verify;
mod workflow;

use std::{env, process::ExitCode};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test                  set up the machine, run every check and every test, count
  sdk                   test the packages for Python and Node against the program
  agents                test the MCP server with clients and a suite that others wrote
  lint                  formatting, clippy and the workflow file, warnings denied
  fmt                   format everything
  conformance           run the cases at every place that the environment names, and
                        print the table of them
        [--write]       put it into docs/CONFORMANCE.md instead
        [--place NAME]  run those of one place only, such as docker
  clients               fetch what boxes of the tests reach servers with
  verify                make every attack of the catalogue at every place that the
                        environment names, and print the table of them
        [--write]       put it into docs/SECURITY.md instead
  fuzz [TARGET]...      feed what reads bytes of strangers with made-up ones
        [--seconds N]   the most that each may take (default 120)
  sbom [--write FILE]   list what is in the programs that are shipped (CycloneDX)
  engines up|down       start or end private daemons of Docker and Podman for the
                        tests, and print the variables that name them
  bench [--write FILE]  measure against bare processes, unshare and bwrap; put the
                        table into FILE
        [--runs N]      how often each start is measured (default 300)";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["test"] => test::main(),
        ["sdk"] => sdk::main(),
        ["agents"] => agents::main(),
        ["lint"] => lint::main(),
        ["fmt"] => lint::format(),
        ["conformance", options @ ..] => conformance::main(options),
        ["clients"] => clients::fetch(),
        ["verify", options @ ..] => verify::main(options),
        ["sbom", options @ ..] => sbom::main(options),
        ["fuzz", options @ ..] => fuzz::main(options),
        ["engines", "up"] => engines::up(),
        ["engines", "down"] => engines::down(),
        ["bench", options @ ..] => bench::main(options),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
