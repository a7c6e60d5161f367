//! `fumehood config`: which configuration applies, where it comes from, and what can be said in it.

use std::{
    env,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use fumehood::{
    config::{ConfigFile, Configuration, Looked, Owner, Settings, schema},
    escape_controls,
};
use serde_json::{Value, json};

use crate::{
    failure::{self, Failure},
    output,
    paint::Paint,
    render::Format,
};

/// Arguments of `fumehood config`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

const EXAMPLES: &str = "\
Examples:
  fumehood config show                       every key, its value, and who set it
  fumehood config path                       the files that were looked for
  fumehood config schema > fumehood.schema.json";

/// What is to be seen.
#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Print every key with its value and where that comes from.
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowArgs),
    /// Print where configuration files are looked for, and which are there.
    #[command(after_help = PATH_EXAMPLES)]
    Path,
    /// Print the JSON Schema of configuration files, for editors.
    #[command(after_help = SCHEMA_EXAMPLES)]
    Schema,
}

/// Arguments of `fumehood config show`.
#[derive(Args, Debug)]
struct ShowArgs {
    /// Print them as JSON.
    #[arg(long)]
    json: bool,
}

const SHOW_EXAMPLES: &str = "\
Examples:
  fumehood config show
  fumehood config show --json                for programs
  FUMEHOOD_MEMORY=1g fumehood config show    what a variable would do";

const PATH_EXAMPLES: &str = "\
Examples:
  fumehood config path
  FUMEHOOD_CONFIG_DIR=/etc/fumehood fumehood config path";

const SCHEMA_EXAMPLES: &str = "\
Examples:
  fumehood config schema > fumehood.schema.json";

/// Does what was asked for and gives the exit code.
pub fn main(arguments: &ConfigArgs) -> u8 {
    let (text, format) = match &arguments.command {
        ConfigCommand::Show(ShowArgs { json: true }) => (show(as_json), Format::Json),
        ConfigCommand::Show(_) => (show(as_text), Format::Text),
        ConfigCommand::Path => (path(), Format::Text),
        ConfigCommand::Schema => (Ok(format!("{:#}\n", schema())), Format::Text),
    };
    let written = text.and_then(|text| Ok(io::stdout().write_all(text.as_bytes())?));
    match written {
        Ok(()) => 0,
        Err(failure) => failure.report(format),
    }
}

fn show(render: fn(&Settings) -> String) -> Result<String, Failure> {
    let configuration = Configuration::load(&working_directory()?, env::vars_os())?;
    for warning in &configuration.warnings {
        output::line_for_people(warning);
    }
    Ok(render(&configuration.settings))
}

fn path() -> Result<String, Failure> {
    let looked = Configuration::looked(&working_directory()?, env::vars_os())?;
    Ok(paths(&looked))
}

fn working_directory() -> Result<PathBuf, Failure> {
    env::current_dir().map_err(|error| Failure::Unreadable {
        what: "working directory",
        path: ".".into(),
        reason: failure::reason(&error),
    })
}

fn as_text(settings: &Settings) -> String {
    let paint = Paint::for_stdout();
    let rows: Vec<_> = settings
        .shown()
        .map(|shown| (shown.key.name, words(&shown.value), shown.origin, shown.is_default))
        .collect();
    let name_width = rows.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    let value_width = rows.iter().map(|(_, value, ..)| value.chars().count()).max().unwrap_or(0);
    // One long value must not push the origins of all others off the screen.
    let value_width = value_width.min(40);
    rows.iter()
        .map(|(name, value, origin, is_default)| {
            let origin = one_line(&origin.to_string());
            let row = format!("{name:name_width$}  {value:value_width$}  {origin}");
            if *is_default { paint.faint(&row) + "\n" } else { row + "\n" }
        })
        .collect()
}

fn as_json(settings: &Settings) -> String {
    let rows: Vec<Value> = settings
        .shown()
        .map(|shown| {
            json!({
                "key": shown.key.name,
                "value": shown.value,
                "origin": shown.origin,
                "default": shown.is_default,
                "variable": shown.key.variable,
            })
        })
        .collect();
    format!("{:#}\n", json!(rows))
}

/// A value for people: lists with commas, what is absent as a dash.
fn words(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => one_line(text),
        Value::Array(items) if items.is_empty() => "[]".to_owned(),
        Value::Array(items) => items.iter().map(words).collect::<Vec<_>>().join(","),
        Value::Object(pairs) if pairs.is_empty() => "{}".to_owned(),
        Value::Object(pairs) => {
            let pairs = pairs.iter().map(|(name, value)| format!("{name}={}", words(value)));
            pairs.collect::<Vec<_>>().join(",")
        }
        other => other.to_string(),
    }
}

/// A text that keeps to its row and cannot act on the terminal. Files of projects are shown, too.
fn one_line(text: &str) -> String {
    escape_controls(text).replace('\n', "\\n").replace('\t', "\\t")
}

fn paths(looked: &[Looked]) -> String {
    let names = ConfigFile::NAMES.join(", ");
    let mut text = format!("looked for {names}\n");
    let display = |path: &Path| one_line(&path.to_string_lossy());
    for Looked { owner, directory, found } in looked {
        let owner = match owner {
            Owner::User => "user",
            Owner::Project => "project",
        };
        let directory = display(directory);
        if found.is_empty() {
            text.push_str(&format!("{owner:7}  -      {directory}\n"));
        }
        for path in found {
            text.push_str(&format!("{owner:7}  found  {}\n", display(path)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_on_one_line_and_act_on_nothing() {
        assert_eq!(words(&json!(["a", "b"])), "a,b");
        assert_eq!(words(&json!({"A": "x\n\u{1b}[2J"})), "A=x\\n\\e[2J");
        assert_eq!(words(&json!(null)), "-");
        assert_eq!(words(&json!(0.5)), "0.5");
    }
}
