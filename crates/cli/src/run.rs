//! `fumehood run`: run code given as a file, a text or standard input.

use std::{
    io::{self, IsTerminal as _, Read},
    path::{Path, PathBuf},
};

use clap::Args;
use fumehood::{Program, Request, language::Registry};

use crate::{
    drive,
    failure::{self, Failure},
    input::{self, Input},
    opening::Opened,
    options::Options,
    render::{Format, View},
};

/// The longest code there may be: more than any program, less than what hurts.
const LONGEST_CODE: u64 = 32 << 20;

/// Arguments of `fumehood run`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct RunArgs {
    /// The file to run; - or nothing for standard input.
    #[arg(value_name = "FILE", conflicts_with_all = ["code", "code_file"])]
    path: Option<PathBuf>,
    /// The language; otherwise the file's extension says it.
    #[arg(long, value_name = "LANGUAGE")]
    lang: Option<String>,
    /// The code itself.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "code_file")]
    code: Option<String>,
    /// The file to run, as an option.
    #[arg(long = "file", id = "code_file", value_name = "FILE")]
    file: Option<PathBuf>,
    /// Arguments for the program.
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<String>,
    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "\
Examples:
  fumehood run hello.py
  fumehood run --lang python --code 'print(6 * 7)'
  echo 'console.log(1)' | fumehood run --lang javascript
  fumehood run sum.go --stdin '1 2 3' --timeout 10s --json
  fumehood run tool.py -- --flag value       arguments for the program";

/// Runs the code and gives the exit code.
pub fn main(
    opened: impl FnOnce() -> Result<Opened, Failure>,
    arguments: RunArgs,
    default: Format,
) -> u8 {
    let format = arguments.options.view.format(default);
    carry_out(opened, arguments, format).unwrap_or_else(|failure| failure.report(format))
}

fn carry_out(
    opened: impl FnOnce() -> Result<Opened, Failure>,
    arguments: RunArgs,
    format: Format,
) -> Result<u8, Failure> {
    let RunArgs { path, lang, code, file, options, args } = arguments;
    let code = Code::find(path.or(file), code, io::stdin().is_terminal())?;
    let language = code.language(lang)?;
    let input = Input::find(options.stdin.clone(), code.is_stdin(), format)?;
    let view = View { format, dry_run: options.view.dry_run, verbose: options.view.verbose };
    let name = code.file_name();
    let mut request = Request::code(language, code.read()?);
    if let Program::Code { file_name, args: arguments, .. } = &mut request.program {
        *file_name = name;
        *arguments = args;
    }
    drive::carry_out(opened, options.apply(request, None)?, input, view)
}

/// Where the code is.
#[derive(Debug, PartialEq, Eq)]
enum Code {
    Text(String),
    File(PathBuf),
    Stdin,
}

impl Code {
    fn find(
        path: Option<PathBuf>,
        text: Option<String>,
        at_a_terminal: bool,
    ) -> Result<Code, Failure> {
        match (path, text) {
            (_, Some(text)) => Ok(Code::Text(text)),
            (Some(path), None) if path == Path::new("-") => Ok(Code::Stdin),
            (Some(path), None) => Ok(Code::File(path)),
            (None, None) if at_a_terminal => Err(Failure::NoCode),
            (None, None) => Ok(Code::Stdin),
        }
    }

    fn is_stdin(&self) -> bool {
        *self == Code::Stdin
    }

    /// The language by its name, or by the ending of the file.
    fn language(&self, named: Option<String>) -> Result<String, Failure> {
        if let Some(language) = named {
            return Ok(language);
        }
        let code = match self {
            Code::Text(_) => "the code".to_owned(),
            Code::Stdin => "code on standard input".to_owned(),
            Code::File(path) => match Registry::builtin().by_path(path) {
                Some(language) => return Ok(language.name.clone()),
                None => path.display().to_string(),
            },
        };
        Err(Failure::LanguageNotSaid { code })
    }

    fn file_name(&self) -> Option<String> {
        match self {
            Code::File(path) => Some(path.file_name()?.to_string_lossy().into_owned()),
            Code::Text(_) | Code::Stdin => None,
        }
    }

    fn read(self) -> Result<Vec<u8>, Failure> {
        match self {
            Code::Text(text) => Ok(text.into_bytes()),
            Code::File(path) => {
                let file = input::open(&path, "file")?;
                read_bounded(file).map_err(|error| unreadable(path, &error))?
            }
            Code::Stdin => {
                read_bounded(io::stdin().lock()).map_err(|error| unreadable("-".into(), &error))?
            }
        }
    }
}

fn unreadable(path: PathBuf, error: &io::Error) -> Failure {
    Failure::Unreadable { what: "file", path, reason: failure::reason(error) }
}

fn read_bounded(source: impl Read) -> io::Result<Result<Vec<u8>, Failure>> {
    let mut code = Vec::new();
    source.take(LONGEST_CODE + 1).read_to_end(&mut code)?;
    if code.len() as u64 > LONGEST_CODE {
        return Ok(Err(Failure::CodeTooLong { most: LONGEST_CODE }));
    }
    Ok(Ok(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_comes_from_one_place() {
        let find = |path: Option<&str>, text: Option<&str>, at_a_terminal| {
            Code::find(path.map(PathBuf::from), text.map(str::to_owned), at_a_terminal).ok()
        };
        assert_eq!(find(None, Some("x"), false), Some(Code::Text("x".into())));
        assert_eq!(find(Some("a.py"), None, false), Some(Code::File("a.py".into())));
        assert_eq!(find(Some("-"), None, true), Some(Code::Stdin));
        assert_eq!(find(None, None, false), Some(Code::Stdin));
        assert_eq!(find(None, None, true), None);
    }

    #[test]
    fn the_language_is_named_or_seen() {
        let file = |name: &str| Code::File(name.into());
        assert_eq!(file("a/b.rs").language(None).unwrap(), "rust");
        assert_eq!(file("b.rs").language(Some("python".into())).unwrap(), "python");
        let message = |code: Code| code.language(None).unwrap_err().to_string();
        assert!(message(file("notes.txt")).starts_with("the language of notes.txt is not known"));
        assert!(message(Code::Stdin).contains("--lang python"));
    }

    #[test]
    fn endless_code_is_refused() {
        let read = read_bounded(io::repeat(b'x')).unwrap();
        assert!(matches!(read, Err(Failure::CodeTooLong { .. })));
        assert_eq!(read_bounded(&b"print(1)"[..]).unwrap().unwrap(), b"print(1)");
    }
}
