//! Boxes for agents, over the Model Context Protocol.
//!
//! [`Shared`] holds what all sessions of a server have in common, [`serve_stdio`] and [`serve_http`]
//! carry the protocol. A session lists tools, checks their arguments, makes a request of them, and
//! gives the outcome back as text for the model and as an object for programs. What is allowed is
//! the library's affair.

mod answer;
mod arguments;
mod body;
mod cut;
mod explain;
mod failure;
mod files;
mod http;
mod incoming;
mod kept;
mod lines;
mod names;
mod presence;
mod private;
mod resources;
mod run;
mod schemas;
mod session;
mod shared;
mod stdio;
mod token;
mod workspace;

pub use self::{
    failure::ServeError,
    http::serve_http,
    names::ToolNames,
    shared::{Options, Shared},
    stdio::serve_stdio,
    token::Token,
    workspace::WorkspaceChoice,
};

/// The longest message that is taken from a client. A program of 32 MiB fits, with what JSON adds.
const MOST_MESSAGE: usize = 40 << 20;
