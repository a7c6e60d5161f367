//! `fumehood image ls`: which images there are.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use fumehood::image::ListedImage;
use serde_json::json;

use super::{Common, print};
use crate::{failure::Failure, paint::Paint, render::size, volume::ago};

/// Arguments of `fumehood image ls`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct LsArgs {
    #[command(flatten)]
    pub(super) common: Common,
}

const EXAMPLES: &str = "\
Examples:
  fumehood image ls
  fumehood image ls --backend podman
  fumehood image ls --json                   for programs";

pub(super) fn run(arguments: &LsArgs) -> Result<u8, Failure> {
    let as_json = arguments.common.json;
    arguments.common.on_images(async |images, _| {
        let listed = images.list().await?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        print(&if as_json { json(&listed) } else { text(&listed, now, Paint::for_stdout()) })
    })
}

fn text(listed: &[ListedImage], now: Duration, paint: Paint) -> String {
    let row = |cells: [&str; 6]| {
        let [name, size, made, used, id, rest] = cells;
        format!("{name:10}  {size:>10}  {made:15}  {used:15}  {id:12}  {rest}")
            .trim_end()
            .to_owned()
    };
    let since = |then: Option<u64>, unknown: &str| {
        then.map_or_else(
            || unknown.to_owned(),
            |then| ago(now.saturating_sub(Duration::from_secs(then))),
        )
    };
    let title = row(["IMAGE", "SIZE", "MADE", "LAST USED", "ID", "CONTENT"]);
    let mut text = paint.strong(&title) + "\n";
    for image in listed {
        let line = match &image.present {
            None => paint.faint(&row([&image.name, "-", "not there", "", "", &image.description])),
            Some(present) => {
                let id = present.id.trim_start_matches("sha256:");
                let outdated = if present.current == Some(false) { " (outdated)" } else { "" };
                row([
                    &image.name,
                    &size(present.size.get()),
                    &since(present.made, "unknown"),
                    &since(present.used, "never"),
                    &id[..id.len().min(12)],
                    &format!("{}{outdated}", image.description),
                ])
            }
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn json(listed: &[ListedImage]) -> String {
    let all: Vec<_> = listed
        .iter()
        .map(|image| {
            let present = image.present.as_ref();
            json!({
                "name": image.name,
                "description": image.description,
                "languages": image.languages,
                "present": present.is_some(),
                "reference": present.and_then(|image| image.reference.clone()),
                "id": present.map(|image| image.id.clone()),
                "size": present.map(|image| image.size.get()),
                "made": present.and_then(|image| image.made),
                "last_used": present.and_then(|image| image.used),
                "inputs": present.and_then(|image| image.inputs.clone()),
                "current": present.and_then(|image| image.current),
            })
        })
        .collect();
    format!("{:#}\n", json!(all))
}

#[cfg(test)]
mod tests {
    use fumehood::{Bytes, image::PresentImage};

    use super::*;

    fn listed() -> Vec<ListedImage> {
        let image = |name: &str, present| ListedImage {
            name: name.into(),
            description: format!("what {name} has"),
            languages: vec![name.into()],
            present,
        };
        let present = PresentImage {
            name: "go".into(),
            reference: Some("fumehood/go:latest".into()),
            id: "sha256:0123456789abcdef".into(),
            size: Bytes::mib(2),
            made: Some(1000),
            used: None,
            inputs: Some("00".into()),
            current: Some(false),
        };
        vec![image("go", Some(present)), image("c", None)]
    }

    #[test]
    fn people_see_what_is_there_and_what_is_not() {
        let text = text(&listed(), Duration::from_secs(4600), Paint::plain());
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split("  ").filter(|word| !word.is_empty()).map(str::trim).collect())
            .collect();
        assert_eq!(lines[0], ["IMAGE", "SIZE", "MADE", "LAST USED", "ID", "CONTENT"]);
        assert_eq!(
            lines[1],
            ["go", "2.0 MiB", "1 hour ago", "never", "0123456789ab", "what go has (outdated)"]
        );
        assert_eq!(lines[2][..3], ["c", "-", "not there"]);
    }

    #[test]
    fn programs_get_everything() {
        let parsed: serde_json::Value = serde_json::from_str(&json(&listed())).unwrap();
        assert_eq!(parsed[0]["made"], 1000);
        assert_eq!(parsed[0]["current"], false);
        assert_eq!(parsed[0]["last_used"], serde_json::Value::Null);
        assert_eq!(parsed[1]["present"], false);
    }
}
