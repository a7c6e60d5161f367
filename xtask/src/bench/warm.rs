//! The process that has the library in it, and the orders it takes.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

/// A helper process.
pub struct Warm {
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Warm {
    /// Starts it. Without workers it has one thread for everything.
    pub fn start(helper: &Path, workers: usize) -> Result<Warm, String> {
        let mut child = Command::new(helper)
            .arg(workers.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{} could not be started ({error})", helper.display()))?;
        let answers = BufReader::new(child.stdout.take().ok_or("no output of the helper")?);
        let orders = child.stdin.take();
        Ok(Warm { child, orders, answers })
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Runs a command once; the helper says how long it took.
    pub fn run(&mut self, words: &[String]) -> Result<Duration, String> {
        let answer = self.ask(&format!("run\t{}", words.join("\t")))?;
        answer.parse().map(Duration::from_nanos).map_err(|_| format!("helper: {answer}"))
    }

    /// Runs a command as often as possible for a while.
    pub fn many(
        &mut self,
        workers: usize,
        time: Duration,
        words: &[String],
    ) -> Result<u64, String> {
        let order = format!("many\t{workers}\t{}\t{}", time.as_millis(), words.join("\t"));
        let answer = self.ask(&order)?;
        answer.parse().map_err(|_| format!("helper: {answer}"))
    }

    /// Makes a plan for a directory; the helper says how long it took.
    pub fn plan(&mut self, directory: &Path) -> Result<Duration, String> {
        let answer = self.ask(&format!("plan\t{}", directory.display()))?;
        answer.parse().map(Duration::from_nanos).map_err(|_| format!("helper: {answer}"))
    }

    /// What a client measures of the network; see the helper for the orders.
    pub fn gate(&mut self, order: &str) -> Result<String, String> {
        self.ask(&format!("gate\t{order}"))
    }

    /// Opens boxes that wait.
    pub fn idle(&mut self, count: usize) -> Result<(), String> {
        self.ask(&format!("idle\t{count}")).map(drop)
    }

    fn ask(&mut self, order: &str) -> Result<String, String> {
        let lost = |_| "the helper ended too early".to_owned();
        let orders = self.orders.as_mut().ok_or("the helper takes no more orders")?;
        writeln!(orders, "{order}").map_err(lost)?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer).map_err(lost)?;
        match answer.trim() {
            "" => Err("the helper ended too early".to_owned()),
            answer => Ok(answer.to_owned()),
        }
    }
}

impl Drop for Warm {
    fn drop(&mut self) {
        // The end of its orders is its end.
        self.orders = None;
        let _ = self.child.wait();
    }
}
