//! Why the command line gave up before or beside the library, and how it says so.

use std::{io, path::PathBuf};

use crate::{output, render::Format};

/// Exit code for everything that is fumehood's own failure or refusal.
pub const EXIT_REFUSED: u8 = 125;

/// Exit code of a program whose reader went away: 128 plus the number of SIGPIPE.
pub const EXIT_BROKEN_PIPE: u8 = 141;

/// Why nothing was run, or its result could not be shown. One sentence each, with the next step.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The library refused the request.
    #[error(transparent)]
    Library(#[from] fumehood::Error),
    /// The configuration is not as it should be.
    #[error(transparent)]
    Config(#[from] fumehood::ConfigError),
    /// There is no policy to go by.
    #[error(transparent)]
    Policy(#[from] fumehood::policy::PolicyError),
    /// Changes of an overlay could not be shown, applied or discarded.
    #[error(transparent)]
    Overlay(fumehood::OverlayError),
    /// Images could not be dealt with.
    #[error(transparent)]
    Image(#[from] fumehood::ImageError),
    /// No Dockerfile was made.
    #[error(transparent)]
    Bootstrap(#[from] fumehood::bootstrap::BootstrapError),
    /// No server.
    #[error(transparent)]
    Serve(#[from] fumehood_server::mcp::ServeError),
    /// No such attack.
    #[error(transparent)]
    Attack(#[from] fumehood::verify::UnknownRow),
    /// Nothing isolates there.
    #[error(
        "the local backend isolates nothing, so there is nothing to verify: use --backend native, docker or podman"
    )]
    NothingToVerify,
    /// No code, and nobody who could type it.
    #[error("no code was given: name a file, use --code TEXT, or pipe the code in")]
    NoCode,
    /// Nothing says which language the code is in.
    #[error("the language of {code} is not known: name it with --lang, for example --lang python")]
    LanguageNotSaid {
        /// Which code.
        code: String,
    },
    /// A file named on the command line cannot be read.
    #[error("the {what} {} cannot be read ({reason}): check the path", path.display())]
    Unreadable {
        /// What the file was for.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// Code longer than any program.
    #[error(
        "the code is longer than {most} bytes: pass data with --stdin @FILE or --mount instead"
    )]
    CodeTooLong {
        /// The most there may be.
        most: u64,
    },
    /// Standard input cannot be two things.
    #[error(
        "the code already comes from standard input: give the input as --stdin TEXT or --stdin @FILE"
    )]
    StdinTwice,
    /// A variable to be copied is not set.
    #[error("the variable {name} is not set here: write --env {name}=VALUE")]
    VariableNotSet {
        /// Its name.
        name: String,
    },
    /// A variable to be copied is not text.
    #[error("the variable {name} is not valid UTF-8: write --env {name}=VALUE")]
    VariableNotText {
        /// Its name.
        name: String,
    },
    /// The box in which connections are tried did not get to the end.
    #[error(
        "the connections could not be tried, since the box ended early ({status}): give it more time or memory in the policy"
    )]
    ProbeCut {
        /// How it ended.
        status: fumehood::Status,
    },
    /// The machinery of this process could not be set up.
    #[error("{what} could not be set up ({}): close other programs and try again", crate::failure::reason(.reason))]
    Machinery {
        /// Which part.
        what: &'static str,
        /// The system's reason.
        reason: io::Error,
    },
    /// What the program wrote cannot be passed on.
    #[error(
        "the output could not be written ({}): check the space and the permissions of where it goes", reason(.0)
    )]
    Output(io::Error),
    /// Whoever read the output is gone. Not a failure that anybody wants to read about.
    #[error("the reader of the output is gone: nothing needs to be done")]
    ReaderGone,
}

impl From<io::Error> for Failure {
    /// Only writing gives bare errors here; reading names its file.
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ReaderGone,
            _ => Failure::Output(error),
        }
    }
}

impl From<fumehood::OverlayError> for Failure {
    fn from(error: fumehood::OverlayError) -> Failure {
        match error {
            fumehood::OverlayError::Output(error) => error.into(),
            error => Failure::Overlay(error),
        }
    }
}

impl Failure {
    /// Says it on standard error, and as an object on standard output where that was asked for.
    /// Gives the exit code.
    pub fn report(&self, format: Format) -> u8 {
        if let Failure::ReaderGone = self {
            return EXIT_BROKEN_PIPE;
        }
        refuse(&self.to_string(), format);
        EXIT_REFUSED
    }
}

/// Says why nothing was run.
pub fn refuse(sentence: &str, format: Format) {
    if format.is_json() {
        let refusal = serde_json::json!({
            "success": false,
            "status": "refused",
            "error": sentence,
        });
        output::line_for_programs(&refusal.to_string());
    }
    output::line_for_people(sentence);
}

/// The system's words, without the number behind them.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}
