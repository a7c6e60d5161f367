//! A package manager in a box gets packages from the registry that is allowed, and from nowhere else.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use fumehood_tests::{Case, Condition, NEAR, Scene, assert_printed, python, with_limits};

use super::{clients::fetched, decisions, lent};

pub fn cases() -> Vec<Case> {
    vec![Case::steps("egress::tools::pip", pip).only(Condition::GATE)]
}

/// A registry with one package. Ends with this.
struct Registry {
    process: Child,
    port: u16,
}

impl Registry {
    fn start(scene: &Scene) -> Registry {
        let mut process = Command::new("python3")
            .args(["-c", include_str!("clients/registry.py")])
            .arg(scene.directory("registry"))
            .arg(NEAR.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 is needed: see `cargo xtask test`");
        let mut line = String::new();
        let output = process.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("a line");
        Registry { process, port: line.trim().parse().expect("a port") }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // It ends with its input; this is for the case that it does not.
        drop(self.process.stdin.take());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn pip(scene: &Scene) {
    let registry = Registry::start(scene);
    let port = registry.port;
    let source = format!(
        "import os, subprocess, sys, time\n\
         begun = time.monotonic()\n\
         pip = [sys.executable, '-m', 'pip', 'install', '--quiet', '--no-cache-dir', '--retries', '0',\n\
         \x20'--disable-pip-version-check', '--trusted-host', 'registry.test', '--index-url',\n\
         \x20'http://registry.test:{port}/simple', '--target', 'packages', 'greeting']\n\
         environment = os.environ | {{'PYTHONPATH': '/clients/python'}}\n\
         if subprocess.run(pip, env=environment).returncode:\n\
         \x20print('not installed', 'late' if time.monotonic() - begun > 20 else '')\n\
         else:\n\
         \x20sys.path.insert(0, 'packages')\n\
         \x20import greeting; print(greeting.WORDS)"
    );
    let request = || with_limits(fetched(python(&source)), "timeout=120s");
    let rules = [format!("registry.test:{port}"), format!("{NEAR}:{port}")];
    let outcome = scene.run(lent(request(), &[&rules[0], &rules[1]]));
    assert_printed(&outcome, "hello from a package\n");
    assert!(decisions(&outcome).iter().all(|one| one == "registry.test allowed"));
    assert!(!outcome.network.is_empty());
    let outcome = scene.run(lent(request(), &["near.test"]));
    assert_printed(&outcome, "not installed \n");
    assert!(decisions(&outcome).contains(&"registry.test no_rule".to_owned()));
}
