//! Why a server cannot serve, and why a call of a tool came to nothing.

use std::{io, net::SocketAddr, path::PathBuf};

use fumehood::WithinError;

/// Why a server could not begin, or had to end.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Everybody on the network could run code here.
    #[error(
        "{address} can be reached from other machines, and no token keeps them out: add --token-file FILE, or use 127.0.0.1"
    )]
    Open {
        /// The address.
        address: SocketAddr,
    },
    /// The address cannot be listened on.
    #[error("{address} cannot be listened on ({reason}): choose another port, or 0 for any")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        reason: io::Error,
    },
    /// The connection broke.
    #[error("the server had to end ({reason}): start it again")]
    Ended {
        /// The reason.
        reason: String,
    },
    /// The token cannot be used.
    #[error("the token file {} cannot be used ({reason}): {remedy}", path.display())]
    Token {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
        /// What to do.
        remedy: &'static str,
    },
    /// The workspace cannot be used.
    #[error(transparent)]
    Workspace(#[from] WithinError),
}

/// Why a call came to nothing. Each message is for a model: what was wrong, and what to do next.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    #[error("the arguments are wrong: {reason}. Next step: correct them as the tool's schema says")]
    Arguments { reason: String },
    #[error(
        "`{field}` is longer than {most} bytes. Next step: shorten it, or write the data to a file in the workspace in several steps"
    )]
    TooLong { field: &'static str, most: usize },
    #[error(
        "`limits.{key}` and `sandboxPolicy` both set the same limit. Next step: say it in one of them"
    )]
    SaidTwice { key: String },
    #[error("{0}\nNext step: {1}")]
    Library(Box<fumehood::Error>, &'static str),
    #[error("{0}. Next step: correct the path")]
    File(#[from] WithinError),
    #[error(
        "`{path}` may not be {verb}: {reason} ({origin}). Next step: use another path; sandbox_policy.explain says what may be done with one"
    )]
    Denied { path: String, verb: &'static str, reason: String, origin: String },
    #[error(
        "files go beside the workspace (`fs.workspace` is overlay), where this tool cannot write. Next step: write the file with sandboxed_shell.run, and show the user `fumehood diff`"
    )]
    Overlay,
    #[error(
        "there is no workspace that outlives a run. Next step: pass the files in `files` of a run, or have the user start the server with --session or --workspace DIR"
    )]
    NoWorkspace,
    #[error(
        "a private directory could not be made ({0}). Next step: tell the user; the disk may be full"
    )]
    Private(io::Error),
    #[error("the call was cancelled, and its box is gone")]
    Cancelled,
}

impl From<fumehood::Error> for CallError {
    fn from(error: fumehood::Error) -> CallError {
        let next = match &error {
            fumehood::Error::Policy(_) => {
                "take what the message names out of `sandboxPolicy` or `limits`, or ask for no more than the ceiling; only the user can raise a ceiling, in sandbox.policy.yaml"
            }
            fumehood::Error::UnknownLanguage(_) | fumehood::Error::MissingToolchain(_) => {
                "choose another language, or use sandboxed_shell.run"
            }
            fumehood::Error::DeniedVariable { .. } | fumehood::Error::VolumeRefused { .. } => {
                "leave it out"
            }
            _ => "correct the request; if it is right, tell the user to run `fumehood doctor`",
        };
        CallError::Library(Box::new(error), next)
    }
}
