//! Which images of ours an engine has.
//!
//! The label alone does not make an image ours: whoever builds on one of them inherits it. The name
//! must be ours too, or there must be none, and nothing on top of what we made.

use std::collections::HashMap;

use bollard::{models::ImageSummary, query_parameters::ListImagesOptionsBuilder};
use fumehood_core::image::{ImageRegistry, Weighed};

use super::{
    INPUTS_LABEL, ImageError, Images, NAME_LABEL, build::Target, full_reference, memory::Memory,
};
use crate::{BackendName, Bytes};

/// One of our images, whether the engine has it or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedImage {
    /// Its name.
    pub name: String,
    /// What is in it.
    pub description: String,
    /// The languages that run in it.
    pub languages: Vec<String>,
    /// What the engine has; absent where it has none.
    pub present: Option<PresentImage>,
}

/// An image that an engine has. Times are seconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresentImage {
    /// Its name among ours.
    pub name: String,
    /// The name that leads to it; absent where another has taken its place.
    pub reference: Option<String>,
    /// Its identity: the digest of its configuration, and through it of its content.
    pub id: String,
    /// Its size.
    pub size: Bytes,
    /// When it was made or fetched, if that is known.
    pub made: Option<u64>,
    /// When a box was last opened from it.
    pub used: Option<u64>,
    /// The digest of what it was made from.
    pub inputs: Option<String>,
    /// Whether it would be made from the same on this machine now, where that can be said.
    pub current: Option<bool>,
}

impl PresentImage {
    pub(super) fn weighed(&self) -> Weighed {
        let (size, made, used) = (self.size, self.made, self.used);
        Weighed { size, made, used, nameless: self.reference.is_none() }
    }
}

impl Images {
    /// All of our images, with what the engine has of them. What has no name any more stands at the
    /// end.
    pub async fn list(&self) -> Result<Vec<ListedImage>, ImageError> {
        let mut present = self.present().await?;
        let mut all = Vec::new();
        for spec in ImageRegistry::builtin().all() {
            let found = present
                .iter()
                .position(|image| image.reference.is_some() && image.name == spec.name)
                .map(|at| present.swap_remove(at));
            all.push(ListedImage {
                name: spec.name.clone(),
                description: spec.description.clone(),
                languages: spec.languages.clone(),
                present: found,
            });
        }
        all.extend(present.into_iter().map(|image| ListedImage {
            name: image.name.clone(),
            description: "left over: another has taken its place".to_owned(),
            languages: Vec::new(),
            present: Some(image),
        }));
        Ok(all)
    }

    /// What the engine has of ours.
    pub(super) async fn present(&self) -> Result<Vec<PresentImage>, ImageError> {
        let client = self.client().await?;
        let filters = HashMap::from([("label", vec![NAME_LABEL])]);
        let options = ListImagesOptionsBuilder::default().filters(&filters).build();
        let listed = client.list_images(Some(options)).await;
        let listed = listed.map_err(|error| self.refused("list", "its images", &error))?;
        let mut found = Vec::new();
        for summary in listed {
            let Some(image) = self.judge(&summary) else { continue };
            if image.reference.is_none() {
                let inspected = client.inspect_image(&summary.id).await.ok();
                let layers = inspected.and_then(|image| image.root_fs?.layers);
                if layers.is_none_or(|layers| layers.len() != 1) {
                    continue;
                }
            }
            found.push(image);
        }
        Ok(found)
    }

    /// What a summary says of an image, if it may be ours.
    fn judge(&self, summary: &ImageSummary) -> Option<PresentImage> {
        let (name, reference) = identified(self.backend(), summary)?;
        let memory = match &reference {
            Some(_) => Memory::read(self.cache(), self.backend(), &name),
            None => Memory::default(),
        };
        let inputs = summary.labels.get(INPUTS_LABEL).cloned();
        let current = Target::of_this_machine(&name)
            .zip(inputs.as_ref())
            .map(|(target, inputs)| target.inputs.as_str() == inputs);
        Some(PresentImage {
            reference,
            id: summary.id.clone(),
            size: Bytes::new(summary.size.max(0).cast_unsigned()),
            // What was made elsewhere since then is not what we remember.
            made: memory.made.filter(|_| memory.id.as_ref() == Some(&summary.id)),
            used: memory.used,
            inputs,
            current,
            name,
        })
    }
}

/// The name of an image among ours, and the reference that leads to it. `None` for images that only
/// inherit our label.
fn identified(backend: BackendName, summary: &ImageSummary) -> Option<(String, Option<String>)> {
    let name = summary.labels.get(NAME_LABEL)?.clone();
    let tags = || summary.repo_tags.iter().filter(|tag| !tag.starts_with("<none>"));
    let ours = full_reference(backend, &name);
    match tags().any(|tag| *tag == ours) {
        true => Some((name, Some(ours))),
        false if tags().next().is_none() => Some((name, None)),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(label: Option<&str>, tags: &[&str]) -> ImageSummary {
        ImageSummary {
            labels: label
                .map(|name| (NAME_LABEL.to_owned(), name.to_owned()))
                .into_iter()
                .collect(),
            repo_tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            ..ImageSummary::default()
        }
    }

    #[test]
    fn an_image_is_ours_by_label_and_name() {
        let docker = |label, tags: &[&str]| identified(BackendName::Docker, &summary(label, tags));
        let named = Some(("go".to_owned(), Some("fumehood/go:latest".to_owned())));
        assert_eq!(docker(Some("go"), &["fumehood/go:latest"]), named);
        assert_eq!(docker(Some("go"), &["golang:1.22", "fumehood/go:latest"]), named);
        let nameless = Some(("go".to_owned(), None));
        assert_eq!(docker(Some("go"), &[]), nameless);
        assert_eq!(docker(Some("go"), &["<none>:<none>"]), nameless);
        assert_eq!(docker(Some("go"), &["somebody/tool:latest"]), None, "built on one of ours");
        assert_eq!(docker(None, &["fumehood/go:latest"]), None, "it only has the name");
        let podman = identified(
            BackendName::Podman,
            &summary(Some("go"), &["localhost/fumehood/go:latest"]),
        );
        assert_eq!(podman.unwrap().1.as_deref(), Some("localhost/fumehood/go:latest"));
    }
}
