//! `fumehood policy show`: the merged policy as a policy, with the origin of each value beside it.

use clap::Args;
use fumehood::policy::{Entry, Policy, Shape};
use serde_json::{Value, json};

use super::{Chosen, print};
use crate::{failure::Failure, paint::Paint};

/// Arguments of `fumehood policy show`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct ShowArgs {
    #[command(flatten)]
    chosen: Chosen,
    /// Print it as JSON.
    #[arg(long)]
    pub(super) json: bool,
}

const EXAMPLES: &str = "\
Examples:
  fumehood policy show
  fumehood policy show --profile strict
  fumehood policy show --policy ci.yaml --json";

pub(super) fn run(arguments: &ShowArgs) -> Result<u8, Failure> {
    let policy = arguments.chosen.load()?;
    if arguments.json {
        print(&format!("{:#}\n", json!({"digest": policy.digest(), "policy": policy})))?;
    } else {
        print(&text(&policy, Paint::for_stdout()))?;
    }
    Ok(0)
}

/// Where origins stand, unless the value is longer.
const ORIGIN_COLUMN: usize = 40;

/// A policy that says the same in one file.
fn text(policy: &Policy, paint: Paint) -> String {
    let mut lines: Vec<(String, Option<String>)> = vec![("version: 1".to_owned(), None)];
    let mut last = ("", "");
    for entry in policy.entries() {
        let now = (entry.section, entry.key);
        if !entry.section.is_empty() && entry.section != last.0 {
            lines.push((format!("{}:", entry.section), None));
        }
        push(&mut lines, &entry, now != last);
        last = now;
    }
    let mut text = String::new();
    for (line, origin) in lines {
        match origin {
            Some(origin) => {
                let origin = paint.faint(&format!("# {origin}"));
                text.push_str(&format!("{line:ORIGIN_COLUMN$}  {origin}\n"));
            }
            None => text.push_str(&format!("{line}\n")),
        }
    }
    text
}

fn push(lines: &mut Vec<(String, Option<String>)>, entry: &Entry<'_>, first: bool) {
    let margin = if entry.section.is_empty() { "" } else { "  " };
    let (key, value) = (entry.key, yaml(&entry.value));
    if first && entry.shape != Shape::Single {
        lines.push((format!("{margin}{key}:"), None));
    }
    let line = match entry.shape {
        Shape::Single => format!("{margin}{key}: {value}"),
        Shape::Item => format!("{margin}  - {value}"),
        Shape::Named(name) => format!("{margin}  {name}: {value}"),
    };
    let line = fumehood::escape_controls(&line).into_owned();
    lines.push((line, Some(entry.origin.to_string())));
}

/// A value as YAML. JSON is YAML, so only plain words are written without quotes.
fn yaml(value: &Value) -> String {
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Words that some readers of YAML take for something else than a text.
const WORDS: &[&str] = &["", "true", "false", "null", "on", "off", "yes", "no"];

fn is_plain(text: &str) -> bool {
    let sound = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
    let means_something = WORDS.contains(&text) || text.parse::<f64>().is_ok();
    !means_something && !text.starts_with('-') && text.chars().all(sound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_words_go_without_quotes() {
        for (text, shown) in [
            (".git/hooks", ".git/hooks"),
            ("512MiB", "512MiB"),
            ("**/.env", "\"**/.env\""),
            ("true", "\"true\""),
            ("off", "\"off\""),
            ("1e3", "\"1e3\""),
            ("a: b", "\"a: b\""),
            ("", "\"\""),
        ] {
            assert_eq!(yaml(&json!(text)), shown);
        }
        assert_eq!(yaml(&json!(1.5)), "1.5");
        assert_eq!(yaml(&json!(["*"])), "[\"*\"]");
    }
}
