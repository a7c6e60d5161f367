//! What a gate costs: the same client measures directly, through a proxy and from a box.

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use anyhow::{Context as _, bail};
use fumehood::{
    Event, LimitOverrides, Mount, PolicyChoice, Request, Sandbox, StdinSource, TableResolver,
};
use tokio::runtime::Runtime;

use crate::peer::{NAME, SERVER};

const CROWD: u32 = 1000;

/// Everything that takes part.
pub struct Gate {
    sandbox: Sandbox,
    server: Part,
    proxy: Part,
}

/// A process of ours.
struct Part {
    child: Child,
    port: u16,
}

impl Part {
    fn start(role: &str) -> anyhow::Result<Part> {
        let mut child = Command::new(env::current_exe()?)
            .arg(role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        Ok(Part { child, port: line.trim().parse()? })
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // The end of its input is its end.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

impl Gate {
    pub fn new(runtime: &Runtime) -> anyhow::Result<Gate> {
        let resolver = TableResolver::new().with(NAME, &[SERVER]);
        let _inside = runtime.enter();
        let sandbox = Sandbox::builder().resolver(Arc::new(resolver)).build()?;
        let (server, proxy) = (Part::start("server")?, Part::start("proxy")?);
        Ok(Gate { sandbox, server, proxy })
    }

    /// One line for whoever asked.
    pub fn answer(&self, runtime: &Runtime, words: &[&str]) -> anyhow::Result<String> {
        match words {
            ["crowd", way] => {
                let (nanos, kibibytes) = self.crowd(runtime, way)?;
                Ok(format!("{nanos} {kibibytes}"))
            }
            [what, way, number] => Ok(self.measure(runtime, way, what, number)?.to_string()),
            _ => bail!("no such order of the gate: {words:?}"),
        }
    }

    fn measure(
        &self,
        runtime: &Runtime,
        way: &str,
        what: &str,
        number: &str,
    ) -> anyhow::Result<u64> {
        let words = self.words(way, what, number);
        let text = match way {
            "gate" => {
                let outcome = runtime.block_on(self.sandbox.run(self.boxed(&words)?))?;
                if !outcome.success {
                    bail!("{words:?}: {:?} {}", outcome.status, outcome.stderr.text());
                }
                outcome.stdout.text().into_owned()
            }
            _ => {
                let done = Command::new(env::current_exe()?).args(&words).output()?;
                String::from_utf8_lossy(&done.stdout).into_owned()
            }
        };
        text.trim().parse().with_context(|| format!("{words:?}: {text}"))
    }

    /// Nanoseconds until many connections are open and used, and the kibibytes that this cost
    /// whoever passes them on.
    fn crowd(&self, runtime: &Runtime, way: &str) -> anyhow::Result<(u64, u64)> {
        let words = self.words(way, "crowd", &CROWD.to_string());
        let keeper = if way == "gate" { std::process::id() } else { self.proxy.child.id() };
        let before = private_memory(keeper);
        if way == "gate" {
            let mut request = self.boxed(&words)?;
            request.stdin = StdinSource::Live;
            let _inside = runtime.enter();
            let mut run = self.sandbox.start(request)?;
            return runtime.block_on(async {
                let mut said = String::new();
                while let Some(event) = run.next_event().await {
                    if let Event::Output { data, .. } = event {
                        said.push_str(&data.text());
                        if let Ok(nanos) = said.trim().parse() {
                            let cost = private_memory(keeper).saturating_sub(before);
                            drop(run.stdin());
                            return Ok((nanos, cost));
                        }
                    }
                }
                bail!("{words:?}: {said}")
            });
        }
        let mut child = Command::new(env::current_exe()?)
            .args(&words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut said = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut said)?;
        let cost = private_memory(keeper).saturating_sub(before);
        drop(child.stdin.take());
        child.wait()?;
        Ok((said.trim().parse()?, if way == "proxy" { cost } else { 0 }))
    }

    fn words(&self, way: &str, what: &str, number: &str) -> Vec<String> {
        let (port, own) = (self.server.port.to_string(), self.proxy.port.to_string());
        let mut words = vec!["client".to_owned(), way.to_owned(), port];
        if way == "proxy" {
            words.push(own);
        }
        words.extend([what.to_owned(), number.to_owned()]);
        words
    }

    fn boxed(&self, words: &[String]) -> anyhow::Result<Request> {
        const INSIDE: &str = "/bench/client";
        let program = env::current_exe()?;
        let command = std::iter::once(INSIDE.to_owned()).chain(words.iter().cloned());
        let port = self.server.port;
        let text = format!(
            "version: 1\nnet:\n  mode: allow\n  allow: ['{NAME}:{port}', '{SERVER}:{port}']\n  \
             limits: {{connections: {}}}\n",
            CROWD + 24
        );
        let limits = LimitOverrides { open_files: Some(CROWD + 24), ..Default::default() };
        Ok(Request::command(command)
            .mount(Mount::read_only(program, INSIDE))
            .policy(PolicyChoice::Text { name: "the bench".into(), text })
            .limits(limits))
    }
}

/// Kibibytes that would be free again if this process were gone.
fn private_memory(pid: u32) -> u64 {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let lines = rollup.lines().filter(|line| line.starts_with("Private_"));
    lines.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).sum()
}

/// Enough descriptors for a crowd, as far as this process may have them.
pub fn raise_descriptors() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
}
