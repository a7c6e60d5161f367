//! Values as YAML for people to read: plain where that is safe, quoted where it is not.

use serde_json::Value;

/// A value as a YAML document.
pub fn write_yaml(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => write_map(&mut text, value, 0),
        Value::Array(list) if !list.is_empty() => write_list(&mut text, value, 0),
        single => {
            text.push_str(&scalar(single));
            text.push('\n');
        }
    }
    text
}

fn write_map(text: &mut String, value: &Value, depth: usize) {
    for (index, (key, value)) in value.as_object().into_iter().flatten().enumerate() {
        // The first entry of a map in a list stands behind its dash.
        if index > 0 || text.ends_with('\n') || text.is_empty() {
            indent(text, depth);
        }
        text.push_str(&quoted_if_needed(key));
        text.push(':');
        write_behind(text, value, depth);
    }
}

fn write_list(text: &mut String, value: &Value, depth: usize) {
    for item in value.as_array().into_iter().flatten() {
        indent(text, depth);
        text.push('-');
        match item {
            Value::Object(map) if !map.is_empty() => {
                text.push(' ');
                write_map(text, item, depth + 1);
            }
            item => write_behind(text, item, depth),
        }
    }
}

/// What stands behind a key or a dash.
fn write_behind(text: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            text.push('\n');
            write_map(text, value, depth + 1);
        }
        Value::Array(list) if !list.is_empty() => {
            text.push('\n');
            write_list(text, value, depth + 1);
        }
        single => {
            text.push(' ');
            text.push_str(&scalar(single));
            text.push('\n');
        }
    }
}

fn indent(text: &mut String, depth: usize) {
    text.extend(std::iter::repeat_n("  ", depth));
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => quoted_if_needed(text),
        // Numbers, true, false, null and what is empty look the same as in JSON.
        other => other.to_string(),
    }
}

/// A text as it is if nothing else can be meant by it, else with quotes as in JSON, which YAML
/// reads the same way.
fn quoted_if_needed(text: &str) -> String {
    let plain_start = |c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '_' | '.');
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '.' | '-' | '+' | '=');
    let means_more = matches!(
        text.to_ascii_lowercase().as_str(),
        "null"
            | "true"
            | "false"
            | "yes"
            | "no"
            | "on"
            | "off"
            | "y"
            | "n"
            | ".nan"
            | ".inf"
            | "..."
    );
    let is_plain = text.starts_with(plain_start)
        && text.chars().all(plain)
        && !means_more
        && text.parse::<f64>().is_err();
    if is_plain { text.to_owned() } else { Value::String(text.to_owned()).to_string() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::{
        super::{Node, Value as Read, read_yaml},
        *,
    };

    #[test]
    fn it_reads_well() {
        let value = json!({
            "backend": "native", "empty": [], "none": null,
            "mounts": [{"target": "/usr", "modes": [1, 2]}, {"target": "/a b"}],
            "env": {"PATH": "/bin:/usr/bin", "N": "1"},
        });
        assert_eq!(
            write_yaml(&value),
            "backend: native\nempty: []\nenv:\n  \"N\": \"1\"\n  PATH: \"/bin:/usr/bin\"\nmounts:\n  \
             - modes:\n      - 1\n      - 2\n    target: /usr\n  - target: \"/a b\"\nnone: null\n"
        );
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "\\PC{0,12}".prop_map(Value::from),
            "[a-z:#\\- \\n\\[{&*!|>'\"%@`,?~.]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("\\PC{1,8}", inner, 0..5)
                    .prop_map(|map| Value::Object(Map::from_iter(map))),
            ]
        })
    }

    fn same(node: &Node, value: &Value) -> bool {
        match (&node.value, value) {
            (Read::Scalar { text, quoted: _ }, Value::String(wanted)) => text == wanted,
            (Read::Scalar { text, quoted: false }, other) => scalar(other) == *text,
            (Read::List(nodes), Value::Array(values)) => {
                nodes.len() == values.len() && nodes.iter().zip(values).all(|(n, v)| same(n, v))
            }
            (Read::Map(entries), Value::Object(map)) => {
                entries.len() == map.len()
                    && entries.iter().zip(map).all(|(entry, (key, value))| {
                        entry.key.text == *key && same(&entry.value, value)
                    })
            }
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(value in any_value()) {
            let text = write_yaml(&value);
            let node = read_yaml(&"t".into(), &text).unwrap();
            prop_assert!(same(&node, &value), "{text}\n{node:?}");
        }
    }
}
