//! Who is measured: nothing at all, `unshare`, bwrap, and fumehood in two forms.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
    sync::Mutex,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{Programs, warm::Warm};
use crate::{project::root, shell};

/// A command that everybody runs.
pub struct Workload {
    /// Its name for people.
    pub name: &'static str,
    /// Its words.
    pub words: Vec<String>,
}

/// One way to run a command.
pub enum Way {
    /// By starting this program with the words of the command behind its own.
    Spawned { prefix: Vec<String> },
    /// By asking a process that has the library in it.
    InProcess(Box<Mutex<Warm>>),
}

/// One way to run a command, with its name.
pub struct Contestant {
    /// Its name for people.
    pub name: &'static str,
    /// How it runs a command.
    pub way: Way,
}

/// Everybody, in the order of the tables.
pub struct Contestants {
    /// All of them.
    pub all: Vec<Contestant>,
    /// The helper program, for measurements with a process of its own.
    pub helper: PathBuf,
    python: String,
}

/// The name of the measure of all others.
pub const BARE: &str = "bare process";
/// The name of the peer.
pub const BWRAP: &str = "bwrap";
/// The name of the command line.
pub const EXEC: &str = "`fumehood exec`";
/// The name of the library.
pub const WARM: &str = "library, warm";

/// The namespaces that bwrap and fumehood use, and nothing else.
const UNSHARE: &[&str] = &[
    "unshare",
    "--user",
    "--map-root-user",
    "--mount",
    "--pid",
    "--fork",
    "--net",
    "--ipc",
    "--uts",
    "--cgroup",
    "--",
];

impl Contestants {
    /// Makes everybody ready.
    pub fn new(programs: &Programs) -> Result<Contestants, String> {
        let fumehood = programs.fumehood.display().to_string();
        let spawned = |name, prefix: Vec<String>| Contestant { name, way: Way::Spawned { prefix } };
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let warm = Warm::start(&programs.helper, 0)?;
        Ok(Contestants {
            all: vec![
                spawned(BARE, Vec::new()),
                spawned("`unshare`", owned(UNSHARE)),
                spawned(BWRAP, bwrap_like(&fumehood)?),
                spawned(EXEC, owned(&[&fumehood, "exec", "--workspace", "none", "--"])),
                Contestant { name: WARM, way: Way::InProcess(Box::new(Mutex::new(warm))) },
            ],
            helper: programs.helper.clone(),
            python: programs.python.display().to_string(),
        })
    }

    /// The commands whose start is measured.
    pub fn workloads(&self) -> [Workload; 2] {
        let print = ["-c", "print(1)"].map(str::to_owned);
        let python = [vec![self.python.clone()], print.to_vec()].concat();
        [
            Workload { name: "`/bin/true`", words: vec!["/bin/true".to_owned()] },
            Workload { name: "`python3 -c 'print(1)'`", words: python },
        ]
    }

    /// The words with which bwrap makes a box.
    pub fn bwrap_prefix(&self) -> &[String] {
        self.all
            .iter()
            .find_map(|contestant| match (&contestant.way, contestant.name) {
                (Way::Spawned { prefix }, BWRAP) => Some(prefix.as_slice()),
                _ => None,
            })
            .unwrap_or_default()
    }
}

impl Contestant {
    /// Runs a command once, start to exit.
    pub fn run(&self, words: &[String]) -> Result<Duration, String> {
        match &self.way {
            Way::Spawned { prefix } => spawn_and_wait(&[prefix.as_slice(), words].concat()),
            Way::InProcess(warm) => {
                warm.lock().map_err(|_| "the helper is lost".to_owned())?.run(words)
            }
        }
    }
}

/// The only code that times a process, whoever's it is.
pub fn spawn_and_wait(words: &[String]) -> Result<Duration, String> {
    let [program, arguments @ ..] = words else { return Err("an empty command".to_owned()) };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
    // fumehood keeps its ledger, as it always does, but not in the user's own.
    command.env("FUMEHOOD_STATE_DIR", root().join("target/bench-state"));
    let started = Instant::now();
    let status = command.status();
    let taken = started.elapsed();
    match status {
        Ok(status) if status.success() => Ok(taken),
        Ok(status) => Err(format!("`{}` ended with {status}", words.join(" "))),
        Err(error) => Err(format!("`{program}` could not be started ({error})")),
    }
}

/// bwrap with what fumehood mounts, read off the plan that fumehood prints.
fn bwrap_like(fumehood: &str) -> Result<Vec<String>, String> {
    let arguments = ["exec", "--workspace", "none", "--dry-run", "--json", "--", "/bin/true"];
    let text = shell::output(Command::new(fumehood).args(arguments))?;
    let plan: Value = serde_json::from_str(&text).map_err(|error| format!("the plan: {error}"))?;
    let run = &plan["run"];
    let mut words: Vec<String> = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session"]
        .map(str::to_owned)
        .to_vec();
    let mut add = |option: &[&str]| words.extend(option.iter().map(|word| (*word).to_owned()));
    let field = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for mount in run["mounts"].as_array().ok_or("the plan has no mounts")? {
        let target = field(&mount["target"]);
        match mount["source"]["host"].as_str() {
            Some(source) if mount["access"] == "read_write" => add(&["--bind", source, &target]),
            Some(source) => add(&["--ro-bind", source, &target]),
            None => add(&["--tmpfs", &target]),
        }
    }
    for link in run["links"].as_array().into_iter().flatten() {
        add(&["--symlink", &field(&link["target"]), &field(&link["path"])]);
    }
    add(&[
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--tmpfs",
        "/tmp",
        "--remount-ro",
        "/",
        "--clearenv",
    ]);
    for (name, value) in run["command"]["env"].as_object().into_iter().flatten() {
        add(&["--setenv", name, &field(value)]);
    }
    add(&["--chdir", &field(&run["command"]["cwd"]), "--"]);
    Ok(words)
}
