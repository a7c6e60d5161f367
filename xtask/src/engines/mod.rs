//! `cargo xtask engines up|down`: private daemons of Docker and Podman for the tests.
//!
//! Everything of theirs is below one directory of the target directory: sockets, images, logs,
//! numbers of processes. Nothing that the machine has of its own is touched.

mod daemon;
mod image;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use self::daemon::Daemon;
use crate::{project, shell, system};

/// The programs, and the packages they come with.
const NEEDS: &[(&str, &str)] = &[
    ("dockerd", "docker.io"),
    ("podman", "podman"),
    ("runc", "runc"),
    ("conmon", "conmon"),
    ("mmdebstrap", "mmdebstrap"),
];

/// The image that both engines get.
const IMAGE: &str = "fumehood/test";

/// Starts both engines with the image, and prints what the tests want to know.
pub fn up() -> Result<(), String> {
    for (name, value) in start()? {
        println!("export {name}={value}");
    }
    Ok(())
}

/// Starts both engines with the image. Gives the variables that tell the tests.
pub fn start() -> Result<Vec<(&'static str, String)>, String> {
    if !system::is_root() {
        return Err("engines are started as root: type `sudo cargo xtask engines up`".to_owned());
    }
    install_missing()?;
    let place = place();
    fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
    let root = image::root_file_system(&place)?;
    docker(&place).start()?;
    podman(&place).start()?;
    for mut client in [docker_client(&place), podman_client(&place)] {
        let known = |client: &mut Command| shell::works(client.args(["image", "inspect", IMAGE]));
        if !known(&mut copy(&client)) {
            shell::run(client.arg("import").arg(&root).arg(IMAGE))?;
        }
    }
    Ok(vec![
        ("FUMEHOOD_TEST_DOCKER", format!("unix://{}", docker(&place).socket.display())),
        ("FUMEHOOD_TEST_PODMAN", format!("unix://{}", podman(&place).socket.display())),
        ("FUMEHOOD_TEST_IMAGE", IMAGE.to_owned()),
    ])
}

/// Ends both engines and removes everything of theirs.
pub fn down() -> Result<(), String> {
    let place = place();
    if !place.exists() {
        return Ok(());
    }
    if podman(&place).is_alive() {
        shell::run(podman_client(&place).args(["rm", "--all", "--force", "--time", "0"]))?;
    }
    podman(&place).stop()?;
    docker(&place).stop()?;
    unmount_below(&place)?;
    fs::remove_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))
}

fn place() -> PathBuf {
    project::target().join("engines")
}

fn install_missing() -> Result<(), String> {
    let is_missing = |program: &str| {
        let mut probe = Command::new("sh");
        !shell::works(probe.args(["-c", "command -v \"$0\"", program]))
    };
    let missing: Vec<&str> = NEEDS
        .iter()
        .filter(|(program, _)| is_missing(program))
        .map(|(_, package)| *package)
        .collect();
    if missing.is_empty() { Ok(()) } else { system::install(&missing) }
}

fn docker(place: &Path) -> Daemon {
    let socket = place.join("docker.sock");
    let mut command = Command::new("dockerd");
    command
        .arg(format!("--host=unix://{}", socket.display()))
        .arg("--data-root")
        .arg(place.join("docker"))
        .arg("--exec-root")
        .arg(place.join("docker-run"))
        .arg("--pidfile")
        .arg(place.join("dockerd.pid"))
        // Boxes have no network, so neither bridges nor rules are needed.
        .args(["--bridge", "none", "--iptables=false"]);
    Daemon { name: "docker", place: place.to_owned(), socket, command }
}

fn podman(place: &Path) -> Daemon {
    let socket = place.join("podman.sock");
    let mut command = podman_client(place);
    command.args(["system", "service", "--time", "0"]).arg(format!("unix://{}", socket.display()));
    Daemon { name: "podman", place: place.to_owned(), socket, command }
}

fn docker_client(place: &Path) -> Command {
    let mut client = Command::new("docker");
    client.arg("--host").arg(format!("unix://{}", place.join("docker.sock").display()));
    client
}

fn podman_client(place: &Path) -> Command {
    let mut client = Command::new("podman");
    client
        .arg("--root")
        .arg(place.join("podman"))
        .arg("--runroot")
        .arg(place.join("podman-run"))
        .arg("--tmpdir")
        .arg(place.join("podman-tmp"))
        // crun refuses machines with both versions of cgroups; there is no systemd to ask.
        .args(["--runtime", "runc", "--cgroup-manager", "cgroupfs", "--events-backend", "file"]);
    client
}

fn copy(command: &Command) -> Command {
    let mut copy = Command::new(command.get_program());
    copy.args(command.get_args());
    copy
}

/// Engines leave mounts of their own directories behind.
fn unmount_below(place: &Path) -> Result<(), String> {
    let mounts = fs::read_to_string("/proc/self/mounts").map_err(|error| error.to_string())?;
    let mut targets: Vec<&str> = mounts
        .lines()
        .filter_map(|line| line.split(' ').nth(1))
        .filter(|target| Path::new(target).starts_with(place))
        .collect();
    // The innermost first.
    targets.sort_by_key(|target| std::cmp::Reverse(target.len()));
    targets.iter().try_for_each(|target| shell::run(Command::new("umount").arg(target)))
}
