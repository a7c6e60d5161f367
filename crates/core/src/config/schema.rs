//! The JSON Schema of the configuration, for editors.

use serde_json::{Map, Value, json};

use super::{InProject, Key, SECTIONS};

/// The JSON Schema of `fumehood.toml`, `fumehood.yaml` and `fumehood.json`.
pub fn schema() -> Value {
    let mut properties = Map::new();
    for section in SECTIONS {
        let keys: Map<String, Value> =
            section.keys.iter().map(|key| (key.short_name().to_owned(), property(key))).collect();
        if section.name.is_empty() {
            properties.extend(keys);
            continue;
        }
        let of_section = json!({
            "description": section.about,
            "type": "object",
            "properties": keys,
            "additionalProperties": false,
        });
        properties.insert(section.name.to_owned(), of_section);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The configuration of fumehood",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

fn property(key: &Key) -> Value {
    let mut schema = key.kind().schema();
    let about = match key.project {
        InProject::Any => key.about.to_owned(),
        InProject::Not(word) => format!("{} Not `{word}` in the file of a project.", key.about),
        InProject::Never => format!("{} Not in the file of a project.", key.about),
    };
    schema["description"] = about.into();
    match key.default() {
        Value::Null => {}
        default => schema["default"] = default,
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::keys;

    #[test]
    fn every_key_is_in_it() {
        let schema = schema();
        for key in keys() {
            let property = match key.name.split_once('.') {
                Some((section, short)) => &schema["properties"][section]["properties"][short],
                None => &schema["properties"][key.name],
            };
            let about = property["description"].as_str().unwrap_or_default();
            assert!(about.starts_with(key.about), "{}: {property}", key.name);
        }
        let executor = &schema["properties"]["executor"]["properties"];
        assert_eq!(executor["type"]["enum"][0], "auto");
        assert_eq!(executor["type"]["default"], "auto");
        assert_eq!(schema["properties"]["executor"]["additionalProperties"], false);
    }
}
