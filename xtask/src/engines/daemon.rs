//! One daemon: started in the background, known by the number of its process, ended by it.

use std::{
    fs::{self, File},
    os::unix::{net::UnixStream, process::CommandExt as _},
    path::PathBuf,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::shell;

/// How long a daemon may take to listen, and to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// A daemon, whether it runs or not.
pub struct Daemon {
    /// What to call it.
    pub name: &'static str,
    /// The directory of everything that is its own.
    pub place: PathBuf,
    /// Where it listens.
    pub socket: PathBuf,
    /// How it is started.
    pub command: Command,
}

impl Daemon {
    /// Starts it unless it runs, and waits until it listens.
    pub fn start(mut self) -> Result<(), String> {
        if self.is_alive() && self.listens() {
            return Ok(());
        }
        let _ = fs::remove_file(&self.socket);
        let log = self.place.join(format!("{}.log", self.name));
        let failed = |error: std::io::Error| format!("{} could not be started: {error}", self.name);
        let output = File::create(&log).map_err(failed)?;
        let errors = output.try_clone().map_err(failed)?;
        let child = self
            .command
            // Engines leave small files where they are started.
            .current_dir(&self.place)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            // What is typed at our terminal is not for it.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        fs::write(self.number_file(), child.id().to_string()).map_err(failed)?;
        let listens = wait_until(|| self.listens() || !self.is_alive());
        if listens && self.is_alive() {
            return Ok(());
        }
        Err(format!("{} does not listen: see {}", self.name, log.display()))
    }

    /// Ends it, if it runs, and waits for its end.
    pub fn stop(&self) -> Result<(), String> {
        let Some(number) = self.process() else { return Ok(()) };
        shell::run(Command::new("kill").arg(&number))?;
        if wait_until(|| !self.is_alive()) {
            return Ok(());
        }
        Err(format!("{} does not end: process {number}", self.name))
    }

    /// True if the process that was started is there.
    pub fn is_alive(&self) -> bool {
        self.process().is_some()
    }

    fn listens(&self) -> bool {
        UnixStream::connect(&self.socket).is_ok()
    }

    fn number_file(&self) -> PathBuf {
        self.place.join(format!("{}.number", self.name))
    }

    /// The number of its process. The number may have gone to another one: only a process that
    /// names our socket is ours.
    fn process(&self) -> Option<String> {
        let number = fs::read_to_string(self.number_file()).ok()?;
        let command = fs::read(format!("/proc/{number}/cmdline")).ok()?;
        let ours = String::from_utf8_lossy(&command).contains(&*self.socket.to_string_lossy());
        ours.then_some(number)
    }
}

fn wait_until(done: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if done() {
            return true;
        }
        thread::sleep(Duration::from_millis(50));
    }
    false
}
