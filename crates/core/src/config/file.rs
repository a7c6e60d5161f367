//! A configuration file: read over what is already set. What a project must not say is refused
//! here, since its file may come from a stranger.

use std::{path::Path, sync::Arc};

use serde_json::Value;

use super::{
    InProject, Key, Kind, SECTIONS, Settings,
    slot::Slot,
    written::{Cause, Misfit},
};
use crate::source::{Entry, Fields, Node, Place, Problem, Value as Tree, read_toml, read_yaml};

/// The language that a file is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML.
    Toml,
    /// YAML, and with it JSON.
    Yaml,
}

impl Format {
    /// By the end of a file's name.
    pub fn of(path: &Path) -> Format {
        match path.extension() {
            Some(end) if end == "toml" => Format::Toml,
            _ => Format::Yaml,
        }
    }
}

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The person who runs fumehood.
    User,
    /// Whoever made the directory in which it is run.
    Project,
}

/// A file that has been read.
#[derive(Clone, Copy, Debug)]
pub struct ConfigFile<'a> {
    /// Its name, for messages.
    pub name: &'a Arc<str>,
    /// Its content.
    pub text: &'a str,
    /// What it is written in.
    pub format: Format,
    /// Whose it is.
    pub owner: Owner,
}

impl ConfigFile<'_> {
    /// The names that such a file can have.
    pub const NAMES: &'static [&'static str] = &["fumehood.toml", "fumehood.yaml", "fumehood.json"];
}

impl Settings {
    /// Sets everything that a file says.
    pub fn read_file(&mut self, file: &ConfigFile<'_>) -> Result<(), Problem> {
        let ConfigFile { name, text, format, owner } = *file;
        let node = match format {
            Format::Toml => read_toml(name, text)?,
            Format::Yaml => read_yaml(name, text)?,
        };
        let mut top = Fields::of(name, text, "", &node)?;
        for section in SECTIONS {
            if section.name.is_empty() {
                self.read_keys(section.keys, &mut top, owner)?;
            } else if let Some(mut fields) = top.section(section.name)? {
                self.read_keys(section.keys, &mut fields, owner)?;
                fields.end()?;
            }
        }
        top.end()
    }

    fn read_keys(
        &mut self,
        keys: &'static [Key],
        fields: &mut Fields<'_>,
        owner: Owner,
    ) -> Result<(), Problem> {
        for key in keys {
            let entry = fields.take_entry(key.short_name());
            let Some(entry) = entry.filter(|entry| !entry.value.is_nothing()) else { continue };
            let slot = (key.get_mut)(self);
            let origin = fields.origin(entry.key.place);
            slot.read(&entry.value, origin).map_err(|misfit| problem(key, fields, misfit))?;
            if owner == Owner::Project {
                refuse_in_project(key, slot, entry, fields)?;
            }
        }
        Ok(())
    }
}

fn problem(key: &Key, fields: &Fields<'_>, misfit: Misfit) -> Problem {
    let name = key.name;
    match misfit.cause {
        Cause::Shape { wanted, found } => {
            let message = format!("`{name}` must be {wanted}");
            let problem = fields.problem(misfit.place, message, format!("this is {found}"));
            match key.kind() {
                // Each format writes these in its own way.
                Kind::Map { .. } => problem,
                _ => problem.hint(format!("write for example {}", key.example())),
            }
        }
        Cause::Value(error) => {
            let problem = fields.problem(misfit.place, format!("`{name}`: {error}"), "");
            match error.hint() {
                Some(hint) => problem.hint(hint),
                None => problem,
            }
        }
    }
}

/// Refuses what would weaken the box, or reach out of it, on behalf of a stranger.
fn refuse_in_project(
    key: &Key,
    slot: &dyn Slot,
    entry: &Entry,
    fields: &Fields<'_>,
) -> Result<(), Problem> {
    let (place, message) = match key.project {
        InProject::Any => return Ok(()),
        InProject::Never => {
            (entry.key.place, format!("`{}` cannot be set by the file of a project", key.name))
        }
        InProject::Not(word) => match place_of(word, &slot.show(), &entry.value) {
            None => return Ok(()),
            Some(place) => {
                let name = key.name;
                (place, format!("`{word}` for `{name}` cannot be chosen by the file of a project"))
            }
        },
    };
    Err(fields.problem(place, message, "a project may come from a stranger").hint(format!(
        "put it into your own file (`fumehood config path` says where), into {}, or on the command line",
        key.variable
    )))
}

