//! What can be written as a value: for messages, the reference and the JSON Schema.

use std::fmt;

use serde_json::{Value, json};

/// The kind of a key's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One of these words.
    Word(&'static [&'static str]),
    /// True or false.
    Flag,
    /// A number of bytes.
    Size,
    /// A length of time.
    Time,
    /// Processor cores.
    Cores,
    /// A number of things, at least one.
    Count,
    /// A text.
    Text {
        /// What it is: `an image name`.
        what: &'static str,
        /// What it looks like, as a regular expression; empty where anything goes.
        pattern: &'static str,
    },
    /// A list.
    List(&'static Kind),
    /// Names that people choose, with values.
    Map {
        /// What the names are.
        name: &'static Kind,
        /// What the values are.
        value: &'static Kind,
    },
}

impl Kind {
    /// The JSON Schema of such a value.
    pub fn schema(&self) -> Value {
        match self {
            Kind::Word(words) => json!({ "enum": words }),
            Kind::Flag => json!({ "type": "boolean" }),
            Kind::Size => json!({ "anyOf": [
                { "type": "integer", "minimum": 1 },
                { "type": "string",
                  "pattern": "^\\s*[0-9]+(\\.[0-9]+)?\\s*([bB]|[kKmMgGtT]([iI]?[bB])?)?\\s*$" },
            ] }),
            Kind::Time => json!({ "anyOf": [
                { "type": "number", "exclusiveMinimum": 0 },
                { "type": "string",
                  "pattern": "^\\s*[0-9]+(\\.[0-9]+)?\\s*(ms|s|m|min|h)?\\s*$" },
            ] }),
            Kind::Cores => json!({ "anyOf": [
                { "type": "number", "minimum": 0.01, "maximum": 4096 },
                { "type": "string", "pattern": "^\\s*[0-9]+(\\.[0-9]+)?\\s*$" },
            ] }),
            Kind::Count => json!({ "anyOf": [
                { "type": "integer", "minimum": 1, "maximum": u32::MAX },
                { "type": "string", "pattern": "^[0-9]+$" },
            ] }),
            Kind::Text { pattern: "", .. } => json!({ "type": ["string", "number", "boolean"] }),
            Kind::Text { pattern, .. } => json!({ "type": "string", "pattern": pattern }),
            Kind::List(item) => json!({ "type": "array", "items": item.schema() }),
            Kind::Map { name, value } => json!({
                "type": "object",
                "propertyNames": name.schema(),
                "additionalProperties": value.schema(),
            }),
        }
    }

    /// What has to be there before its content matters.
    pub(super) fn shape(&self) -> &'static str {
        match self {
            Kind::List(_) => "a list",
            Kind::Map { .. } => "a section with keys",
            Kind::Flag => "true or false",
            _ => "a single value",
        }
    }
}

/// As in the reference.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Word(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                f.write_str(&words.join(", "))
            }
            Kind::Flag => f.write_str("`true`, `false`"),
            Kind::Size => f.write_str("a size"),
            Kind::Time => f.write_str("a time"),
            Kind::Cores => f.write_str("a number of cores"),
            Kind::Count => f.write_str("a count"),
            Kind::Text { what, .. } => f.write_str(what),
            Kind::List(item) => write!(f, "a list, each {item}"),
            Kind::Map { name, value } => write!(f, "keys, each {name}, with {value}"),
        }
    }
}
