//! A policy as a list of values with their keys and origins. Whoever shows, serializes or hashes a
//! policy goes through this list, so nothing can be shown and not hashed.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::{MountLeave, Policy, Sourced, choice::Choice as _};
use crate::source::Origin;

/// One value of a policy.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// The section, empty for `require`.
    pub section: &'static str,
    /// The key in it.
    pub key: &'static str,
    /// How the value stands under its key.
    pub shape: Shape<'a>,
    /// The value.
    pub value: Value,
    /// Where it was said.
    pub origin: &'a Origin,
}

/// How a value stands under its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape<'a> {
    /// The key has this value.
    Single,
    /// The key has a list, and this is one of its items.
    Item,
    /// The key has a section, and this is the value of the name.
    Named(&'a str),
}

impl Policy {
    /// Every value, in the order of a file.
    pub fn entries(&self) -> Vec<Entry<'_>> {
        let mut list = List(Vec::with_capacity(96));
        let fs = &self.fs;
        list.one("fs", "workspace", &fs.workspace, |mode| mode.name().into());
        list.items("fs", "mounts", &fs.mounts, |mount| {
            let mode = MountLeave::for_access(mount.access);
            json!({"source": mount.source, "target": mount.target, "mode": mode})
        });
        list.maybe("fs", "deps", fs.deps.as_ref(), plain);
        list.maybe("fs", "candidate", fs.candidate.as_ref(), plain);
        for (name, path) in &fs.datasets {
            list.push("fs", "datasets", Shape::Named(name), plain(&path.value), &path.origin);
        }
        for (key, amount) in self.limits.iter().filter(|(key, _)| key.section() == "fs") {
            list.one("fs", key.word(), amount, plain);
        }
        list.items("fs", "deny", &fs.deny, plain);
        list.items("fs", "protect", &fs.protect, plain);
        list.one("fs", "git", &fs.git, plain);
        list.one("net", "mode", &self.net.mode, plain);
        list.items("net", "allow", &self.net.allow, plain);
        list.items("net", "deny", &self.net.deny, plain);
        list.one("net", "dns", &self.net.dns, plain);
        list.one("net", "synthetic", &self.net.synthetic, plain);
        let limits = &self.net.limits;
        list.named("net", "limits", "connections", limits.connections.as_ref());
        list.named("net", "limits", "bytes", limits.bytes.as_ref());
        list.named("net", "limits", "rate", limits.rate.as_ref());
        for (key, amount) in self.limits.iter().filter(|(key, _)| key.section() == "proc") {
            list.one("proc", key.word(), amount, plain);
        }
        list.items("env", "pass", &self.env.pass, plain);
        for (name, value) in &self.env.set {
            list.push("env", "set", Shape::Named(name), plain(&value.value), &value.origin);
        }
        list.items("env", "deny", &self.env.deny, plain);
        list.items("", "require", &self.require, plain);
        list.items("tools", "allow", &self.tools.allow, plain);
        list.items("tools", "deny", &self.tools.deny, plain);
        list.items("tools", "rewrite", &self.tools.rewrite, plain);
        list.one("ledger", "required", &self.ledger.required, plain);
        list.one("ledger", "record_code", &self.ledger.record_code, plain);
        list.one("ledger", "record_env", &self.ledger.record_env, plain);
        let ceiling = &self.ceiling;
        for (key, most) in ceiling.limits.iter().filter(|(key, _)| key.ceiling() == *key) {
            list.one("ceiling", key.word(), most, plain);
        }
        list.one("ceiling", "workspace", &ceiling.workspace, |mode| mode.name().into());
        list.one("ceiling", "mounts", &ceiling.mounts, plain);
        list.one("ceiling", "net", &ceiling.net, plain);
        list.one("ceiling", "env", &ceiling.env, plain);
        list.one("ceiling", "inject", &ceiling.inject, plain);
        list.one("ceiling", "git", &ceiling.git, plain);
        list.one("ceiling", "tools", &ceiling.tools, plain);
        list.0
    }

    /// The values alone, lists in a fixed order: what is allowed, and nothing else.
    pub(super) fn values(&self) -> Value {
        in_order(tree(self.entries(), |entry| entry.value))
    }
}

