//! Arguments that make no sense: one sentence, the way to the help, and fumehood's own exit code.

use std::{error::Error as _, ffi::OsString};

use clap::error::ErrorKind;

use crate::{
    failure::{self, EXIT_REFUSED},
    render::Format,
};

/// Answers what could not be parsed, which includes the wish for help. Gives the exit code.
pub fn report(error: &clap::Error, arguments: &[OsString]) -> u8 {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // Where the help cannot be written there is nobody to be told.
            let _ = error.print();
            0
        }
        _ => {
            failure::refuse(&sentence(error), Format::guess(arguments));
            EXIT_REFUSED
        }
    }
}

/// The words of the type that refused a value, or what clap says in one line.
fn sentence(error: &clap::Error) -> String {
    if error.kind() == ErrorKind::ValueValidation
        && let Some(reason) = error.source()
    {
        return reason.to_string();
    }
    let rendered = error.to_string();
    let mut words = String::new();
    let mut command = None;
    for line in rendered.lines().map(str::trim) {
        if let Some(usage) = line.strip_prefix("Usage: ") {
            command = Some(name_in(usage));
        } else if let Some(tip) = line.strip_prefix("tip: ") {
            words.push_str(&format!(" ({tip})"));
        } else if command.is_none() && !line.is_empty() && !line.starts_with("For more") {
            let space = if words.is_empty() { "" } else { " " };
            words.push_str(&format!("{space}{}", line.trim_start_matches("error: ")));
        }
    }
    format!("{words}; see `{} --help`", command.unwrap_or_else(|| "fumehood".to_owned()))
}

/// The words of a usage line that name the command.
fn name_in(usage: &str) -> String {
    let is_name = |word: &&str| word.starts_with(|c: char| c.is_ascii_lowercase());
    usage.split(' ').take_while(is_name).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{self, Persona};

    fn answer(line: &str) -> String {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        sentence(&cli::parse(Persona::Fumehood, &arguments).unwrap_err())
    }

    #[test]
    fn a_bad_value_is_answered_in_the_words_of_its_type() {
        for (line, expected) in [
            (
                "fumehood run --memory banana a.py",
                "`banana` is not a size: it does not start with a number; write for example 512m",
            ),
            (
                "fumehood exec --timeout -1s -- true",
                "`-1s` is negative, and a time cannot be: write for example 30s",
            ),
            (
                "fumehood exec --pids none -- true",
                "`none` is not a count: it does not start with a number; write for example 100",
            ),
            (
                "fumehood exec --backend natvie -- true",
                "unknown backend `natvie`; the backends are auto, native, docker, podman, local (did you mean `native`?)",
            ),
            (
                "fumehood exec --mount /a -- true",
                "`/a` is not a mount: write SOURCE:TARGET, and :rw behind it to make it writable",
            ),
        ] {
            assert_eq!(answer(line), expected);
        }
    }

    #[test]
    fn everything_else_is_one_sentence_with_the_way_to_the_help() {
        for (line, expected) in [
            ("fumehood", "'fumehood' requires a subcommand but one was not provided"),
            (
                "fumehood exce",
                "unrecognized subcommand 'exce' (a similar subcommand exists: 'exec')",
            ),
            ("fumehood run --tiemout 1s", "unexpected argument '--tiemout' found"),
            ("fumehood exec --tiemout 1s -- true", "unexpected argument '--tiemout' found"),
            ("fumehood exec --network bridge -- true", "invalid value 'bridge' for '--network"),
            ("fumehood run --json --format text", "the argument '--json' cannot be used with"),
        ] {
            let sentence = answer(line);
            assert!(sentence.starts_with(expected), "{line}: {sentence}");
            assert!(!sentence.contains('\n'), "{sentence}");
            assert!(
                sentence.contains("; see `fumehood") && sentence.ends_with("--help`"),
                "{sentence}"
            );
        }
    }
}
