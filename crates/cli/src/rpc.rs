//! `fumehood rpc`: boxes for another program, which asks in JSON-RPC over standard input and output.

use std::{
    io::{self, BufReader},
    num::NonZeroUsize,
    thread,
};

use clap::Args;
use fumehood_server::rpc::{Ended, Server};

use crate::{drive, failure::Failure, opening::Opened, render::Format};

/// Arguments of `fumehood rpc`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct RpcArgs {
    /// How many runs there are at once; the others wait. [default: four per processor]
    #[arg(long, value_name = "COUNT")]
    at_once: Option<NonZeroUsize>,
}

const EXAMPLES: &str = "\
One JSON object per line, in and out; messages for people go to standard error. Every box ends when
standard input does. docs/RPC.md describes the protocol; the packages in sdk/ speak it.

Examples:
  fumehood rpc
  fumehood rpc --at-once 2
  printf '%s\\n' \\
    '{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"initialize\", \"params\": {\"protocol\": 1}}' \\
    '{\"jsonrpc\": \"2.0\", \"id\": 2, \"method\": \"run\", \"params\": {\"language\": \"python\", \"code\": \"print(6 * 7)\"}}' \\
    '{\"jsonrpc\": \"2.0\", \"id\": 3, \"method\": \"shutdown\"}' | fumehood rpc";

/// Serves until the caller is done, and gives the exit code.
pub fn main(arguments: &RpcArgs) -> u8 {
    match serve(arguments) {
        // Nothing can end the thread that still reads standard input, and nothing is left to do.
        Ok(_) => std::process::exit(0),
        Err(failure) => failure.report(Format::Raw),
    }
}

fn serve(arguments: &RpcArgs) -> Result<Ended, Failure> {
    let opened = Opened::to_serve()?;
    let (sandbox, limits) = (opened.sandbox.clone(), opened.limits());
    let at_once = arguments.at_once.map_or_else(four_per_processor, NonZeroUsize::get);
    let configure = Box::new(move |request: &mut fumehood::Request| opened.configure(request));
    let server = Server { sandbox, configure, limits, at_once };
    let serving = server.serve(BufReader::with_capacity(64 << 10, io::stdin()), io::stdout());
    drive::runtime()?
        .block_on(serving)
        .map_err(|reason| Failure::Machinery { what: "the server", reason })
}

fn four_per_processor() -> usize {
    4 * thread::available_parallelism().map_or(1, NonZeroUsize::get)
}
