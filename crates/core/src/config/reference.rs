//! The reference of the configuration, `docs/CONFIG.md`, written from the table of keys.

use serde_json::Value;

use super::{ConfigFile, InProject, Key, PLACES, SECTIONS, Section};

const OPENING: &str = "\
# Configuration

fumehood works without any configuration. This page is made from the table that the program itself
reads with (`crates/core/src/config/keys.rs`); `fumehood config schema` prints the same as a JSON
Schema for editors.

## Where values come from

| | layer | where |
|---|---|---|
| 1 | default | built in |
| 2 | user | {names} in `FUMEHOOD_CONFIG_DIR`, else `$XDG_CONFIG_HOME/fumehood`, else `~/.config/fumehood` |
| 3 | project | the same names, in the working directory or the nearest directory above it that has one |
| 4 | environment | the variables below; an empty one says nothing |
| 5 | command line | flags |

A later layer wins, key by key. Lists and maps are replaced as a whole. Two of these files in one
directory are an error, as are unknown keys and values that cannot be read. `fumehood config show`
prints every key with its value and the line it came from; `fumehood config path` prints which files
were looked for.

## What a project may say

A project can come from a stranger, and its file with it. It cannot switch isolation off, reach into
the host, replace the engine or stop the record: such keys are refused there. Put them into your own
file, a variable, or on the command line. The column *in a project file* says which they are.

## How values are written

| kind | in a file | in a variable |
|---|---|---|
| a size | `\"512m\"`, `\"64KiB\"`, `\"1.5g\"`; a bare number is bytes | the same |
| a time | `\"500ms\"`, `\"30s\"`, `\"5m\"`, `\"1h\"`; a bare number is seconds | the same |
| a number of cores | `2`, `0.5` | the same |
| `true`, `false` | without quotes | also `1`, `0` |
| a list | a list | items with commas between them |
| keys with values | a section | `NAME=VALUE` with commas between them |
";

/// The text of `docs/CONFIG.md`.
pub fn reference() -> String {
    let names: Vec<String> = ConfigFile::NAMES.iter().map(|name| format!("`{name}`")).collect();
    let mut text = OPENING.replace("{names}", &names.join(" or "));
    text.push_str("\n## Keys\n");
    for section in SECTIONS {
        text.push_str(&section_table(section));
    }
    text.push_str("\n## Variables that name places\n\n");
    text.push_str("| variable | what is kept there | without it |\n|---|---|---|\n");
    for (name, what, otherwise) in PLACES {
        text.push_str(&format!("| `{name}` | {what} | {otherwise} |\n"));
    }
    text.push_str(
        "\nEach must be an absolute path. The `XDG_*` variables are obeyed where they are set.\n\
         \n## An example with every key\n\n```toml\n",
    );
    text.push_str(&example());
    text.push_str("```\n");
    text
}

fn section_table(section: &Section) -> String {
    let title = match section.name {
        "" => section.keys.iter().map(|key| format!("`{}`", key.name)).collect(),
        name => format!("`{name}`"),
    };
    let mut text = format!("\n### {title}\n\n{}\n\n", section.about);
    text.push_str("| key | value | default | variable | in a project file | |\n");
    text.push_str("|---|---|---|---|---|---|\n");
    for key in section.keys {
        let default = match key.default() {
            Value::Null => "absent".to_owned(),
            default => format!("`{}`", toml(&default)),
        };
        let project = match key.project {
            InProject::Any => "yes".to_owned(),
            InProject::Not(word) => format!("not `{word}`"),
            InProject::Never => "no".to_owned(),
        };
        let Key { name, variable, about, .. } = key;
        let kind = key.kind();
        text.push_str(&format!(
            "| `{name}` | {kind} | {default} | `{variable}` | {project} | {about} |\n"
        ));
    }
    text
}

/// A file in which every key has its example.
pub(super) fn example() -> String {
    let mut text = String::new();
    // Keys at the top come first: what follows a header belongs to its section.
    let (top, sections): (Vec<_>, Vec<_>) = SECTIONS.iter().partition(|each| each.name.is_empty());
    for section in top.into_iter().chain(sections) {
        if !section.name.is_empty() {
            text.push_str(&format!("\n[{}]\n", section.name));
        }
        for key in section.keys {
            text.push_str(&format!("{} = {}\n", key.short_name(), toml(&key.example())));
        }
    }
    text
}

/// A value as it is written in TOML.
fn toml(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", "))
        }
        Value::Object(pairs) if pairs.is_empty() => "{}".to_owned(),
        Value::Object(pairs) => {
            let pairs: Vec<String> =
                pairs.iter().map(|(name, value)| format!("{name} = {}", toml(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        // Texts, numbers and truth are written as in JSON.
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::{Format, Owner, Settings, keys};

    #[test]
    fn the_example_sets_every_key() {
        let (name, text) = ("fumehood.toml".into(), example());
        let format = Format::of(Path::new("fumehood.toml"));
        let file = ConfigFile { name: &name, text: &text, format, owner: Owner::User };
        let mut settings = Settings::default();
        settings.read_file(&file).unwrap_or_else(|problem| panic!("{problem}"));
        let untouched: Vec<_> =
            settings.shown().filter(|shown| shown.is_default).map(|shown| shown.key.name).collect();
        assert!(untouched.is_empty(), "{untouched:?}");
    }

    #[test]
    fn every_key_and_variable_is_in_the_reference() {
        let reference = reference();
        for key in keys() {
            assert!(reference.contains(&format!("| `{}` |", key.name)), "{}", key.name);
            assert!(reference.contains(&format!("| `{}` |", key.variable)), "{}", key.variable);
        }
        assert!(!reference.contains("{names}"));
    }
}
