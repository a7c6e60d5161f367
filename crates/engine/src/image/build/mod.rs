//! Making an image without a registry: a root file system from Debian packages, put in order so
//! that the same content is the same image, and given to the engine.

mod archive;
mod import;
mod normal;
mod root;
mod target;
mod workshop;

use fumehood_core::image::ImageSpec;

pub(super) use self::target::Target;
use self::{archive::Description, workshop::Workshop};
use super::{ImageError, Images, Progress, Watcher, full_reference, memory::remember_making};
use crate::Bytes;

/// An image that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// Its name among ours.
    pub name: String,
    /// Its name for the engine.
    pub reference: String,
    /// Its identity: equal for equal content.
    pub id: String,
    /// The size of its files in an archive.
    pub size: Bytes,
    /// The digest of what it was made from.
    pub inputs: String,
}

impl Images {
    /// Makes an image and gives it to the engine. Until the last step succeeded nothing has
    /// changed; whatever happens, nothing temporary is left. Dropped halfway, it ends what it
    /// started.
    pub async fn build(&self, spec: &ImageSpec, watcher: Watcher<'_>) -> Result<Built, ImageError> {
        // Before minutes are spent.
        self.check().await?;
        let target = Target::find(spec)?;
        let maker = root::Maker::find(spec)?;
        let workshop = Workshop::open(self.cache(), &spec.name)?;

        let root = maker.make(spec, &target.suite, &workshop, watcher).await?;
        watcher(Progress::step("putting the files in order"));
        let layer = workshop.file("layer.tar");
        let (epoch, made) = (spec.epoch, layer.clone());
        let ordered =
            tokio::task::spawn_blocking(move || normal::normalise(&root, &made, epoch)).await;
        let ordered = match ordered {
            Ok(Ok(ordered)) => ordered,
            Ok(Err(error)) => return Err(bad_root(spec, &error.to_string())),
            Err(error) => return Err(bad_root(spec, &error.to_string())),
        };

        let reference = full_reference(self.backend(), &spec.name);
        let description = Description::new(spec, &target, &ordered.digest);
        self.import(&reference, &layer, &description, watcher).await?;
        let id = format!("sha256:{}", description.digest());
        remember_making(self.cache(), self.backend(), &spec.name, &id);
        Ok(Built {
            name: spec.name.clone(),
            reference,
            id,
            size: ordered.size,
            inputs: target.inputs.to_string(),
        })
    }
}

fn bad_root(spec: &ImageSpec, reason: &str) -> ImageError {
    ImageError::BadRoot { image: spec.name.clone(), reason: reason.to_owned() }
}
