//! The packages of a workspace, their programs, and what Cargo must see to fetch dependencies.

use toml::{Table, Value};

use super::super::{
    files::{base_name, line_with, plain_name},
    part::Part,
    version::{Mention, Pin},
};

/// Names that programs to be served usually have.
const LIKELY: &[&str] = &["server", "api", "app", "web", "cli", "main"];

/// One package.
struct Crate {
    /// Below the part; empty for its root.
    dir: String,
    manifest: Table,
    name: String,
    /// Sources that Cargo looks for, below the package.
    sources: Vec<String>,
    programs: Vec<String>,
}

/// All packages of a part.
pub(super) struct Crates {
    crates: Vec<Crate>,
    is_workspace: bool,
    /// Every member that is named one by one was seen.
    complete: bool,
    rust_version: Option<Mention>,
    lock_version: Option<i64>,
}

/// The program to build.
pub(super) struct Program {
    pub name: String,
    /// Its package, where there are several.
    pub package: Option<String>,
    pub because: String,
}

impl Crates {
    pub fn read(part: &Part) -> Crates {
        let root = part.text("Cargo.toml").unwrap_or("");
        let manifest: Table = root.parse().unwrap_or_default();
        let is_workspace = manifest.contains_key("workspace");
        let mut crates = Vec::from_iter(Crate::read(part, "", root));
        if is_workspace {
            let nested = part.all().filter_map(|(path, text)| {
                let dir = path.strip_suffix("/Cargo.toml")?;
                Crate::read(part, dir, text)
            });
            crates.extend(nested);
        }
        let seen = |member: &str| {
            member.contains('*')
                || part.has(&format!("{}/Cargo.toml", member.trim_end_matches('/')))
        };
        let members = manifest.get("workspace").and_then(|table| table.get("members")?.as_array());
        let mut members = members.into_iter().flatten().filter_map(Value::as_str);
        let lock = part.text("Cargo.lock").unwrap_or("");
        let lock_version = lock.lines().find_map(|line| line.strip_prefix("version = "));
        Crates {
            crates,
            is_workspace,
            complete: members.all(seen),
            rust_version: rust_version(part, root, &manifest),
            lock_version: lock_version.and_then(|number| number.parse().ok()),
        }
    }

    pub fn rust_version(&self) -> Option<Mention> {
        self.rust_version.clone()
    }

    /// `rust-version` is the least that is claimed; files in newer forms need more.
    pub fn lifted(&self, pin: Pin) -> Pin {
        let edition = |crates: &Crate| {
            crates.manifest.get("package")?.get("edition")?.as_str().map(str::to_owned)
        };
        let newest = self.crates.iter().filter_map(edition).any(|edition| edition == "2024");
        let pin = match self.lock_version {
            Some(4..) => pin.at_least(&[1, 78], "the form of Cargo.lock needs 1.78"),
            _ => pin,
        };
        if newest { pin.at_least(&[1, 85], "edition 2024 needs 1.85") } else { pin }
    }

    /// Manifests of the members.
    pub fn members(&self) -> impl Iterator<Item = String> {
        let nested = self.crates.iter().filter(|each| !each.dir.is_empty());
        nested.map(|each| format!("{}/Cargo.toml", each.dir))
    }

    /// Files that Cargo wants to see; `None` if not all of them are known.
    pub fn stubs(&self) -> Option<Vec<String>> {
        let known = |each: &Crate| !each.sources.is_empty();
        if self.crates.is_empty() || !self.complete || !self.crates.iter().all(known) {
            return None;
        }
        let of = |each: &Crate| -> Vec<String> {
            let dir = if each.dir.is_empty() { String::new() } else { format!("{}/", each.dir) };
            each.sources.iter().map(|source| format!("{dir}{source}")).collect()
        };
        Some(self.crates.iter().flat_map(of).collect())
    }

    /// The program that is most likely the one to run.
    pub fn program(&self) -> Option<Program> {
        let all: Vec<(&Crate, &String)> = self
            .crates
            .iter()
            .flat_map(|each| each.programs.iter().map(move |program| (each, program)))
            .collect();
        let default_run = |(each, program): &&(&Crate, &String)| {
            let named = each.manifest.get("package").and_then(|table| table.get("default-run"));
            named.and_then(Value::as_str) == Some(program)
        };
        let likely =
            || LIKELY.iter().find_map(|name| all.iter().find(|(_, program)| program == name));
        let (owner, name) = all
            .iter()
            .find(default_run)
            .or_else(|| {
                all.iter().find(|(each, program)| each.dir.is_empty() && each.name == **program)
            })
            .or_else(likely)
            .or_else(|| all.first())?;
        let found = format!("the program {name} of the package {}", owner.name);
        Some(Program {
            name: (*name).clone(),
            package: self.is_workspace.then(|| owner.name.clone()),
            because: match all.len() {
                1 => found,
                _ => format!("{found}; there are others, choose yours in `cargo build`"),
            },
        })
    }
}

impl Crate {
    /// `None` if the manifest is not that of a package.
    fn read(part: &Part, dir: &str, text: &str) -> Option<Crate> {
        let manifest: Table = text.parse().ok()?;
        let name = plain_name(manifest.get("package")?.get("name")?.as_str()?)?.to_owned();
        let prefix = if dir.is_empty() { String::new() } else { format!("{dir}/") };
        let paths: Vec<&str> =
            part.all().filter_map(|(path, _)| path.strip_prefix(&prefix)).collect();

        let mut sources: Vec<String> = Vec::new();
        let mut programs: Vec<String> = Vec::new();
        for path in paths {
            let program = match path {
                "src/main.rs" => Some(name.clone()),
                "src/lib.rs" => None,
                path => match path.strip_prefix("src/bin/") {
                    Some(rest) => {
                        let stem = rest.trim_end_matches(".rs").trim_end_matches("/main");
                        if !rest.ends_with(".rs") || stem.contains('/') {
                            continue;
                        }
                        plain_name(base_name(stem)).map(str::to_owned)
                    }
                    None => continue,
                },
            };
            sources.push(path.to_owned());
            programs.extend(program);
        }
        let declared = |section: &str| -> Vec<(String, bool)> {
            let targets = manifest.get(section).and_then(Value::as_array);
            let target = |target: &Value| {
                let name = plain_name(target.get("name")?.as_str()?)?.to_owned();
                Some((name, target.get("path").is_some()))
            };
            targets.into_iter().flatten().filter_map(target).collect()
        };
        for (section, directory) in
            [("bench", "benches"), ("example", "examples"), ("test", "tests")]
        {
            let implied = declared(section).into_iter().filter(|(_, has_path)| !has_path);
            sources.extend(implied.map(|(name, _)| format!("{directory}/{name}.rs")));
        }
        let named: Vec<String> = declared("bin").into_iter().map(|(name, _)| name).collect();
        if !named.is_empty() {
            // Named programs replace the one that is implied by src/main.rs.
            programs.retain(|program| *program != name || named.contains(program));
            programs.extend(named);
            programs.sort();
            programs.dedup();
        }
        Some(Crate { dir: dir.to_owned(), manifest, name, sources, programs })
    }
}

fn rust_version(part: &Part, text: &str, manifest: &Table) -> Option<Mention> {
    let package = || manifest.get("package")?.get("rust-version")?.as_str();
    let workspace = || manifest.get("workspace")?.get("package")?.get("rust-version")?.as_str();
    let says = package().or_else(workspace)?.to_owned();
    let line = line_with(text, "rust-version").unwrap_or(1);
    Some(Mention { path: part.shown("Cargo.toml"), line, says })
}
