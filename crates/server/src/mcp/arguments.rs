//! The arguments of the tools. What is not understood is refused with the name of the field.

use std::{collections::BTreeMap, path::PathBuf};

use base64::Engine as _;
use fumehood::policy::PolicyText;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::failure::CallError;

/// The longest program there may be.
pub(super) const MOST_CODE: usize = 32 << 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CodeRun {
    pub(super) language: String,
    pub(super) code: String,
    #[serde(default)]
    pub(super) args: Vec<String>,
    #[serde(default)]
    pub(super) files: BTreeMap<PathBuf, Content>,
    #[serde(default)]
    pub(super) stdin: Option<String>,
    #[serde(default)]
    pub(super) limits: Map<String, Value>,
    #[serde(default, rename = "sandboxPolicy")]
    pub(super) policy: Option<Map<String, Value>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShellRun {
    pub(super) command: String,
    #[serde(default)]
    pub(super) files: BTreeMap<PathBuf, Content>,
    #[serde(default)]
    pub(super) stdin: Option<String>,
    #[serde(default)]
    pub(super) limits: Map<String, Value>,
    #[serde(default, rename = "sandboxPolicy")]
    pub(super) policy: Option<Map<String, Value>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FilesRead {
    pub(super) path: PathBuf,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FilesWrite {
    pub(super) path: PathBuf,
    pub(super) content: Content,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FilesList {
    #[serde(default)]
    pub(super) path: PathBuf,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PolicyExplain {
    #[serde(default)]
    pub(super) path: Option<PathBuf>,
    #[serde(default)]
    pub(super) host: Option<String>,
    #[serde(default)]
    pub(super) port: Option<u16>,
    #[serde(default)]
    pub(super) env: Option<String>,
    #[serde(default)]
    pub(super) tool: Option<String>,
    #[serde(default, rename = "sandboxPolicy")]
    pub(super) policy: Option<Map<String, Value>>,
}

/// What a file holds: a text, or `{"base64": …}`.
#[derive(Debug)]
pub(super) struct Content(pub(super) Vec<u8>);

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;

        let wrong = || D::Error::custom("a file is a text, or {\"base64\": TEXT}");
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Content(text.into_bytes())),
            Value::Object(object) if object.len() == 1 => {
                let text = object.get("base64").and_then(Value::as_str).ok_or_else(wrong)?;
                let decoded = base64::engine::general_purpose::STANDARD.decode(text);
                decoded.map(Content).map_err(|_| wrong())
            }
            _ => Err(wrong()),
        }
    }
}

/// The arguments as a tool takes them.
pub(super) fn read<T: DeserializeOwned>(
    arguments: Option<Map<String, Value>>,
) -> Result<T, CallError> {
    serde_json::from_value(Value::Object(arguments.unwrap_or_default()))
        .map_err(|error| CallError::Arguments { reason: error.to_string() })
}

/// What a model asks for as a policy: its own object, with the limits put where a policy has them.
pub(super) fn guest(
    policy: Option<Map<String, Value>>,
    limits: Map<String, Value>,
) -> Result<Option<PolicyText>, CallError> {
    if policy.is_none() && limits.is_empty() {
        return Ok(None);
    }
    let mut policy = policy.unwrap_or_default();
    policy.entry("version").or_insert_with(|| json!(1));
    for (key, value) in limits {
        let section = if key == "disk" { "fs" } else { "proc" };
        let section = policy.entry(section).or_insert_with(|| json!({}));
        // What is no section is for the policy's own reader to refuse.
        let Value::Object(section) = section else { continue };
        if section.contains_key(&key) {
            return Err(CallError::SaidTwice { key });
        }
        section.insert(key, value);
    }
    // JSON is YAML, and one key per line gives messages a line to show.
    let text = format!("{:#}\n", Value::Object(policy));
    Ok(Some(PolicyText { name: "sandboxPolicy".into(), text }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn wrong_arguments_are_named() {
        for (arguments, word) in [
            (json!({"language": "python"}), "code"),
            (json!({"language": "python", "code": 1}), "string"),
            (json!({"language": "python", "code": "", "cod": 1}), "`cod`"),
            (json!({"language": "python", "code": "", "files": {"a": {"b64": ""}}}), "base64"),
        ] {
            let error = read::<CodeRun>(Some(object(arguments))).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn limits_become_part_of_the_policy() {
        let limits = object(json!({"timeout": "2s", "disk": "1m"}));
        let policy = object(json!({"proc": {"memory": "64m"}}));
        let guest = guest(Some(policy.clone()), limits).unwrap().unwrap();
        let text: Value = serde_json::from_str(&guest.text).unwrap();
        let expected = json!({
            "version": 1, "proc": {"memory": "64m", "timeout": "2s"}, "fs": {"disk": "1m"},
        });
        assert_eq!(text, expected);
        assert!(super::guest(Some(policy), object(json!({"memory": "1m"}))).is_err());
        assert!(super::guest(None, Map::new()).unwrap().is_none());
    }
}
