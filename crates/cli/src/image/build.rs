//! `fumehood image build`: an image from Debian packages.

use clap::Args;
use fumehood::image::{Built, ImageRegistry, ImageSpec};
use serde_json::json;

use super::{Common, find, print, progress::Display};
use crate::{failure::Failure, render::size};

/// Arguments of `fumehood image build`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct BuildArgs {
    /// Images, or languages.
    #[arg(value_name = "NAME", required_unless_present = "all", conflicts_with = "all")]
    names: Vec<String>,
    /// All images.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

const EXAMPLES: &str = "\
Examples:
  fumehood image build python
  fumehood image build base go --backend podman
  fumehood image build --all --json          for programs

It takes mmdebstrap (or debootstrap as root), and the mirrors that apt uses. The same packages give
the same image, wherever and whenever it is made.";

pub(super) fn run(arguments: &BuildArgs) -> Result<u8, Failure> {
    let specs: Vec<&ImageSpec> = if arguments.all {
        ImageRegistry::builtin().all().collect()
    } else {
        arguments.names.iter().map(|name| find(name)).collect::<Result<_, _>>()?
    };
    let as_json = arguments.common.json;
    arguments.common.on_images(async |images, _| {
        let mut made = Vec::new();
        for spec in specs {
            let mut display = Display::new(as_json);
            let built = images.build(spec, &mut |progress| display.show(progress)).await;
            display.end();
            let built = built?;
            if !as_json {
                print(&text(&built))?;
            }
            made.push(built);
        }
        if as_json { print(&json(&made)) } else { Ok(0) }
    })
}

fn text(built: &Built) -> String {
    let id = built.id.trim_start_matches("sha256:");
    format!("{}  {}  {}\n", built.reference, &id[..id.len().min(12)], size(built.size.get()))
}

fn json(made: &[Built]) -> String {
    let made: Vec<_> = made
        .iter()
        .map(|built| {
            json!({
                "name": built.name,
                "reference": built.reference,
                "id": built.id,
                "size": built.size.get(),
                "inputs": built.inputs,
            })
        })
        .collect();
    format!("{:#}\n", json!(made))
}

#[cfg(test)]
mod tests {
    use fumehood::Bytes;

    use super::*;

    #[test]
    fn people_and_programs_see_what_was_made() {
        let built = Built {
            name: "go".into(),
            reference: "fumehood/go:latest".into(),
            id: "sha256:0123456789abcdef".into(),
            size: Bytes::new(2048),
            inputs: "00".into(),
        };
        assert_eq!(text(&built), "fumehood/go:latest  0123456789ab  2.0 KiB\n");
        let parsed: serde_json::Value = serde_json::from_str(&json(&[built])).unwrap();
        assert_eq!(parsed[0]["id"], "sha256:0123456789abcdef");
        assert_eq!(parsed[0]["size"], 2048);
    }
}
