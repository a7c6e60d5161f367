//! The tree of a text, with the place of every value.

use super::Place;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it begins.
    pub place: Place,
    /// What it is.
    pub value: Value,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A single value. Its reader decides what it means, so that `64` can be a text and a number.
    Scalar {
        /// The characters.
        text: String,
        /// Whether it was quoted: then it is a text and nothing else.
        quoted: bool,
    },
    /// A list.
    List(Vec<Node>),
    /// Keys with values, in the order of the text. No key is there twice.
    Map(Vec<Entry>),
}

/// The key of an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Its characters.
    pub text: String,
    /// Where it stands.
    pub place: Place,
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Key,
    /// The value.
    pub value: Node,
}

impl Node {
    /// What kind of value it is, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Scalar { quoted: true, .. } => "a text",
            Value::Scalar { text, .. } => match text.as_str() {
                "" | "~" | "null" => "nothing",
                "true" | "false" => "true or false",
                text if text.parse::<f64>().is_ok() => "a number",
                _ => "a text",
            },
            Value::List(_) => "a list",
            Value::Map(_) => "a section with keys",
        }
    }

    /// True for a value that was left out: `key:` and nothing behind it.
    pub fn is_nothing(&self) -> bool {
        matches!(&self.value, Value::Scalar { text, quoted: false } if matches!(text.as_str(), "" | "~" | "null"))
    }
}
