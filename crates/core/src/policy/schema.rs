//! The JSON Schema of a policy, for editors. Made from the table of keys.

use serde_json::{Map, Value, json};

use super::keys::{Key, SECTIONS, Takes, keys};

/// The schema, of draft 2020-12.
pub fn schema() -> Value {
    let keys = keys();
    let mut properties = section(&keys, "");
    for (name, about) in SECTIONS {
        let mut own = object(section(&keys, name), about);
        // A section may be there without keys, as in `fs:`.
        own["type"] = json!(["object", "null"]);
        properties.insert((*name).to_owned(), own);
    }
    let mut schema = object(properties, "What code in a fumehood box may do.");
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("sandbox.policy.yaml");
    schema["required"] = json!(["version"]);
    schema
}

fn section(keys: &[Key], section: &str) -> Map<String, Value> {
    let own = keys.iter().filter(|key| key.section == section);
    own.map(|key| (key.name.to_owned(), property(keys, key))).collect()
}

fn object(properties: Map<String, Value>, about: &str) -> Value {
    json!({
        "description": about,
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

/// A key; what has keys of its own gets them from the same table.
fn property(keys: &[Key], key: &Key) -> Value {
    let within = |about: &str, required: &[&str]| {
        let mut inner = object(section(keys, &format!("{}.{}", key.section, key.name)), about);
        inner["required"] = json!(required);
        inner
    };
    let mut value = match key.takes {
        Takes::Section if key.name == "inject" => within("", &["header", "from"]),
        Takes::Section => within("", &[]),
        Takes::Mounts => {
            json!({"type": "array", "items": within("One mount.", &["source", "target"])})
        }
        Takes::Rules => {
            let items = json!({"oneOf": [host(), within("Hosts, and how.", &["host"])]});
            json!({"type": "array", "items": items})
        }
        Takes::NetCeiling => {
            let items = json!({"oneOf": [host(), within("Hosts, and how.", &["host"])]});
            let hosts = json!({"type": "array", "items": items, "minItems": 1});
            json!({"oneOf": [{"enum": ["none", "localhost"]}, hosts]})
        }
        takes => shape(takes),
    };
    value["description"] = json!(format!("{} Example: `{}: {}`", key.about, key.name, key.example));
    value
}

fn host() -> Value {
    json!({"type": "string", "minLength": 1, "pattern": "^[^\\s@]+$"})
}

fn shape(takes: Takes) -> Value {
    const SIZE: &str = "^ *[0-9]+(\\.[0-9]+)? *([kmgtKMGT]([iI]?[bB])?|[bB])? *$";
    const TIME: &str = "^ *[0-9]+(\\.[0-9]+)? *(ms|s|m|min|h)? *$";
    const TOOL: &str = "^[A-Za-z0-9_.:/*-]+$";
    const VARIABLE: &str = "^([A-Za-z_][A-Za-z0-9_]*)?\\*?$";
    let list = |items: Value| json!({"type": "array", "items": items});
    match takes {
        Takes::Version => json!({"const": 1}),
        Takes::Word(words) => json!({"enum": words()}),
        Takes::Words(words) => list(json!({"enum": words()})),
        Takes::Size => json!({"type": ["string", "integer"], "minimum": 1, "pattern": SIZE}),
        Takes::Cores => {
            json!({"type": "number", "minimum": 0.01, "maximum": 4096})
        }
        Takes::Count => json!({"type": "integer", "minimum": 1, "maximum": u32::MAX}),
        Takes::Time => json!({"type": ["string", "number"], "minimum": 0.001, "pattern": TIME}),
        Takes::Flag => json!({"type": "boolean"}),
        Takes::HostPath => json!({"type": "string", "minLength": 1, "pattern": "^[^~]"}),
        Takes::BoxPath => json!({"type": "string", "pattern": "^/+[^/]"}),
        Takes::Globs => list(json!({"type": "string", "pattern": "^[^/]"})),
        Takes::Hosts => list(host()),
        Takes::Variables => list(json!({"type": "string", "minLength": 1, "pattern": VARIABLE})),
        Takes::Tools => list(json!({"type": "string", "maxLength": 256, "pattern": TOOL})),
        Takes::NamedPaths => json!({
            "type": "object",
            "propertyNames": {"pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]*$"},
            "additionalProperties": {"type": "string", "minLength": 1, "pattern": "^[^~]"},
        }),
        Takes::NamedTexts => json!({
            "type": "object",
            "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
            "additionalProperties": {"type": ["string", "number", "boolean"]},
        }),
        Takes::Host => host(),
        Takes::Ports => list(json!({
            "type": ["integer", "string"],
            "minimum": 1,
            "maximum": u16::MAX,
            "pattern": "^[0-9]+(-[0-9]+)?$",
        })),
        Takes::Header => json!({"type": "string", "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"}),
        Takes::Secret => json!({"type": "string", "pattern": "^env:[A-Za-z_][A-Za-z0-9_]*$"}),
        Takes::Network => json!({"type": "string", "pattern": "^[0-9.]+/[0-9]+$"}),
        Takes::Names => list(json!({"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"})),
        // Made by `property`, which knows the keys.
        Takes::Section | Takes::Rules | Takes::Mounts | Takes::NetCeiling => json!({}),
    }
}
