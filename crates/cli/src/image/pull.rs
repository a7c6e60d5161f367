//! `fumehood image pull`: an image from a registry, fetched by the engine.

use clap::Args;
use fumehood::{DefaultImages, config::ImageName, image::ImageRegistry, language::Registry};
use serde_json::json;

use super::{Common, print, progress::Display};
use crate::failure::Failure;

/// Arguments of `fumehood image pull`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct PullArgs {
    /// Images as the engine calls them, or languages.
    #[arg(value_name = "IMAGE", required = true)]
    images: Vec<ImageName>,
    #[command(flatten)]
    pub(super) common: Common,
}

const EXAMPLES: &str = "\
Examples:
  fumehood image pull registry.example/tools:1
  fumehood image pull python                 the image that is configured for Python
  fumehood image pull python --backend podman

Where no registry can be reached, `fumehood image build` makes the images of the languages.";

pub(super) fn run(arguments: &PullArgs) -> Result<u8, Failure> {
    let as_json = arguments.common.json;
    arguments.common.on_images(async |images, settings| {
        let configured = DefaultImages::of(&settings);
        let mut fetched = Vec::new();
        for given in &arguments.images {
            let reference = match language(given.as_str()) {
                Some(language) => configured.choose(images.backend(), language),
                None => given.as_str().to_owned(),
            };
            let mut display = Display::new(as_json);
            let pulled = images.pull(&reference, &mut |progress| display.show(progress)).await;
            display.end();
            pulled?;
            if !as_json {
                print(&format!("{reference}\n"))?;
            }
            fetched.push(json!({ "reference": reference }));
        }
        if as_json { print(&format!("{:#}\n", json!(fetched))) } else { Ok(0) }
    })
}

/// The language that a word names, if it names one; of `base` it is none.
fn language(given: &str) -> Option<Option<&'static str>> {
    if given == ImageRegistry::builtin().name_for(None) {
        return Some(None);
    }
    let language = Registry::builtin().find(given).ok()?;
    Some(Some(language.name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_from_references() {
        assert_eq!(language("py"), Some(Some("python")));
        assert_eq!(language("base"), Some(None));
        assert_eq!(language("registry.example/python"), None);
    }
}
