//! Why images could not be listed, fetched, made or removed.

use std::{io, path::PathBuf};

use fumehood_core::image::UnknownImage;

use crate::{BackendName, Error};

/// Why images could not be dealt with. Each message is one sentence with the next step.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The engine cannot be used at all.
    #[error(transparent)]
    Engine(Box<Error>),
    /// No image of ours has this name.
    #[error(transparent)]
    Unknown(#[from] UnknownImage),
    /// The backend has no images.
    #[error(
        "the {backend} backend has no images: name one with --backend docker or --backend podman"
    )]
    NoImages {
        /// The backend.
        backend: BackendName,
    },
    /// Nothing here can make a root file system.
    #[error(
        "the image {image} cannot be made, since neither mmdebstrap nor debootstrap is installed: type `apt-get install mmdebstrap`"
    )]
    NoTool {
        /// The image.
        image: String,
    },
    /// Nobody knows which release of Debian it should be.
    #[error(
        "the image {image} cannot be made, since /etc/os-release names no release of Debian (VERSION_CODENAME): make it on Debian, or fetch it with `fumehood image pull`"
    )]
    NoSuite {
        /// The image.
        image: String,
    },
    /// The program that makes root file systems failed.
    #[error("{program} could not make the image {image} ({reason}): {remedy}")]
    Tool {
        /// The program.
        program: &'static str,
        /// The image.
        image: String,
        /// Its last words.
        reason: String,
        /// What to do.
        remedy: &'static str,
    },
    /// What it made cannot be read.
    #[error(
        "what was made for the image {image} is not a file system ({reason}): try again, and check the free space of the cache directory"
    )]
    BadRoot {
        /// The image.
        image: String,
        /// What is wrong with it.
        reason: String,
    },
    /// It is being made already.
    #[error("the image {image} is being made by another fumehood: wait until that is done")]
    Busy {
        /// The image.
        image: String,
    },
    /// It could not be fetched.
    #[error("{backend} could not fetch {image} ({message}): {}", fetch_remedy(.own))]
    NotFetched {
        /// The engine.
        backend: BackendName,
        /// The image.
        image: String,
        /// The engine's words.
        message: String,
        /// Which of our images it is, if one.
        own: Option<&'static str>,
    },
    /// The engine would not.
    #[error(
        "{backend} could not {verb} {image} ({message}): look at its log, and at the free space of its storage"
    )]
    Refused {
        /// The engine.
        backend: BackendName,
        /// What was asked.
        verb: &'static str,
        /// The image.
        image: String,
        /// The engine's words.
        message: String,
    },
    /// A file of our own could not be used.
    #[error(
        "{} could not be {verb} ({reason}): check its permissions and free space, or set FUMEHOOD_CACHE_DIR",
        path.display()
    )]
    Storage {
        /// What was attempted.
        verb: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
}

fn fetch_remedy(own: &Option<&'static str>) -> String {
    match own {
        Some(name) => format!("`fumehood image build {name}` makes it without a registry"),
        None => "check its name, and that the registry can be reached".to_owned(),
    }
}

impl ImageError {
    pub(super) fn engine(error: Error) -> ImageError {
        ImageError::Engine(Box::new(error))
    }

    pub(super) fn storage(verb: &'static str, path: impl Into<PathBuf>, error: &io::Error) -> Self {
        ImageError::Storage { verb, path: path.into(), reason: error.to_string() }
    }
}
