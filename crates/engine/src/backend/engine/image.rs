//! Which images of an engine are named like ours.

use crate::BackendName;

/// What the names of our own images begin with.
const PREFIX: &str = "fumehood/";

/// Whether an image is named like ours. Podman puts images without a registry under `localhost`.
pub(super) fn is_ours(engine: BackendName, tag: &str) -> bool {
    let name = match engine {
        BackendName::Podman => tag.strip_prefix("localhost/").unwrap_or(tag),
        _ => tag,
    };
    name.starts_with(PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_images_are_known_by_their_name() {
        assert!(is_ours(BackendName::Docker, "fumehood/python:latest"));
        assert!(is_ours(BackendName::Podman, "localhost/fumehood/python:latest"));
        assert!(!is_ours(BackendName::Docker, "docker.io/library/python:3"));
    }
}
