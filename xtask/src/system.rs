//! The machine below: who we are, which users there are, what can be installed.

use std::{
    fs,
    os::unix::{fs::MetadataExt as _, process::CommandExt as _},
    path::PathBuf,
    process::Command,
};

use crate::shell;

/// Where programs of the system are, for users whose own settings we do not know.
pub const SYSTEM_PATH: &str =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/go/bin";

/// True if this process may set the machine up.
pub fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|us| us.uid() == 0)
}

/// A user of the machine.
pub struct User {
    /// Its name.
    pub name: String,
    /// Its numbers.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// Its home.
    pub home: PathBuf,
}

impl User {
    /// The user with this name, if there is one.
    pub fn find(name: &str) -> Option<User> {
        let users = fs::read_to_string("/etc/passwd").ok()?;
        users.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            let [found, _, uid, gid, _, home, ..] = fields.as_slice() else { return None };
            (*found == name).then_some(())?;
            Some(User {
                name: name.to_owned(),
                uid: uid.parse().ok()?,
                gid: gid.parse().ok()?,
                home: PathBuf::from(home),
            })
        })
    }

    /// The user with this name, made if it is missing.
    pub fn find_or_make(name: &str) -> Result<User, String> {
        if let Some(user) = User::find(name) {
            return Ok(user);
        }
        let arguments = ["--create-home", "--shell", "/bin/sh", name];
        shell::run(Command::new("useradd").args(arguments).env("PATH", SYSTEM_PATH))?;
        User::find(name).ok_or_else(|| format!("useradd did not make the user {name}"))
    }

    /// The surroundings in which this user's commands run: nothing of ours.
    pub fn dress<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env_clear()
            .env("PATH", SYSTEM_PATH)
            .env("HOME", &self.home)
            .env("USER", &self.name)
            .env("LOGNAME", &self.name)
            .env("LANG", "C.UTF-8")
    }

    /// Makes a command run as this user. Other groups than its own are left behind.
    pub fn become_for<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        self.dress(command).uid(self.uid).gid(self.gid)
    }
}

/// Installs packages of Debian.
pub fn install(packages: &[&str]) -> Result<(), String> {
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
        shell::run(&mut command)
    };
    apt(&["update", "-q"])?;
    let mut arguments = vec!["install", "-q", "-y", "--no-install-recommends"];
    arguments.extend(packages);
    apt(&arguments)
}
