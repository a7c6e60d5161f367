//! The library at work in one process. Takes one order per line and answers with one line, so that
//! whoever measures can let its runs take turns with those of other programs.
//!
//! - `run WORD…`: runs a command once; answers the nanoseconds it took.
//! - `many WORKERS MILLISECONDS WORD…`: as often as possible; answers how often.
//! - `plan DIRECTORY`: finds the policy of a directory and makes the plan of a command in it;
//!   answers the nanoseconds it took.
//! - `gate bulk WAY BYTES`, `gate connect WAY COUNT`: what a client measures by `direct`, `proxy` or
//!   `gate`; answers nanoseconds.
//! - `gate crowd WAY`: many connections at once; answers nanoseconds and kibibytes.
//! - `idle COUNT`: opens boxes that wait until the end; answers `ready`.
//!
//! Words are separated by tabs.

mod gate;
mod peer;

use std::{
    env,
    io::{BufRead as _, Write as _},
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use fumehood::{Event, PolicyChoice, Request, Run, Sandbox, Workspace, policy::ProfileName};
use tokio::runtime::{Builder, Runtime};

use self::gate::Gate;

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("server") => return peer::server(),
        Some("proxy") => return peer::proxy(),
        Some("client") => return peer::client(&words[1..]),
        _ => {}
    }
    gate::raise_descriptors();
    let mut server = Server::new()?;
    for line in std::io::stdin().lock().lines() {
        let answer = server.obey(&line?)?;
        let mut output = std::io::stdout().lock();
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

struct Server {
    runtime: Runtime,
    sandbox: Sandbox,
    idle: Vec<Run>,
    /// Made when it is first asked for.
    gate: Option<Gate>,
}

impl Server {
    /// One thread for one run at a time, as a small program would have it; more where asked for.
    fn new() -> anyhow::Result<Server> {
        let workers = env::args().nth(1).map_or(Ok(0), |number| number.parse())?;
        let runtime = match workers {
            0 => Builder::new_current_thread().enable_all().build()?,
            workers => Builder::new_multi_thread().worker_threads(workers).enable_all().build()?,
        };
        let sandbox = {
            let _inside = runtime.enter();
            let ready = u8::try_from(workers.max(1)).unwrap_or(u8::MAX);
            Sandbox::builder().keep_ready(ready).build()?
        };
        Ok(Server { runtime, sandbox, idle: Vec::new(), gate: None })
    }

    fn obey(&mut self, line: &str) -> anyhow::Result<String> {
        let words: Vec<&str> = line.split('\t').collect();
        match words.as_slice() {
            ["run", command @ ..] => self.run(command),
            ["many", workers, milliseconds, command @ ..] => {
                let time = Duration::from_millis(milliseconds.parse()?);
                self.many(workers.parse()?, time, command)
            }
            ["plan", directory] => self.plan(directory),
            ["gate", words @ ..] => self.gate(words),
            ["idle", count] => self.idle(count.parse()?),
            _ => bail!("no such order: {line}"),
        }
    }

    fn run(&self, command: &[&str]) -> anyhow::Result<String> {
        let request = Request::command(command.iter().copied());
        let started = Instant::now();
        let outcome = self.runtime.block_on(self.sandbox.run(request))?;
        let taken = started.elapsed();
        if !outcome.success {
            bail!("{command:?}: {:?} {}", outcome.status, outcome.stderr.text());
        }
        Ok(taken.as_nanos().to_string())
    }

    fn plan(&self, directory: &str) -> anyhow::Result<String> {
        let choice =
            PolicyChoice::Discover { from: directory.into(), otherwise: ProfileName::Default };
        let mut request = Request::command(["true"]).policy(choice);
        request.workspace = Some(Workspace { directory: directory.into(), mode: None });
        let started = Instant::now();
        let plan = self.sandbox.plan(&request)?;
        let taken = started.elapsed();
        drop(plan);
        Ok(taken.as_nanos().to_string())
    }

    fn many(&self, workers: usize, time: Duration, command: &[&str]) -> anyhow::Result<String> {
        let request = Request::command(command.iter().copied());
        let end = Instant::now() + time;
        let tasks: Vec<_> = (0..workers)
            .map(|_| {
                let (sandbox, request) = (self.sandbox.clone(), request.clone());
                self.runtime.spawn(async move {
                    let mut count = 0u64;
                    while Instant::now() < end {
                        if !sandbox.run(request.clone()).await.is_ok_and(|outcome| outcome.success)
                        {
                            return None;
                        }
                        count += 1;
                    }
                    Some(count)
                })
            })
            .collect();
        let mut total = 0;
        for task in tasks {
            total += self.runtime.block_on(task)?.context("a run did not succeed")?;
        }
        Ok(total.to_string())
    }

    fn gate(&mut self, words: &[&str]) -> anyhow::Result<String> {
        if self.gate.is_none() {
            self.gate = Some(Gate::new(&self.runtime)?);
        }
        let gate = self.gate.as_ref().context("it was just made")?;
        gate.answer(&self.runtime, words)
    }

    fn idle(&mut self, count: usize) -> anyhow::Result<String> {
        for _ in 0..count {
            let _inside = self.runtime.enter();
            let mut run = self.sandbox.start(Request::command(["sh", "-c", "echo; sleep 600"]))?;
            self.runtime.block_on(async {
                // Its first output shows that the box is complete.
                while let Some(event) = run.next_event().await {
                    match event {
                        Event::Output { .. } => return Ok(()),
                        Event::Finished { .. } => break,
                        _ => {}
                    }
                }
                bail!("an idle box ended")
            })?;
            self.idle.push(run);
        }
        Ok("ready".to_owned())
    }
}
