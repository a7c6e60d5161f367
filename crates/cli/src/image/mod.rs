//! `fumehood image`: the images that boxes of Docker and Podman are made from.

mod build;
mod ls;
mod progress;
mod prune;
mod pull;

use std::{
    env,
    future::Future,
    io::{self, Write as _},
    path::Path,
};

use clap::{Args, Subcommand};
use fumehood::{
    BackendName, Configuration, Images,
    config::{BackendChoice, Settings},
    image::{ImageRegistry, ImageSpec},
    language::Registry,
};

use crate::{drive, failure::Failure, output, render::Format, signals::Signals};

/// Arguments of `fumehood image`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ImageArgs {
    #[command(subcommand)]
    command: ImageCommand,
}

const EXAMPLES: &str = "\
Examples:
  fumehood image ls                          which images there are
  fumehood image build python                make one from Debian packages, without a registry
  fumehood image pull registry.example/tools:1
  fumehood image prune --unused 7d --dry-run";

/// What is to be done.
#[derive(Debug, Subcommand)]
enum ImageCommand {
    /// List our images, whether the engine has them or not.
    Ls(ls::LsArgs),
    /// Fetch images from a registry.
    Pull(pull::PullArgs),
    /// Make images from Debian packages, without a registry.
    Build(build::BuildArgs),
    /// Remove images of ours that are old, unused or too large together.
    Prune(prune::PruneArgs),
}

/// Does it and gives the exit code.
pub fn main(arguments: &ImageArgs) -> u8 {
    let (json, done) = match &arguments.command {
        ImageCommand::Ls(arguments) => (arguments.common.json, ls::run(arguments)),
        ImageCommand::Pull(arguments) => (arguments.common.json, pull::run(arguments)),
        ImageCommand::Build(arguments) => (arguments.common.json, build::run(arguments)),
        ImageCommand::Prune(arguments) => (arguments.common.json, prune::run(arguments)),
    };
    let format = if json { Format::Json } else { Format::Text };
    done.unwrap_or_else(|failure| failure.report(format))
}

/// What all of them take.
#[derive(Args, Debug)]
struct Common {
    /// The engine: docker or podman. Without it, the first of the configured order that answers.
    #[arg(long, value_name = "NAME")]
    backend: Option<BackendName>,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

impl Common {
    /// Does something with the images of the engine that is meant. A signal ends it: what is under
    /// way is undone, and the exit code is that of a program that the signal ended.
    fn on_images<F>(&self, act: impl FnOnce(Images, Settings) -> F) -> Result<u8, Failure>
    where
        F: Future<Output = Result<u8, Failure>>,
    {
        let settings = Configuration::load(Path::new("."), env::vars_os())?.settings;
        drive::runtime()?.block_on(async {
            let mut signals = Signals::listen()?;
            let acting = async {
                let images = self.images(&settings).await?;
                act(images, settings.clone()).await
            };
            tokio::select! {
                done = acting => done,
                signal = signals.next() => {
                    output::line_for_people("interrupted: nothing half-made is left");
                    Ok(128 + u8::try_from(signal).unwrap_or(0))
                }
            }
        })
    }

    async fn images(&self, settings: &Settings) -> Result<Images, Failure> {
        let named = match (self.backend, settings.executor.kind.value) {
            (Some(backend), _) => Some(backend),
            (None, BackendChoice::Named(backend)) => {
                Some(backend).filter(|backend| backend.uses_images())
            }
            (None, _) => None,
        };
        if let Some(backend) = named {
            return open(backend, settings);
        }
        let order =
            settings.executor.order.value.iter().copied().filter(|backend| backend.uses_images());
        let mut first = None;
        for backend in order {
            let images = open(backend, settings)?;
            match images.check().await {
                Ok(()) => return Ok(images),
                Err(error) => first = first.or(Some(error)),
            }
        }
        match first {
            Some(error) => Err(error.into()),
            None => open(BackendName::Docker, settings),
        }
    }
}

fn open(backend: BackendName, settings: &Settings) -> Result<Images, Failure> {
    let configured = match backend {
        BackendName::Podman => &settings.podman.host,
        _ => &settings.docker.host,
    };
    let host = configured.value.as_ref().map(|host| host.as_str().to_owned());
    Ok(Images::open(backend, host)?)
}

/// One of our images, by its own name or by any name of its language.
fn find(given: &str) -> Result<&'static ImageSpec, Failure> {
    let images = ImageRegistry::builtin();
    let by_alias = || Registry::builtin().find(given).ok().map(|language| language.name.as_str());
    let found = images.find(given).or_else(|unknown| match by_alias() {
        Some(name) => images.find(name),
        None => Err(unknown),
    });
    Ok(found.map_err(fumehood::ImageError::from)?)
}

fn print(text: &str) -> Result<u8, Failure> {
    io::stdout().write_all(text.as_bytes())?;
    Ok(0)
}
