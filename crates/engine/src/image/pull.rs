//! Fetching an image from a registry, by the engine.

use std::{collections::HashMap, future::poll_fn, pin::pin};

use bollard::{models::CreateImageInfo, query_parameters::CreateImageOptionsBuilder};
use futures_core::Stream as _;

use super::{ImageError, Images, Progress, Watcher, memory::remember_making, own_name, said};

impl Images {
    /// Fetches an image by its reference, such as `fumehood/python` or `registry.example/x:1`.
    /// What an engine has of a fetch that failed it keeps to itself; no image appears.
    pub async fn pull(&self, reference: &str, watcher: Watcher<'_>) -> Result<(), ImageError> {
        let client = self.client().await?;
        let failed = |message: String| ImageError::NotFetched {
            backend: self.backend(),
            image: reference.to_owned(),
            message,
            own: own_name(reference),
        };
        let (image, tag) = split(reference);
        let options = CreateImageOptionsBuilder::default().from_image(image).tag(tag).build();
        let mut stream = pin!(client.create_image(Some(options), None, None));
        let mut layers = Layers::default();
        while let Some(info) = poll_fn(|context| stream.as_mut().poll_next(context)).await {
            let info = info.map_err(|error| failed(said(&error)))?;
            watcher(layers.hear(reference, info));
        }
        // Not every engine says in the stream that it failed.
        let found = client.inspect_image(reference).await;
        let found = found.map_err(|error| failed(said(&error)))?;
        if let (Some(name), Some(id)) = (own_name(reference), found.id) {
            remember_making(self.cache(), self.backend(), name, &id);
        }
        Ok(())
    }
}

/// Name and tag, or name with digest. Without a tag an engine would fetch all there are.
fn split(reference: &str) -> (&str, &str) {
    let after_path = reference.rfind('/').map_or(0, |at| at + 1);
    match reference[after_path..].rfind(':') {
        _ if reference.contains('@') => (reference, ""),
        Some(at) => (&reference[..after_path + at], &reference[after_path + at + 1..]),
        None => (reference, "latest"),
    }
}

/// The layers of an image that is being fetched, each with what is there of how much.
#[derive(Default)]
struct Layers {
    known: HashMap<String, (u64, u64)>,
}

impl Layers {
    fn hear(&mut self, reference: &str, info: CreateImageInfo) -> Progress {
        let number = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
        if let (Some(id), Some(detail)) = (info.id, info.progress_detail)
            && let (Some(done), Some(total)) = (number(detail.current), number(detail.total))
        {
            self.known.insert(id, (done.min(total), total));
        }
        let sum = |part: fn(&(u64, u64)) -> u64| self.known.values().map(part).sum::<u64>();
        let bytes = (!self.known.is_empty()).then(|| (sum(|layer| layer.0), sum(|layer| layer.1)));
        Progress { what: info.status.unwrap_or_else(|| format!("fetching {reference}")), bytes }
    }
}

#[cfg(test)]
mod tests {
    use bollard::models::ProgressDetail;

    use super::*;

    #[test]
    fn a_reference_has_one_tag() {
        for (reference, parts) in [
            ("fumehood/go", ("fumehood/go", "latest")),
            ("go:1", ("go", "1")),
            ("host:5000/go", ("host:5000/go", "latest")),
            ("host:5000/go:2", ("host:5000/go", "2")),
            ("go@sha256:00", ("go@sha256:00", "")),
        ] {
            assert_eq!(split(reference), parts);
        }
    }

    #[test]
    fn what_is_fetched_adds_up() {
        let mut layers = Layers::default();
        let info = |id: &str, current, total| CreateImageInfo {
            id: Some(id.to_owned()),
            status: Some("Downloading".to_owned()),
            progress_detail: Some(ProgressDetail { current, total }),
            ..CreateImageInfo::default()
        };
        assert_eq!(layers.hear("x", CreateImageInfo::default()), Progress::step("fetching x"));
        layers.hear("x", info("a", Some(5), Some(10)));
        layers.hear("x", info("b", None, None));
        let progress = layers.hear("x", info("c", Some(30), Some(20)));
        assert_eq!(progress, Progress { what: "Downloading".into(), bytes: Some((25, 30)) });
    }
}
