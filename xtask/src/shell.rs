//! Running programs: with their output shown, or caught.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, ExitStatus, Stdio},
};

/// The command as a person would type it, shortened to its first words.
pub fn shown(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}

/// Runs a program that must succeed; its output is shown.
pub fn run(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{}` ended with {status}", shown(command))),
        Err(error) => Err(format!("`{}` could not be started ({error})", shown(command))),
    }
}

/// Runs a program that must succeed and gives its standard output.
pub fn output(command: &mut Command) -> Result<String, String> {
    let done = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("`{}` could not be started ({error})", shown(command)))?;
    if !done.status.success() {
        return Err(format!("`{}` ended with {}", shown(command), done.status));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// True if the program can be started and succeeds. Nothing is shown.
pub fn works(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// Runs a program, shows each line of its standard output and hands it on.
pub fn watch(command: &mut Command, mut line: impl FnMut(&str)) -> Result<ExitStatus, String> {
    let name = shown(command);
    let failed = |error| format!("`{name}` could not be started ({error})");
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(failed)?;
    if let Some(output) = child.stdout.take() {
        // A line that is not UTF-8 is shown as well as it can be.
        for bytes in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            let text = String::from_utf8_lossy(&bytes);
            println!("{text}");
            line(&text);
        }
    }
    child.wait().map_err(failed)
}
