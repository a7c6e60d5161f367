//! `cargo xtask verify`: every attack of the catalogue at every place that this machine has, as a
//! table for the page on security.

use std::{env, path::PathBuf, process::Command};

use serde_json::Value;

use crate::{
    marks,
    project::{cargo, root, target},
    shell,
    system::{self, User},
    test::{ORDINARY_USER, Reach},
};

/// The page that the table is written to.
const PAGE: &str = "docs/SECURITY.md";

/// What one place said.
struct Place {
    name: &'static str,
    found: Value,
}

/// Makes the attacks, with their twins, and prints the table or puts it into its page.
pub fn main(words: &[&str]) -> Result<(), String> {
    let write = match words {
        [] => false,
        ["--write"] => true,
        _ => return Err("verify takes nothing, or --write".to_owned()),
    };
    let program = build()?;
    let mut places = Vec::new();
    let mut add = |name, command: Command, arguments: &[&str]| {
        eprintln!("{name} …");
        places.push(Place { name, found: ask(command, arguments)? });
        Ok::<(), String>(())
    };
    if system::is_root() {
        add("native, root", Command::new(&program), &[])?;
        // Made by `cargo xtask test`.
        match User::find(ORDINARY_USER) {
            Some(user) => {
                let reach = Reach::find(&user, &[root(), target()])?;
                add("native, user", reach.command(&user, &program, &user.home), &[])?;
            }
            None => eprintln!("there is no user {ORDINARY_USER}: `cargo xtask test` makes it"),
        }
    } else {
        add("native, user", Command::new(&program), &[])?;
    }
    let image = env::var("FUMEHOOD_TEST_IMAGE").unwrap_or_default();
    for (name, variable, host) in [
        ("docker", "FUMEHOOD_TEST_DOCKER", "DOCKER_HOST"),
        ("podman", "FUMEHOOD_TEST_PODMAN", "CONTAINER_HOST"),
    ] {
        let Ok(socket) = env::var(variable) else {
            eprintln!("{variable} is not set: `cargo xtask engines up` prints it");
            continue;
        };
        let mut command = Command::new(&program);
        command.env(host, socket);
        add(name, command, &["--backend", name, "--image", &image])?;
    }
    let table = table(&places);
    if write {
        marks::put(&root().join(PAGE), "verify", &table)?;
        println!("written to {PAGE}");
    } else {
        println!("{table}");
    }
    match places.iter().filter(|place| place.found["proven"] != true).count() {
        0 => Ok(()),
        _ => Err("not every place is proven".to_owned()),
    }
}

/// Builds the program, and asks cargo where it is.
fn build() -> Result<PathBuf, String> {
    let arguments =
        ["build", "--package", "fumehood-cli", "--message-format=json-render-diagnostics"];
    let messages = shell::output(&mut cargo(&arguments))?;
    let read = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    };
    let is_wanted = |path: &PathBuf| path.file_name() == Some("fumehood".as_ref());
    let found = messages.lines().filter_map(read).find(is_wanted);
    found.ok_or_else(|| "cargo did not say where it put fumehood".to_owned())
}

/// What the program says. It also says it where something got through.
fn ask(mut command: Command, arguments: &[&str]) -> Result<Value, String> {
    command.args(["verify", "--prove", "--json"]).args(arguments);
    let done = command.output().map_err(|error| format!("{}: {error}", shell::shown(&command)))?;
    serde_json::from_slice(&done.stdout).map_err(|error| {
        let complaint = String::from_utf8_lossy(&done.stderr).into_owned();
        format!("`{}` printed no result ({error}): {complaint}", shell::shown(&command))
    })
}

/// A row for each attack, a column for each place, and notes where nothing could be said.
fn table(places: &[Place]) -> String {
    let Some(first) = places.first() else { return String::new() };
    let mut notes: Vec<String> = Vec::new();
    let mut note = |reason: &str| {
        let known = notes.iter().position(|note| note == reason);
        known.unwrap_or_else(|| {
            notes.push(reason.to_owned());
            notes.len() - 1
        }) + 1
    };
    let names: Vec<&str> = places.iter().map(|place| place.name).collect();
    let mut text = format!("| # | attack | must get | stopped by | {} |\n", names.join(" | "));
    text.push_str(&format!("|---|---|---|---|{}\n", "---|".repeat(names.len())));
    for finding in list(&first.found) {
        let word = |key: &str| finding[key].as_str().unwrap_or_default().replace('|', "\\|");
        let id = word("id");
        text.push_str(&format!(
            "| <a id=\"{}\"></a>{id} | {} | {} | {} |",
            id.to_lowercase(),
            word("attack").replace('*', "\\*").replace('~', "\\~"),
            word("expected"),
            word("wall")
        ));
        for place in places {
            let own = list(&place.found).iter().find(|other| other["id"] == finding["id"]);
            text.push_str(&format!(
                " {} |",
                own.map_or_else(String::new, |one| cell(one, &mut note))
            ));
        }
        text.push('\n');
    }
    text.push_str(&format!("| | **stopped** | | |{}\n", counts(places, "stopped")));
    text.push_str(&format!("| | **got through** | | |{}\n", counts(places, "got_through")));
    text.push_str(&format!("| | **not run** | | |{}\n", counts(places, "not_run")));
    text.push_str(&format!("| | **twin shown** | | |{}\n\n", counts(places, "twins_shown")));
    for (number, note) in notes.iter().enumerate() {
        text.push_str(&format!("{}. {note}\n", number + 1));
    }
    text
}

fn list(found: &Value) -> &[Value] {
    found["findings"].as_array().map_or(&[], Vec::as_slice)
}

fn cell(finding: &Value, note: &mut impl FnMut(&str) -> usize) -> String {
    let reason = |value: &Value| value["reason"].as_str().unwrap_or_default().to_owned();
    let verdict = match finding["verdict"].as_str() {
        Some("stopped") => "stopped".to_owned(),
        Some("got_through") => "**got through**".to_owned(),
        _ => format!("not run ({})", note(&reason(finding))),
    };
    let twin = &finding["twin"];
    let twin = match twin["verdict"].as_str() {
        Some("shown") => "shown".to_owned(),
        Some("not_shown") => "not shown".to_owned(),
        Some(_) => format!("no twin ({})", note(&reason(twin))),
        None => return verdict,
    };
    format!("{verdict}, {twin}")
}

fn counts(places: &[Place], kind: &str) -> String {
    places.iter().map(|place| format!(" {} |", place.found["counts"][kind])).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_not_run_has_a_note() {
        let finding = |verdict: Value, twin: Value| {
            let mut all =
                json!({"id": "K1", "attack": "a", "expected": "b", "wall": "c", "twin": twin});
            all.as_object_mut().unwrap().extend(verdict.as_object().unwrap().clone());
            json!({"findings": [all], "counts": {}})
        };
        let stopped = finding(json!({"verdict": "stopped"}), json!({"verdict": "shown"}));
        let not_run = finding(
            json!({"verdict": "not_run", "reason": "no engine"}),
            json!({"verdict": "not_shown"}),
        );
        let places =
            [Place { name: "here", found: stopped }, Place { name: "there", found: not_run }];
        let table = table(&places);
        let row = "| <a id=\"k1\"></a>K1 | a | b | c | stopped, shown | not run (1), not shown |";
        assert!(table.contains(row), "{table}");
        assert!(table.ends_with("1. no engine\n"), "{table}");
    }
}
