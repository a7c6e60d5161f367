//! A fresh Debian machine made ready: programs that the tests run, and an ordinary user.

use std::process::Command;

use crate::{
    shell,
    system::{self, SYSTEM_PATH, User},
};

/// The user of the runs without root. It has no rights and no part in anything else.
pub const ORDINARY_USER: &str = "fumehood-test";

/// A program that tests need, how to see that it works, and the package it comes with.
struct Need {
    probe: &'static [&'static str],
    packages: &'static [&'static str],
}

const fn need(probe: &'static [&'static str], packages: &'static [&'static str]) -> Need {
    Need { probe, packages }
}

/// Looked for where every user finds them: an ordinary user sees nothing of root's home, so a
/// toolchain there does not count.
const NEEDS: &[Need] = &[
    need(&["python3", "-c", "import ctypes, socket, resource"], &["python3"]),
    need(&["python3", "-c", "import ensurepip, venv"], &["python3-venv"]),
    need(&["node", "--version"], &["nodejs"]),
    need(&["npm", "--version"], &["npm"]),
    need(&["go", "version"], &["golang-go"]),
    need(&["rustc", "--version"], &["rustc"]),
    need(&["javac", "-version"], &["default-jdk-headless"]),
    need(&["java", "-version"], &["default-jre-headless"]),
    need(&["gcc", "--version"], &["gcc", "libc6-dev"]),
    need(&["g++", "--version"], &["g++"]),
    need(&["bash", "--version"], &["bash"]),
    need(&["curl", "--version"], &["curl"]),
    need(&["openssl", "version"], &["openssl"]),
    need(&["psql", "--version"], &["postgresql-client"]),
    need(&["ipcmk", "--version"], &["util-linux"]),
    need(&["unshare", "--version"], &["util-linux"]),
    need(&["ip", "-V"], &["iproute2"]),
    need(&["setpriv", "--version"], &["util-linux"]),
    need(&["useradd", "--help"], &["passwd"]),
];

/// Installs what is missing and gives the ordinary user.
pub fn everything() -> Result<User, String> {
    let missing: Vec<&Need> = NEEDS.iter().filter(|need| !need.is_met()).collect();
    let packages: Vec<&str> =
        missing.iter().flat_map(|need| need.packages.iter().copied()).collect();
    if !packages.is_empty() {
        system::install(&packages)?;
    }
    if let Some(still) = missing.iter().find(|need| !need.is_met()) {
        return Err(format!(
            "`{}` does not work although {} is installed",
            still.probe.join(" "),
            still.packages.join(" and ")
        ));
    }
    println!("every program is there");
    User::find_or_make(ORDINARY_USER)
}

impl Need {
    fn is_met(&self) -> bool {
        let [program, arguments @ ..] = self.probe else { return true };
        let mut command = Command::new("env");
        command.arg("-i").arg(format!("PATH={SYSTEM_PATH}")).arg(program).args(arguments);
        shell::works(&mut command)
    }
}
