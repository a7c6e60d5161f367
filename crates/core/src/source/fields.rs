//! The keys of a section, taken one by one: what is left over at the end was misspelt.

use std::sync::Arc;

use super::{Entry, Key, Node, Origin, Place, Problem, Value};
use crate::nearest;

/// The keys of one section of a text.
pub struct Fields<'a> {
    name: &'a Arc<str>,
    text: &'a str,
    /// What the section is called in messages: `fs`, or empty for the whole file.
    section: String,
    place: Place,
    left: Vec<&'a Entry>,
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// The keys of a node that must be a section. A node with nothing in it has no keys.
    pub fn of(
        name: &'a Arc<str>,
        text: &'a str,
        section: &str,
        node: &'a Node,
    ) -> Result<Fields<'a>, Problem> {
        let left = match &node.value {
            Value::Map(entries) => entries.iter().collect(),
            _ if node.is_nothing() => Vec::new(),
            _ => {
                let message = match section {
                    "" => "the file must be a section with keys".to_owned(),
                    section => format!("`{section}` must be a section with keys"),
                };
                let label = format!("this is {}", node.kind());
                let problem = Problem::new(name, text, node.place, message, label);
                return Err(problem.hint("write its keys below it, indented: `key: value`"));
            }
        };
        let place = node.place;
        Ok(Fields { name, text, section: section.to_owned(), place, left, known: Vec::new() })
    }

    /// The name of the text.
    pub fn name(&self) -> &'a Arc<str> {
        self.name
    }

    /// Where the section begins.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The whole name of a key in this section: `fs.deny`.
    pub fn path(&self, key: &str) -> String {
        if self.section.is_empty() { key.to_owned() } else { format!("{}.{key}", self.section) }
    }

    /// A place of this text.
    pub fn origin(&self, place: Place) -> Origin {
        Origin::at(self.name, place)
    }

    /// A problem at a place of this text.
    pub fn problem(
        &self,
        place: Place,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Problem {
        Problem::new(self.name, self.text, place, message, label)
    }

    /// The same problem with a second place of this text.
    pub fn and_at(&self, problem: Problem, place: Place, label: &str) -> Problem {
        problem.and_at(self.name, self.text, place, label)
    }

    /// The keys of an item of a list of this section.
    pub fn within(&self, key: &str, node: &'a Node) -> Result<Fields<'a>, Problem> {
        Fields::of(self.name, self.text, &self.path(key), node)
    }

    /// Takes the value of a key. A key with nothing behind it counts as absent.
    pub fn take(&mut self, key: &'static str) -> Option<&'a Node> {
        self.take_entry(key).map(|entry| &entry.value).filter(|node| !node.is_nothing())
    }

    /// Takes a key and its value.
    pub fn take_entry(&mut self, key: &'static str) -> Option<&'a Entry> {
        self.known.push(key);
        let index = self.left.iter().position(|entry| entry.key.text == key)?;
        Some(self.left.remove(index))
    }

    /// Takes the keys of a section of this section.
    pub fn section(&mut self, key: &'static str) -> Result<Option<Fields<'a>>, Problem> {
        let section = self.path(key);
        self.take(key).map(|node| Fields::of(self.name, self.text, &section, node)).transpose()
    }

    /// Takes a text, which must be one: not a list, not a section.
    pub fn text(&mut self, key: &'static str) -> Result<Option<(&'a str, Place)>, Problem> {
        match self.take(key) {
            None => Ok(None),
            Some(node) => self.scalar(key, node).map(|text| Some((text, node.place))),
        }
    }

    /// Takes a value that has a parser of its own, such as a number of bytes.
    pub fn parsed<T, E: std::fmt::Display>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<(T, Place)>, Problem> {
        let Some((text, place)) = self.text(key)? else { return Ok(None) };
        match parse(text) {
            Ok(value) => Ok(Some((value, place))),
            Err(error) => Err(self.problem(place, format!("`{}`: {error}", self.path(key)), "")),
        }
    }

    /// Takes `true` or `false`.
    pub fn flag(&mut self, key: &'static str) -> Result<Option<(bool, Place)>, Problem> {
        let Some(node) = self.take(key) else { return Ok(None) };
        match &node.value {
            Value::Scalar { text, quoted: false } if text == "true" => Ok(Some((true, node.place))),
            Value::Scalar { text, quoted: false } if text == "false" => {
                Ok(Some((false, node.place)))
            }
            _ => Err(self.mistyped(key, node, "true or false")),
        }
    }

    /// Takes a list of texts.
    pub fn texts(&mut self, key: &'static str) -> Result<Vec<(&'a str, Place)>, Problem> {
        self.list(key)?
            .iter()
            .map(|node| self.scalar(key, node).map(|text| (text, node.place)))
            .collect()
    }

    /// Takes a list of anything; empty if it is absent.
    pub fn list(&mut self, key: &'static str) -> Result<&'a [Node], Problem> {
        match self.take(key) {
            None => Ok(&[]),
            Some(node) => match &node.value {
                Value::List(nodes) => Ok(nodes),
                _ => Err(self.mistyped(key, node, "a list")),
            },
        }
    }

    /// Takes all keys that are left, of a section whose keys are names that people choose.
    pub fn rest(&mut self) -> Vec<(&'a Key, &'a Node)> {
        self.left.drain(..).map(|entry| (&entry.key, &entry.value)).collect()
    }

    /// A single value as text.
    pub fn scalar(&self, key: &str, node: &'a Node) -> Result<&'a str, Problem> {
        match &node.value {
            Value::Scalar { text, .. } if !node.is_nothing() => Ok(text),
            _ => {
                let problem = self.mistyped(key, node, "a single value");
                Err(problem.hint(format!("write one value behind the colon: `{key}: value`")))
            }
        }
    }

    /// The problem of a value of the wrong kind.
    pub fn mistyped(&self, key: &str, node: &Node, wanted: &str) -> Problem {
        let message = format!("`{}` must be {wanted}", self.path(key));
        self.problem(node.place, message, format!("this is {}", node.kind()))
    }

    /// Refuses whatever key was not taken.
    pub fn end(self) -> Result<(), Problem> {
        let Some(entry) = self.left.first() else { return Ok(()) };
        let key = &entry.key;
        let within = match self.section.as_str() {
            "" => String::new(),
            section => format!(" in `{section}`"),
        };
        let message = format!("unknown key `{}`{within}", key.text);
        let problem = self.problem(key.place, message, "no such key");
        let near = nearest(&key.text, self.known.iter().copied()).first().copied();
        // `network` is far from `net` by its letters, and near by its meaning.
        let near = near.or_else(|| {
            let begins = |known: &&&str| known.len() > 2 && key.text.starts_with(**known);
            self.known.iter().find(begins).copied()
        });
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the keys are {}", self.known.join(", ")),
        };
        Err(problem.hint(hint))
    }
}

#[cfg(test)]
mod tests {
    use super::{super::read_yaml, *};

    #[test]
    fn a_misspelt_key_is_named_with_the_nearest_one() {
        let (name, text) = ("p.yaml".into(), "fs:\n  wokspace: rw\n");
        let node = read_yaml(&name, text).unwrap();
        let mut file = Fields::of(&name, text, "", &node).unwrap();
        let mut fs = file.section("fs").unwrap().unwrap();
        assert!(fs.text("workspace").unwrap().is_none());
        let problem = fs.end().unwrap_err().to_string();
        assert!(
            problem.starts_with("unknown key `wokspace` in `fs`\n --> p.yaml:2:3"),
            "{problem}"
        );
        assert!(problem.ends_with("help: did you mean `workspace`?"), "{problem}");
        assert!(file.end().is_ok());
    }

    #[test]
    fn values_of_the_wrong_kind_are_refused() {
        let (name, text) = ("p".into(), "a: [1]\nb: 1\nc: yes\nd:\n");
        let node = read_yaml(&name, text).unwrap();
        let mut fields = Fields::of(&name, text, "", &node).unwrap();
        assert_eq!(fields.text("a").unwrap_err().message(), "`a` must be a single value");
        assert_eq!(fields.list("b").unwrap_err().message(), "`b` must be a list");
        assert_eq!(fields.flag("c").unwrap_err().message(), "`c` must be true or false");
        assert!(fields.take("d").is_none());
    }
}
