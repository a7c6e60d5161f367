//! `fumehood-typescript INPUT.ts OUT_DIR`: writes `OUT_DIR/main.js` and `OUT_DIR/package.json`.
//!
//! Exit codes: 0 translated, 1 the source or a file is at fault, 2 wrong usage.

use std::{
    env,
    ffi::OsString,
    io::{self, Write},
    panic,
    path::Path,
    process::{self, ExitCode},
};

use fumehood_typescript::{read_source, strip, write_output};

const USAGE: &str = "usage: fumehood-typescript INPUT.ts OUT_DIR";

fn main() -> ExitCode {
    // A panic must end with a sentence and exit code 1 even where the build says `panic = "abort"`.
    panic::set_hook(Box::new(|panic| {
        let reason = panic.payload_as_str().unwrap_or("no reason given");
        fail(1, &format!("the translator failed on this file, which is a bug in it: {reason}"));
        process::exit(1);
    }));

    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let [input, directory] = arguments.as_slice() else {
        return fail(2, USAGE);
    };
    match translate(Path::new(input), Path::new(directory)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => fail(1, &message),
    }
}

fn translate(input: &Path, directory: &Path) -> Result<(), String> {
    let source = read_source(input).map_err(|error| error.to_string())?;
    let output = strip(&input.to_string_lossy(), &source).map_err(|diagnostics| {
        let lines: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        lines.join("\n")
    })?;
    write_output(directory, &output).map_err(|error| error.to_string())
}

/// Says `message` on stderr; a closed stderr must not turn the exit code into a panic.
fn fail(code: u8, message: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "{message}");
    ExitCode::from(code)
}
