//! Removing images of ours that nobody needs.

use bollard::query_parameters::RemoveImageOptions;
use fumehood_core::image::{PrunePolicy, PruneReason, doomed};

use super::{ImageError, Images, PresentImage, is_not_found, memory, said};
use crate::Bytes;

/// What became of images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// Those that went, or would go.
    pub images: Vec<PrunedImage>,
    /// How large those are together that are gone, or would be.
    pub freed: Bytes,
}

/// What became of one image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrunedImage {
    /// The image.
    pub image: PresentImage,
    /// Why it was to go.
    pub reason: PruneReason,
    /// Why it is still there, in the engine's words: a container uses it, most of the time.
    pub kept: Option<String>,
}

impl Images {
    /// Removes what the policy says. A dry run removes nothing and gives the same answer, except
    /// for what the engine would refuse.
    pub async fn prune(&self, policy: &PrunePolicy, dry_run: bool) -> Result<Pruned, ImageError> {
        let present = self.present().await?;
        let weighed: Vec<_> = present.iter().map(PresentImage::weighed).collect();
        let fates = doomed(&weighed, policy, memory::now());
        let mut pruned = Pruned { images: Vec::new(), freed: Bytes::new(0) };
        for (image, fate) in present.into_iter().zip(fates) {
            let Some(reason) = fate else { continue };
            let kept = if dry_run { None } else { self.remove(&image).await? };
            if kept.is_none() {
                pruned.freed = Bytes::new(pruned.freed.get() + image.size.get());
            }
            pruned.images.push(PrunedImage { image, reason, kept });
        }
        Ok(pruned)
    }

    /// Removes one image, by its name where it has one: other names of the same stay. Gives the
    /// reason if the engine keeps it.
    async fn remove(&self, image: &PresentImage) -> Result<Option<String>, ImageError> {
        let client = self.client().await?;
        let which = image.reference.as_ref().unwrap_or(&image.id);
        match client.remove_image(which, None::<RemoveImageOptions>, None).await {
            Ok(_) => {}
            // Somebody was faster.
            Err(error) if is_not_found(&error) => {}
            Err(error) => return Ok(Some(said(&error))),
        }
        if image.reference.is_some() {
            memory::forget(self.cache(), self.backend(), &image.name);
        }
        Ok(None)
    }
}
