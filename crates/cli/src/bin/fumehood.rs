//! The program `fumehood`.

use std::process::ExitCode;

fn main() -> ExitCode {
    fumehood_cli::main(fumehood_cli::Persona::Fumehood)
}
