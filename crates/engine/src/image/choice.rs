//! Which image a box is made from, where the request names none.

use std::collections::BTreeMap;

use fumehood_core::{config::Settings, image::ImageRegistry};

use super::short_reference;
use crate::BackendName;

/// The images of requests that name none, as the configuration has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DefaultImages {
    /// By language.
    pub languages: BTreeMap<String, String>,
    /// For everything else on Docker.
    pub docker: Option<String>,
    /// For everything else on Podman.
    pub podman: Option<String>,
}

impl DefaultImages {
    /// What the configuration says.
    pub fn of(settings: &Settings) -> DefaultImages {
        let text = |image: &fumehood_core::config::ImageName| image.as_str().to_owned();
        let languages = settings.images.value.iter();
        DefaultImages {
            languages: languages.map(|(name, image)| (name.to_string(), text(image))).collect(),
            docker: settings.docker.image.value.as_ref().map(text),
            podman: settings.podman.image.value.as_ref().map(text),
        }
    }

    /// The image of a language, or of plain commands: that of the language, else that of the
    /// engine, else ours.
    pub fn choose(&self, backend: BackendName, language: Option<&str>) -> String {
        let of_engine = match backend {
            BackendName::Podman => &self.podman,
            _ => &self.docker,
        };
        language
            .and_then(|language| self.languages.get(language))
            .or(of_engine.as_ref())
            .cloned()
            .unwrap_or_else(|| short_reference(ImageRegistry::builtin().name_for(language)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_decides() {
        let ours = DefaultImages::default();
        let choose =
            |images: &DefaultImages, language| images.choose(BackendName::Docker, language);
        assert_eq!(choose(&ours, Some("python")), "fumehood/python");
        assert_eq!(choose(&ours, Some("typescript")), "fumehood/javascript");
        assert_eq!(choose(&ours, None), "fumehood/base");
        let configured = DefaultImages {
            languages: BTreeMap::from([("python".into(), "mine/python:3".into())]),
            docker: Some("mine/all".into()),
            podman: None,
        };
        assert_eq!(choose(&configured, Some("python")), "mine/python:3");
        assert_eq!(choose(&configured, Some("go")), "mine/all");
        assert_eq!(choose(&configured, None), "mine/all");
        assert_eq!(configured.choose(BackendName::Podman, Some("go")), "fumehood/go");
    }
}
