//! `fumehood bootstrap`: a Dockerfile and a .dockerignore for a project that has none.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::Args;
use fumehood::{
    bootstrap::{self, Proposal},
    dockerfile::{Base, Found},
    escape_controls,
};

use crate::{failure::Failure, render::Format};

/// Arguments of `fumehood bootstrap`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct BootstrapArgs {
    /// The directory of the project.
    #[arg(value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    /// Print the Dockerfile and write nothing.
    #[arg(long)]
    print: bool,
    /// Overwrite files that are there.
    #[arg(long)]
    force: bool,
    /// The base of the images: alpine or debian. Without it the project decides.
    #[arg(long, value_name = "BASE")]
    base: Option<Base>,
}

const EXAMPLES: &str = "\
Examples:
  fumehood bootstrap                         write Dockerfile and .dockerignore here
  fumehood bootstrap services/api --print    see the Dockerfile, write nothing
  fumehood bootstrap --base debian --force   other images, over what is there

Go, Node, Python, Rust and Java are detected, also several of them in one project.";

/// Makes the files and gives the exit code.
pub fn main(arguments: &BootstrapArgs) -> u8 {
    match make(arguments) {
        Ok(()) => 0,
        Err(failure) => failure.report(Format::Raw),
    }
}

fn make(arguments: &BootstrapArgs) -> Result<(), Failure> {
    let directory = arguments.directory.as_path();
    let Proposal { generated, left_out } = bootstrap::propose(directory, arguments.base)?;
    let mut said: Vec<String> = generated.found.iter().flat_map(explain).collect();
    said.extend(left_out);
    if arguments.print {
        io::stdout().write_all(generated.dockerfile.as_bytes())?;
    } else {
        let written = bootstrap::write(directory, &generated, arguments.force)?;
        said.extend(written.iter().map(|path| format!("wrote {}", shown(path))));
    }
    // Where nobody listens there is nobody to tell.
    let _ = said.iter().try_for_each(|line| writeln!(io::stderr(), "{}", escape_controls(line)));
    Ok(())
}

fn explain(found: &Found) -> [String; 2] {
    let Found { directory, language, version, version_source, base, base_reason } = found;
    let place = if directory.is_empty() { String::new() } else { format!(" in {directory}") };
    [format!("{language} {version}{place}: {version_source}"), format!("{base}: {base_reason}")]
}

fn shown(path: &Path) -> String {
    path.strip_prefix(".").unwrap_or(path).display().to_string()
}
