//! What a language makes of its part: stages that build, and how the result is run.

use super::{base::Choice, version::Pin};

/// One line or block of a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// For the reader.
    Comment(String),
    /// An instruction, possibly over several lines.
    Do(String),
}

/// What happens in a stage, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps(pub Vec<Step>);

impl Steps {
    /// Nothing yet.
    pub fn new() -> Steps {
        Steps::default()
    }

    /// A comment on what follows.
    pub fn note(mut self, text: impl Into<String>) -> Steps {
        self.0.push(Step::Comment(text.into()));
        self
    }

    /// An instruction.
    pub fn step(mut self, text: impl Into<String>) -> Steps {
        self.0.push(Step::Do(text.into()));
        self
    }

    /// Several instructions.
    pub fn steps(self, texts: impl IntoIterator<Item = String>) -> Steps {
        texts.into_iter().fold(self, Steps::step)
    }

    /// More of the same.
    pub fn then(mut self, other: Steps) -> Steps {
        self.0.extend(other.0);
        self
    }
}

/// `RUN` with cache mounts and a command.
pub(super) fn run(caches: &[&str], command: &str) -> String {
    let mounts: Vec<String> =
        caches.iter().map(|cache| format!("--mount=type=cache,{cache}")).collect();
    let parts: Vec<&str> = mounts.iter().map(String::as_str).chain([command]).collect();
    format!("RUN {}", parts.join(" \\\n    "))
}

/// A stage that others copy from.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    pub name: String,
    pub image: String,
    /// Why this image, above `FROM`.
    pub notes: Vec<String>,
    pub steps: Steps,
}

/// What the container does.
#[derive(Clone, Debug)]
pub(super) enum Command {
    /// A program and its arguments, with how it was found.
    Start { arguments: Vec<String>, because: String },
    /// Nobody knows.
    Unknown { because: String },
}

impl Command {
    /// A program with arguments.
    pub fn start<S: AsRef<str>>(arguments: &[S], because: impl Into<String>) -> Command {
        let arguments = arguments.iter().map(|each| each.as_ref().to_owned()).collect();
        Command::Start { arguments, because: because.into() }
    }
}

/// The stage that runs.
#[derive(Clone, Debug)]
pub(super) struct Runtime {
    pub image: String,
    /// Why this image, above `FROM`.
    pub notes: Vec<String>,
    /// Packages of the base.
    pub packages: Vec<&'static str>,
    pub variables: Vec<(&'static str, String)>,
    /// How the program gets into `/app`.
    pub contents: Steps,
    pub port: Option<u16>,
    pub command: Command,
}

/// What a part is for the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It can be started.
    Program,
    /// Files for a browser, made by a stage, in this directory below `/app`.
    Frontend { stage: String, output: String },
}

/// A part, ready to be written down.
#[derive(Clone, Debug)]
pub(super) struct Recipe {
    pub language: &'static str,
    pub pin: Pin,
    pub base: Choice,
    pub role: Role,
    pub stages: Vec<Stage>,
    pub runtime: Runtime,
    /// What must not reach the builder, besides what never does.
    pub ignored: Vec<&'static str>,
    /// True if a build stage already holds the files of the frontends.
    pub carries_assets: bool,
}
