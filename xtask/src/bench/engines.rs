//! Containers: what fumehood adds to an engine, or takes away, beside the engine's own command
//! with the same image, the same program and comparable settings, in turn with it.

use super::{
    Programs,
    contestants::spawn_and_wait,
    samples::{Samples, ratio},
    table::{Table, millis, times},
};
use crate::engines;

/// Starting a container takes a third of a second, and there are four ways.
const RUNS: usize = 20;
const WARM_UP: usize = 2;

/// Settings of the engines' own commands that make a container comparable to a box.
const COMPARABLE: &[&str] = &[
    "run",
    "--rm",
    "--network",
    "none",
    "--read-only",
    "--cap-drop",
    "ALL",
    "--security-opt",
    "no-new-privileges",
    "--memory",
    "512m",
    "--cpus",
    "1",
    "--pids-limit",
    "100",
    "--ulimit",
    "nofile=1024:1024",
    "--ulimit",
    "nproc=4096:4096",
    "--tmpfs",
    "/tmp",
];

/// Starts private engines, measures, and ends them.
pub fn table(programs: &Programs) -> Result<Table, String> {
    let variables = engines::start()?;
    let measured = measure(programs, &variables);
    engines::down()?;
    measured
}

fn measure(programs: &Programs, variables: &[(&'static str, String)]) -> Result<Table, String> {
    let value = |name: &str| {
        let found = variables.iter().find(|(each, _)| *each == name);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let image = value("FUMEHOOD_TEST_IMAGE");
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let mut table =
        Table::new("/bin/true in a container, start to exit", &["p50", "p99", "p50 × its engine"]);
    for (engine, host) in
        [("docker", value("FUMEHOOD_TEST_DOCKER")), ("podman", value("FUMEHOOD_TEST_PODMAN"))]
    {
        let flag = if engine == "docker" { "--host" } else { "--url" };
        let remote: &[&str] = if engine == "docker" { &[] } else { &["--remote"] };
        let own = [
            words(&[engine]),
            words(remote),
            words(&[flag, &host]),
            words(COMPARABLE),
            words(&[&image, "/bin/true"]),
        ]
        .concat();
        let variable = if engine == "docker" { "DOCKER_HOST" } else { "CONTAINER_HOST" };
        let fumehood = programs.fumehood.display().to_string();
        let ours = words(&[
            "env",
            &format!("{variable}={host}"),
            &fumehood,
            "exec",
            "--workspace",
            "none",
            "--backend",
            engine,
            "--image",
            &image,
            "--",
            "/bin/true",
        ]);
        let (mut theirs_seen, mut ours_seen) = (Samples::default(), Samples::default());
        for run in 0..WARM_UP + RUNS {
            for (command, seen) in [(&own, &mut theirs_seen), (&ours, &mut ours_seen)] {
                let taken = spawn_and_wait(command)?;
                if run >= WARM_UP {
                    seen.push(taken);
                }
            }
        }
        let measure = theirs_seen.median();
        for (name, seen) in [
            (format!("`{engine} run`"), &theirs_seen),
            (format!("`fumehood exec --backend {engine}`"), &ours_seen),
        ] {
            let p50 = seen.median();
            let p99 = millis(seen.percentile(99));
            table.row(&name, &[millis(p50), p99, times(ratio(p50, measure))]);
        }
    }
    Ok(table)
}
