//! The server over HTTP, for as long as a check lasts.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use super::Bench;

/// A server and its address.
pub struct Served {
    child: Child,
    /// Where clients find it.
    pub url: String,
}

impl Served {
    /// Starts it on any port of the loopback.
    pub fn start(bench: &Bench) -> Result<Served, String> {
        let mut command = Command::new(&bench.program);
        command.args(["mcp", "--http", "127.0.0.1:0", "--session"]).stderr(Stdio::piped());
        bench.keep_to_itself(&mut command);
        let mut child = command
            .current_dir(bench.workspace())
            .spawn()
            .map_err(|error| format!("the server could not be started ({error})"))?;
        let said = child.stderr.take().map(BufReader::new);
        let mut lines = said.into_iter().flat_map(|lines| lines.lines().map_while(Result::ok));
        let url = lines.find_map(|line| Some(format!("http://{}", line.split_once("http://")?.1)));
        let served = Served { child, url: url.unwrap_or_default() };
        match served.url.is_empty() {
            true => Err("the server did not say where it serves".to_owned()),
            false => Ok(served),
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