/// Where a value, or an item of a list, is this word.
fn place_of(word: &str, value: &Value, node: &Node) -> Option<Place> {
    match (value, &node.value) {
        (Value::Array(values), Tree::List(nodes)) => {
            values.iter().zip(nodes).find_map(|(value, node)| place_of(word, value, node))
        }
        (Value::String(text), _) => (text == word).then_some(node.place),
        (Value::Bool(flag), _) => (word.parse() == Ok(*flag)).then_some(node.place),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BackendName, Bytes, config::keys};

    fn read(settings: &mut Settings, name: &str, text: &str, owner: Owner) -> Result<(), Problem> {
        let format = Format::of(Path::new(name));
        settings.read_file(&ConfigFile { name: &name.into(), text, format, owner })
    }

    #[test]
    fn a_later_file_wins_key_by_key_and_lists_as_a_whole() {
        let mut settings = Settings::default();
        let user =
            "[executor]\norder = [\"docker\", \"podman\"]\n[limits]\nmemory = \"1g\"\ncpus = 2\n";
        read(&mut settings, "user.toml", user, Owner::User).unwrap();
        let project = "executor:\n  order: [native]\nlimits:\n  memory: 256m\n  pids:\n";
        read(&mut settings, "project.yaml", project, Owner::Project).unwrap();
        assert_eq!(settings.executor.order.value, [BackendName::Native]);
        assert_eq!(settings.limits.memory.value, Some(Bytes::mib(256)));
        assert_eq!(settings.limits.memory.origin.to_string(), "project.yaml:4");
        assert_eq!(settings.limits.cpus.origin.to_string(), "user.toml:5");
        assert!(settings.limits.pids.is_default(), "a key with nothing behind it says nothing");
        assert!(settings.executor.kind.is_default());
    }

    #[test]
    fn the_three_formats_say_the_same() {
        let texts = [
            ("a.toml", "[docker]\nenv = { A = \"1\" }\nreadonly = false\n[images]\npy = \"x\"\n"),
            ("a.yaml", "docker: {env: {A: 1}, readonly: false}\nimages:\n  python: x\n"),
            (
                "a.json",
                r#"{"docker": {"env": {"A": 1}, "readonly": false}, "images": {"py": "x"}}"#,
            ),
        ];
        let values = texts.map(|(name, text)| {
            let mut settings = Settings::default();
            read(&mut settings, name, text, Owner::User).unwrap();
            settings.shown().map(|shown| shown.value).collect::<Vec<_>>()
        });
        assert_eq!(values[0], values[1]);
        assert_eq!(values[0], values[2]);
    }

    /// What would be written for a key in one line of YAML.
    fn line(key: &Key, value: &str) -> String {
        let value = match key.kind() {
            Kind::List(_) => format!("[{value}]"),
            Kind::Map { .. } => {
                let pairs = value.replace('=', ": ");
                format!("{{{pairs}}}")
            }
            _ => value.to_owned(),
        };
        match key.name.split_once('.') {
            Some((section, short)) => format!("{section}: {{{short}: {value}}}\n"),
            None => format!("{}: {value}\n", key.name),
        }
    }

    #[test]
    fn a_project_can_say_what_is_harmless_and_nothing_else() {
        for key in keys() {
            let try_as = |value: &str, owner| {
                read(&mut Settings::default(), "p.yaml", &line(key, value), owner)
            };
            assert_eq!(try_as(key.example, Owner::User), Ok(()), "{}", key.name);
            match key.project {
                InProject::Any => assert_eq!(try_as(key.example, Owner::Project), Ok(())),
                InProject::Never => {
                    let problem = try_as(key.example, Owner::Project).unwrap_err();
                    assert!(problem.to_string().contains(key.variable), "{problem}");
                }
                InProject::Not(word) => {
                    assert_eq!(try_as(key.example, Owner::Project), Ok(()), "{}", key.name);
                    assert_eq!(try_as(word, Owner::User), Ok(()), "{}", key.name);
                    let problem = try_as(word, Owner::Project).unwrap_err();
                    assert!(problem.message().contains("cannot be chosen"), "{problem}");
                }
            }
        }
        let order = "executor: {order: [native, local]}";
        let problem = read(&mut Settings::default(), "p.yaml", order, Owner::Project).unwrap_err();
        let place = problem.origin().unwrap().place.unwrap();
        assert_eq!(place, Place::new(1, 28, 5), "the caret is under the word: {problem}");
    }
}
