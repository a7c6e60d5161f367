//! `fumehood mcp`: boxes for agents, over the Model Context Protocol.

use std::{env, net::SocketAddr, path::PathBuf};

use clap::{Args, ValueEnum};
use fumehood::{
    BackendChoice, PolicyChoice, Request,
    policy::{PolicyText, ProfileName},
};
use fumehood_server::mcp::{
    Options, Shared, Token, ToolNames, WorkspaceChoice, serve_http, serve_stdio,
};
use tokio::runtime::Builder;

use crate::{failure::Failure, opening::Opened, output, render::Format, values};

/// Arguments of `fumehood mcp`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct McpArgs {
    /// Serve over HTTP at this address, path /mcp, not over standard input and output.
    #[arg(long, value_name = "ADDRESS:PORT")]
    http: Option<SocketAddr>,
    /// A file with the token that clients over HTTP must send. Needed beyond this machine.
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
    /// How tools are called: sandboxed_code.run, or sandboxed_code_run.
    #[arg(long, value_enum, default_value = "dots")]
    tool_names: NamesArg,
    /// Keep one workspace as long as a session lasts. Without it each run has a new one.
    #[arg(long, conflicts_with = "workspace")]
    session: bool,
    /// The directory that is the workspace of all runs.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Characters of each output stream in an answer; the rest is a resource.
    #[arg(long, value_name = "COUNT", default_value_t = Options::OUTPUT)]
    output_chars: usize,
    /// The policy file. [default: the nearest sandbox.policy.yaml upward from the workspace]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// A built-in policy instead of files: default, strict, build or agent.
    #[arg(long, value_name = "NAME", conflicts_with = "policy", value_parser = ProfileName::find)]
    profile: Option<ProfileName>,
    /// A policy on top of that one, as text: it tightens freely, and loosens up to the ceiling.
    #[arg(long = "override", value_name = "POLICY", value_parser = values::override_text)]
    overrides: Option<PolicyText>,
    /// What opens boxes: native, or local for no isolation at all. [default: native]
    #[arg(long, value_name = "NAME")]
    backend: Option<BackendChoice>,
}

const EXAMPLES: &str = "\
Examples:
  claude mcp add fumehood -- fumehood mcp --workspace .
  fumehood mcp --session                     one private workspace per session
  fumehood mcp --workspace . --profile agent
  fumehood mcp --http 127.0.0.1:8931 --token-file ~/.config/fumehood/token
  fumehood mcp --override '{version: 1, net: {mode: none}}'
  fumehood mcp --tool-names underscores      for models that take no dots";

/// How the names of tools are spelt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum NamesArg {
    Dots,
    Underscores,
}

/// Serves until the client is gone, and gives the exit code.
pub fn main(arguments: McpArgs) -> u8 {
    let code = serve(arguments).map_or_else(|failure| failure.report(Format::Text), |()| 0);
    // A thread that still waits for input must not hold us up; the launcher ends all boxes.
    std::process::exit(code.into())
}

fn serve(arguments: McpArgs) -> Result<(), Failure> {
    let token = arguments.token_file.as_deref().map(Token::read).transpose()?;
    let http = arguments.http;
    let opened = Opened::to_serve()?;
    let options = options(arguments, &opened)?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|reason| Failure::Machinery { what: "the runtime", reason })?;
    let shared = Shared::new(opened.sandbox, options);
    match http {
        None => runtime.block_on(serve_stdio(shared))?,
        Some(address) => {
            let open = token.is_none();
            let ready = |address: SocketAddr| {
                if open {
                    output::line_for_people(
                        "every program on this machine can use this server: add --token-file FILE",
                    );
                }
                output::line_for_people(&format!("serving at http://{address}/mcp"));
            };
            runtime.block_on(serve_http(shared, address, token, ready))?;
        }
    }
    Ok(())
}

fn options(arguments: McpArgs, opened: &Opened) -> Result<Options, Failure> {
    let unreadable = |path: PathBuf| {
        move |error: std::io::Error| Failure::Unreadable {
            what: "workspace",
            path,
            reason: crate::failure::reason(&error),
        }
    };
    let workspace = match (arguments.workspace, arguments.session) {
        (Some(path), _) => {
            let real = path.canonicalize().map_err(unreadable(path))?;
            WorkspaceChoice::Directory(real)
        }
        (None, true) => WorkspaceChoice::Session,
        (None, false) => WorkspaceChoice::Fresh,
    };
    // The server's own directory must not decide what a policy file means later.
    let here = env::current_dir().map_err(unreadable(PathBuf::from(".")))?;
    let from = match &workspace {
        WorkspaceChoice::Directory(directory) => directory.clone(),
        WorkspaceChoice::Session | WorkspaceChoice::Fresh => here.clone(),
    };
    let mut sample = Request::command(["true"]);
    sample.backend = arguments.backend;
    sample.overrides = arguments.overrides;
    sample.policy = match (arguments.policy, arguments.profile) {
        (Some(file), _) => PolicyChoice::File(here.join(file)),
        (None, Some(profile)) => PolicyChoice::Profile(profile),
        (None, None) => PolicyChoice::Discover { from, otherwise: ProfileName::Default },
    };
    opened.configure(&mut sample);
    // Better now than at the first call.
    opened.sandbox.policy(&sample)?;
    Ok(Options {
        names: match arguments.tool_names {
            NamesArg::Dots => ToolNames::Dots,
            NamesArg::Underscores => ToolNames::Underscores,
        },
        workspace,
        output: arguments.output_chars,
        policy: sample.policy,
        overrides: sample.overrides,
        backend: sample.backend,
    })
}
