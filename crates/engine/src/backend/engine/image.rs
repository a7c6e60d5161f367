//! Which image a box is made from.

use crate::BackendName;

/// What the names of our own images begin with.
pub(super) const PREFIX: &str = "fumehood/";

/// The image for commands that name no language.
const BASE: &str = "base";

/// The image of a language, or of plain commands, by its constant name.
pub(crate) fn default_image(language: Option<&str>) -> String {
    format!("{PREFIX}{}", language.unwrap_or(BASE))
}

/// The name under which an engine has an image. Podman puts images without a registry under
/// `localhost`.
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
    fn every_language_has_an_image_and_so_have_commands() {
        assert_eq!(default_image(Some("python")), "fumehood/python");
        assert_eq!(default_image(None), "fumehood/base");
        assert!(is_ours(BackendName::Docker, "fumehood/python:latest"));
        assert!(is_ours(BackendName::Podman, "localhost/fumehood/python:latest"));
        assert!(!is_ours(BackendName::Docker, "docker.io/library/python:3"));
    }
}
