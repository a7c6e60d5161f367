//! The command line of fumehood. It parses, calls the library and renders; it decides nothing.
//!
//! One file per command. [`main`] is the only entry: the binaries `fumehood` and `sandbox-run`
//! differ in the [`Persona`] they give.

#![forbid(unsafe_code)]

mod apply;
mod bootstrap;
mod cli;
mod completions;
mod config;
mod diff;
mod discard;
mod doctor;
mod drive;
mod egress;
mod exec;
mod failure;
mod hook;
mod image;
mod input;
mod languages;
mod limits;
mod log;
mod mcp;
mod opening;
mod options;
mod output;
mod paint;
mod policy;
mod render;
mod rpc;
mod run;
mod signals;
mod table;
mod usage;
mod values;
mod verify;
mod volume;

use std::{env, ffi::OsString, process::ExitCode};

pub use self::cli::Persona;
use self::{cli::Command, opening::Opened};

/// Parses the arguments of this process, does what they say, and gives the exit code.
pub fn main(persona: Persona) -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().collect();

    // Before anything else: the launcher then prepares a box while the arguments are parsed.
    let early = persona.will_open_a_box(&arguments).then(Opened::open);
    let opened = move || early.unwrap_or_else(Opened::open);

    let command = match cli::parse(persona, &arguments) {
        Ok(command) => command,
        Err(error) => return usage::report(&error, &arguments).into(),
    };
    let code = match command {
        Command::Run(arguments) => run::main(opened, arguments, persona.default_format()),
        Command::Exec(arguments) => exec::main(opened, arguments, persona.default_format()),
        Command::Diff(arguments) => diff::main(&arguments),
        Command::Apply(arguments) => apply::main(&arguments),
        Command::Discard(arguments) => discard::main(&arguments),
        Command::Doctor(arguments) => doctor::main(opened, &arguments),
        Command::Verify(arguments) => verify::main(&arguments),
        Command::Languages(arguments) => languages::main(opened, &arguments),
        Command::Config(arguments) => config::main(&arguments),
        Command::Volume(arguments) => volume::main(&arguments),
        Command::Image(arguments) => image::main(&arguments),
        Command::Log(arguments) => log::main(&arguments),
        Command::Policy(arguments) => policy::main(&arguments),
        Command::Egress(arguments) => egress::main(opened, &arguments),
        Command::Bootstrap(arguments) => bootstrap::main(&arguments),
        Command::Rpc(arguments) => rpc::main(&arguments),
        Command::Mcp(arguments) => mcp::main(arguments),
        Command::Hook(arguments) => hook::main(&arguments),
        Command::Completions(arguments) => completions::main(&arguments),
    };
    code.into()
}

/// The examples in the README, compiled and run as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
