//! `fumehood languages`: what can be run, under which names, and what has to be installed first.

use std::io::{self, Write as _};

use clap::Args;
use fumehood::LanguageHealth;
use serde_json::json;

use crate::{
    drive,
    failure::Failure,
    opening::Opened,
    paint::Paint,
    render::Format,
    table::{self, Row, State},
};

/// Arguments of `fumehood languages`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct LanguagesArgs {
    /// Print them as JSON.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  fumehood languages
  fumehood languages --json                  for programs
  fumehood doctor --refresh                  look again after installing one";

/// Lists the languages and gives the exit code.
pub fn main(opened: impl FnOnce() -> Result<Opened, Failure>, arguments: &LanguagesArgs) -> u8 {
    let format = if arguments.json { Format::Json } else { Format::Text };
    match list(opened, arguments.json) {
        Ok(()) => 0,
        Err(failure) => failure.report(format),
    }
}

fn list(opened: impl FnOnce() -> Result<Opened, Failure>, as_json: bool) -> Result<(), Failure> {
    let sandbox = opened()?.sandbox;
    let found = drive::runtime()?.block_on(async {
        let found = sandbox.examine(false).await.languages;
        sandbox.close().await;
        found
    });
    let text = if as_json { json(&found) } else { text(&found, Paint::for_stdout()) };
    Ok(io::stdout().write_all(text.as_bytes())?)
}

fn text(found: &[LanguageHealth], paint: Paint) -> String {
    let rows: Vec<Row> = found
        .iter()
        .map(|health| {
            let (aliases, extensions) = health.names();
            Row {
                name: health.language.clone(),
                state: State::of(health.works),
                detail: format!(
                    "{} (also {}; .{})",
                    health.detail,
                    aliases.join(", "),
                    extensions.join(", .")
                ),
                remedy: health.remedy.clone(),
            }
        })
        .collect();
    table::render("Languages", &rows, paint)
}

fn json(found: &[LanguageHealth]) -> String {
    let languages: Vec<_> = found.iter().map(LanguageHealth::listing).collect();
    format!("{:#}\n", json!(languages))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found() -> Vec<LanguageHealth> {
        vec![LanguageHealth {
            language: "python".into(),
            title: "Python".into(),
            works: false,
            detail: "no python3".into(),
            remedy: Some("apt install python3".into()),
        }]
    }

    #[test]
    fn a_language_is_shown_with_all_its_names() {
        let text = text(&found(), Paint::plain());
        assert!(
            text.contains("python  missing      no python3 (also py, python3; .py, .pyw)"),
            "{text}"
        );
        assert!(text.contains("-> apt install python3"), "{text}");
    }

    #[test]
    fn programs_get_the_same() {
        let parsed: serde_json::Value = serde_json::from_str(&json(&found())).unwrap();
        assert_eq!(parsed[0]["aliases"][0], "py");
        assert_eq!(parsed[0]["extensions"][0], "py");
        assert_eq!(parsed[0]["works"], false);
    }
}
