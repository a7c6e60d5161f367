//! The program `sandbox-run`: `fumehood run` with the report for people as its default.

use std::process::ExitCode;

fn main() -> ExitCode {
    fumehood_cli::main(fumehood_cli::Persona::SandboxRun)
}
