//! `cargo xtask conformance`: the list of cases at every place that this machine has, as a table.

mod page;
mod results;

use std::fs;

use self::results::Results;
use crate::{
    project::{cargo, root},
    shell,
};

/// The page that the table is written to.
const PAGE: &str = "docs/CONFORMANCE.md";

/// What is run, and where the table goes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    write: bool,
    place: Option<String>,
    /// What `cargo xtask test` printed, where the cases need not be run again.
    from: Option<String>,
}

impl Options {
    fn read(words: &[&str]) -> Result<Options, String> {
        match words {
            [] => Ok(Options::default()),
            ["--write"] => Ok(Options { write: true, ..Options::default() }),
            ["--write", "--from", file] => {
                Ok(Options { write: true, from: Some((*file).to_owned()), place: None })
            }
            ["--place", place] => {
                Ok(Options { place: Some((*place).to_owned()), ..Options::default() })
            }
            // A page of one place would say of the others that they were not run.
            _ => {
                Err("conformance takes nothing, --write [--from FILE], or --place NAME".to_owned())
            }
        }
    }
}

/// Runs the cases with the environment as it is, and prints the table or puts it into its page. A
/// case that failed is in the table, and an error.
pub fn main(words: &[&str]) -> Result<(), String> {
    let options = Options::read(words)?;
    let results = match &options.from {
        Some(file) => read(file)?,
        None => run(&options)?,
    };
    if results.is_empty() {
        return Err("no case was run".to_owned());
    }
    let page = page::text(&results);
    if options.write {
        let file = root().join(PAGE);
        fs::write(&file, page).map_err(|error| format!("{}: {error}", file.display()))?;
        println!("written to {PAGE}");
    } else {
        println!("\n{page}");
    }
    match results.failed() {
        0 => Ok(()),
        failed => Err(format!("{failed} failed")),
    }
}

/// What a run of all tests said of the cases.
fn read(file: &str) -> Result<Results, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let mut results = Results::default();
    text.lines().for_each(|line| results.add_line_among_others(line));
    Ok(results)
}

/// Runs the cases.
fn run(options: &Options) -> Result<Results, String> {
    let mut results = Results::default();
    let mut tests = cargo(&["test", "--package", "fumehood-tests", "--test", "conformance"]);
    tests.args(["--", "--color", "never"]);
    if let Some(place) = &options.place {
        tests.arg(format!("{place}::"));
    }
    let status = shell::watch(&mut tests, |line| results.add_line(line))?;
    if !status.success() && results.failed() == 0 {
        return Err(format!("it ended with {status} before its cases did"));
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_of_all_places() {
        let read = |words: &[&str]| Options::read(words);
        assert_eq!(read(&[]), Ok(Options::default()));
        assert_eq!(read(&["--write"]), Ok(Options { write: true, ..Options::default() }));
        let docker = Options { place: Some("docker".into()), ..Options::default() };
        assert_eq!(read(&["--place", "docker"]), Ok(docker));
        assert!(read(&["--write", "--place", "docker"]).is_err());
        assert!(read(&["--place"]).is_err());
    }
}
