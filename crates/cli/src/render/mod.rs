//! How a run is shown: one file per format, all fed with the same events.

pub mod changes;
mod closing;
mod json;
mod jsonl;
mod raw;
mod text;

use std::{
    ffi::OsString,
    io::{self, IsTerminal as _},
};

use clap::ValueEnum;
use fumehood::{BackendName, Event, Outcome, Phase, Program, Request};

pub use self::closing::{seconds, size};
use crate::{failure::Failure, output};

/// A way to show a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// As if the program had been started directly.
    Raw,
    /// A report for people.
    Text,
    /// The outcome as one JSON object.
    Json,
    /// Every event as a JSON object on a line of its own.
    Jsonl,
}

impl Format {
    /// True if a program reads it.
    pub fn is_json(self) -> bool {
        matches!(self, Format::Json | Format::Jsonl)
    }

    /// The format that arguments ask for which could not be parsed, so that their refusal is also
    /// readable by programs.
    pub fn guess(arguments: &[OsString]) -> Format {
        let mut format = Format::Raw;
        let mut words = arguments.iter().filter_map(|argument| argument.to_str()).peekable();
        while let Some(word) = words.next() {
            let name = match (word, words.peek()) {
                ("--", _) => break,
                ("--json", _) => "json",
                ("--format", Some(name)) => name,
                (word, _) => word.strip_prefix("--format=").unwrap_or_default(),
            };
            format = Format::from_str(name, false).unwrap_or(format);
        }
        format
    }
}

/// What the caller wants to see.
#[derive(Clone, Debug)]
pub struct View {
    /// In which form.
    pub format: Format,
    /// The plan only.
    pub dry_run: bool,
    /// More on standard error.
    pub verbose: bool,
}

/// Shows one run.
pub struct Renderer {
    view: View,
    /// Language or command, for the report.
    label: String,
}

impl Renderer {
    /// A renderer for this request.
    pub fn new(view: View, request: &Request) -> Renderer {
        let label = match &request.program {
            Program::Code { language, .. } => language.clone(),
            Program::Command { argv } => argv.join(" "),
            Program::Helper { helper, .. } => helper.name().to_owned(),
        };
        Renderer { view, label }
    }

    /// Something happened; not yet the end.
    pub async fn event(&mut self, event: Event) -> Result<(), Failure> {
        self.explain_the_wait(&event);
        self.name_the_backend(&event);
        match self.view.format {
            Format::Raw => raw::event(&event, self.view.verbose).await,
            Format::Jsonl => jsonl::event(&event).await,
            Format::Text | Format::Json => Ok(()),
        }
    }

    /// Getting a toolchain ready can take a minute, once. Somebody at a terminal is told.
    fn explain_the_wait(&self, event: &Event) {
        let waiting = matches!(event, Event::Phase { phase: Phase::Prepare, cached: false });
        if waiting && !self.view.format.is_json() && io::stderr().is_terminal() {
            let label = &self.label;
            output::line_for_people(&format!("getting {label} ready; later runs need not wait"));
        }
    }

    /// Who asks, or sits at a terminal, is told what runs it. That nothing is isolated is told to
    /// everybody; in the JSON formats `enforced` says it, layer by layer.
    fn name_the_backend(&self, event: &Event) {
        let Event::Selected { selection } = event else { return };
        if self.view.verbose || io::stderr().is_terminal() {
            output::line_for_people(&selection.line());
        }
        if selection.backend == BackendName::Local && !self.view.format.is_json() {
            output::line_for_people("warning: the local backend isolates nothing");
        }
    }

    /// The end.
    pub async fn finish(&mut self, outcome: Box<Outcome>) -> Result<(), Failure> {
        match self.view.format {
            Format::Raw => raw::finish(&outcome, self.view.verbose).await,
            Format::Text => text::finish(&outcome, &self.label).await,
            Format::Json => json::finish(&outcome).await,
            Format::Jsonl => jsonl::event(&Event::Finished { outcome }).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_guessed_from_what_does_not_parse() {
        let guess = |line: &str| {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            Format::guess(&arguments)
        };
        assert_eq!(guess("fumehood run --json --memory banana"), Format::Json);
        assert_eq!(guess("fumehood run --format jsonl --memory banana"), Format::Jsonl);
        assert_eq!(guess("fumehood run --format=json --nonsense"), Format::Json);
        assert_eq!(guess("fumehood exec --nonsense -- tool --json"), Format::Raw);
        assert_eq!(guess("fumehood run --format yaml"), Format::Raw);
        assert_eq!(guess("fumehood run --format"), Format::Raw);
    }
}