struct List<'a>(Vec<Entry<'a>>);

impl<'a> List<'a> {
    fn push(
        &mut self,
        section: &'static str,
        key: &'static str,
        shape: Shape<'a>,
        value: Value,
        origin: &'a Origin,
    ) {
        self.0.push(Entry { section, key, shape, value, origin });
    }

    fn one<T>(
        &mut self,
        section: &'static str,
        key: &'static str,
        value: &'a Sourced<T>,
        show: impl Fn(&T) -> Value,
    ) {
        self.push(section, key, Shape::Single, show(&value.value), &value.origin);
    }

    fn maybe<T>(
        &mut self,
        section: &'static str,
        key: &'static str,
        value: Option<&'a Sourced<T>>,
        show: impl Fn(&T) -> Value,
    ) {
        if let Some(value) = value {
            self.one(section, key, value, show);
        }
    }

    fn named<T: Serialize>(
        &mut self,
        section: &'static str,
        key: &'static str,
        name: &'static str,
        value: Option<&'a Sourced<T>>,
    ) {
        if let Some(value) = value {
            self.push(section, key, Shape::Named(name), plain(&value.value), &value.origin);
        }
    }

    fn items<T>(
        &mut self,
        section: &'static str,
        key: &'static str,
        values: &'a [Sourced<T>],
        show: impl Fn(&T) -> Value,
    ) {
        for value in values {
            self.push(section, key, Shape::Item, show(&value.value), &value.origin);
        }
    }
}

/// As it serializes. Words, numbers and lists always do, and paths of policies are text.
fn plain<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}

/// The entries as sections with keys.
fn tree<'a>(entries: Vec<Entry<'a>>, show: impl Fn(Entry<'a>) -> Value) -> Value {
    let mut root = Map::new();
    for entry in entries {
        let (section, key, shape) = (entry.section, entry.key, entry.shape);
        let value = show(entry);
        match section {
            "" => place(&mut root, key, shape, value),
            section => within(&mut root, section, |own| place(own, key, shape, value)),
        }
    }
    Value::Object(root)
}

fn place(own: &mut Map<String, Value>, key: &str, shape: Shape<'_>, value: Value) {
    match shape {
        Shape::Single => {
            own.insert(key.to_owned(), value);
        }
        Shape::Item => match own.get_mut(key) {
            Some(Value::Array(items)) => items.push(value),
            _ => {
                own.insert(key.to_owned(), Value::Array(vec![value]));
            }
        },
        Shape::Named(name) => within(own, key, |named| {
            named.insert(name.to_owned(), value);
        }),
    }
}

/// Does something to a section of a section, which is made if it is not there.
fn within(map: &mut Map<String, Value>, key: &str, act: impl FnOnce(&mut Map<String, Value>)) {
    match map.get_mut(key) {
        Some(Value::Object(own)) => act(own),
        _ => {
            let mut own = Map::new();
            act(&mut own);
            map.insert(key.to_owned(), Value::Object(own));
        }
    }
}

/// The same with keys and lists in a fixed order, whatever order maps of this build keep.
fn in_order(value: Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.into_iter().map(in_order).collect();
            items.sort_by_cached_key(Value::to_string);
            Value::Array(items)
        }
        Value::Object(map) => {
            let sorted: BTreeMap<String, Value> = map.into_iter().collect();
            sorted.into_iter().map(|(key, value)| (key, in_order(value))).collect()
        }
        value => value,
    }
}

/// Sections with keys; each value is `{"value": …, "origin": "file:line"}`.
impl Serialize for Policy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let with_origin =
            |entry: Entry<'_>| json!({"value": entry.value, "origin": entry.origin.to_string()});
        tree(self.entries(), with_origin).serialize(serializer)
    }
}
