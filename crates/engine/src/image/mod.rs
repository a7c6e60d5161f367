//! The images that boxes of Docker and Podman are made from: what is there, and how it is fetched,
//! made and removed. What is in them is data, see [`fumehood_core::image`], which this module
//! passes on.

mod build;
mod choice;
mod error;
mod list;
mod memory;
mod prune;
mod pull;

use std::{path::Path, sync::Arc};

use bollard::{Docker, errors::Error as EngineError};

pub use fumehood_core::image::*;

pub(crate) use self::memory::remember_use;
pub use self::{
    build::Built,
    choice::DefaultImages,
    error::ImageError,
    list::{ListedImage, PresentImage},
    prune::{Pruned, PrunedImage},
};
use crate::{BackendName, backend::Engine, places::Directory};

/// The label that every image of ours carries: its name.
const NAME_LABEL: &str = "fumehood.image";
/// The label with the digest of what it was made from.
const INPUTS_LABEL: &str = "fumehood.inputs";

/// How far something is that takes time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub what: String,
    /// How much of it is done and how much there is, in bytes, where that is known.
    pub bytes: Option<(u64, u64)>,
}

impl Progress {
    fn step(what: impl Into<String>) -> Progress {
        Progress { what: what.into(), bytes: None }
    }
}

/// Whoever wants to know how far it is.
pub type Watcher<'a> = &'a mut (dyn FnMut(Progress) + Send);

/// The images of one engine.
#[derive(Clone)]
pub struct Images {
    engine: Arc<Engine>,
}

impl std::fmt::Debug for Images {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Images").field("backend", &self.engine.name()).finish()
    }
}

impl Images {
    /// The images of an engine, without a sandbox. `host` is its address, such as
    /// `unix:///run/docker.sock`, where the environment does not say it.
    pub fn open(backend: BackendName, host: Option<String>) -> Result<Images, ImageError> {
        if !backend.uses_images() {
            return Err(ImageError::NoImages { backend });
        }
        let cache = Directory::Cache.of_process().map_err(ImageError::engine)?;
        Ok(Images::of(Arc::new(Engine::new(backend, &cache, host))))
    }

    pub(crate) fn of(engine: Arc<Engine>) -> Images {
        Images { engine }
    }

    /// Which engine it is.
    pub fn backend(&self) -> BackendName {
        self.engine.name()
    }

    /// Whether the engine answers.
    pub async fn check(&self) -> Result<(), ImageError> {
        self.client().await.map(drop)
    }

    async fn client(&self) -> Result<Docker, ImageError> {
        self.engine.client().await.map_err(ImageError::engine)
    }

    fn cache(&self) -> &Path {
        self.engine.cache()
    }

    fn refused(&self, verb: &'static str, image: &str, error: &EngineError) -> ImageError {
        ImageError::Refused {
            backend: self.backend(),
            verb,
            image: image.to_owned(),
            message: said(error),
        }
    }
}

/// The name of one of our images under which boxes are made from it.
pub(crate) fn short_reference(name: &str) -> String {
    format!("fumehood/{name}")
}

/// The whole name, as the engine keeps it. Podman puts what has no registry under `localhost`.
fn full_reference(backend: BackendName, name: &str) -> String {
    let registry = if backend == BackendName::Podman { "localhost/" } else { "" };
    format!("{registry}{}:latest", short_reference(name))
}

/// Which of our images a reference means, if one.
pub(crate) fn own_name(reference: &str) -> Option<&'static str> {
    let short = reference.strip_prefix("localhost/").unwrap_or(reference);
    let name = short.strip_prefix("fumehood/")?;
    let name = name.strip_suffix(":latest").unwrap_or(name);
    ImageRegistry::builtin().names().find(|known| *known == name)
}

/// What an engine said, without what the library says around it.
fn said(error: &EngineError) -> String {
    match error {
        EngineError::DockerResponseServerError { message, .. } => message.trim().to_owned(),
        EngineError::DockerStreamError { error } => error.trim().to_owned(),
        other => other.to_string(),
    }
}

fn is_not_found(error: &EngineError) -> bool {
    matches!(error, EngineError::DockerResponseServerError { status_code: 404, .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_images_are_known_by_every_name_that_they_have() {
        for reference in [
            "fumehood/python",
            "fumehood/python:latest",
            &full_reference(BackendName::Docker, "python"),
            &full_reference(BackendName::Podman, "python"),
        ] {
            assert_eq!(own_name(reference), Some("python"), "{reference}");
        }
        for other in ["python", "fumehood/test", "docker.io/fumehood/python", "fumehood/python:3"] {
            assert_eq!(own_name(other), None, "{other}");
        }
    }

    #[test]
    fn only_engines_have_images() {
        let refused = Images::open(BackendName::Native, None).unwrap_err().to_string();
        assert!(refused.contains("native") && refused.contains("--backend docker"), "{refused}");
    }
}
