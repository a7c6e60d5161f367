//! What an image is made for: a release of Debian and an architecture.

use std::fs;

use fumehood_core::{
    Digest,
    image::{ImageRegistry, ImageSpec},
};

use super::ImageError;

/// What an image is made for.
pub(in crate::image) struct Target {
    /// The release of Debian.
    pub(super) suite: String,
    /// As engines call it.
    pub(super) architecture: &'static str,
    /// The digest of everything that decides what is in the image.
    pub(in crate::image) inputs: Digest,
}

impl Target {
    /// What the data says, and this machine for the rest.
    pub(super) fn find(spec: &ImageSpec) -> Result<Target, ImageError> {
        let own = || code_name(&fs::read_to_string("/etc/os-release").unwrap_or_default());
        let suite = spec.suite.clone().or_else(own);
        let suite = suite.ok_or_else(|| ImageError::NoSuite { image: spec.name.clone() })?;
        let architecture = architecture();
        let inputs = spec.inputs(&suite, architecture);
        Ok(Target { suite, architecture, inputs })
    }

    /// What one of our images would be made for here, if it could be.
    pub(in crate::image) fn of_this_machine(name: &str) -> Option<Target> {
        Target::find(ImageRegistry::builtin().find(name).ok()?).ok()
    }
}

/// The release that a machine says it is. A word that is not plain is none.
fn code_name(os_release: &str) -> Option<String> {
    let value = os_release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="))?;
    let name = value.trim().trim_matches('"');
    let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase());
    plain.then(|| name.to_owned())
}

fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_is_that_of_the_machine() {
        let name = |text| code_name(text);
        assert_eq!(name("ID=debian\nVERSION_CODENAME=bookworm\n").as_deref(), Some("bookworm"));
        assert_eq!(name("VERSION_CODENAME=\"trixie\"").as_deref(), Some("trixie"));
        for none in ["", "ID=alpine", "VERSION_CODENAME=", "VERSION_CODENAME=--option"] {
            assert_eq!(name(none), None, "{none}");
        }
    }
}
