//! The archive in which engines take whole images: a list, a configuration, one layer. Its
//! configuration is the identity of an image, so nothing in it differs from build to build.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Write},
    path::Path,
};

use fumehood_core::{Digest, DigestBuilder, image::ImageSpec, ledger::Moment};
use serde::Serialize;
use tar::{Builder, Header};

use super::{
    super::{INPUTS_LABEL, NAME_LABEL},
    Target,
};

const LAYER: &str = "layer.tar";

#[derive(Serialize)]
struct Configuration {
    architecture: &'static str,
    os: &'static str,
    created: String,
    config: Execution,
    rootfs: RootFs,
    history: [History; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Execution {
    env: Vec<String>,
    cmd: [&'static str; 1],
    labels: BTreeMap<&'static str, String>,
}

#[derive(Serialize)]
struct RootFs {
    #[serde(rename = "type")]
    kind: &'static str,
    diff_ids: [String; 1],
}

#[derive(Serialize)]
struct History {
    created: String,
    created_by: String,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Listing<'a> {
    config: String,
    repo_tags: [&'a str; 1],
    layers: [&'static str; 1],
}

/// The configuration of an image, as text.
#[derive(Clone)]
pub(super) struct Description(Vec<u8>);

impl Description {
    /// Of an image whose only layer has this digest.
    pub(super) fn new(spec: &ImageSpec, target: &Target, layer: &Digest) -> Description {
        let created = Moment::from_unix_millis(spec.epoch.saturating_mul(1000)).to_string();
        let variables = spec.environment().into_iter();
        let configuration = Configuration {
            architecture: target.architecture,
            os: "linux",
            created: created.clone(),
            config: Execution {
                env: variables.map(|(name, value)| format!("{name}={value}")).collect(),
                cmd: ["/bin/sh"],
                labels: BTreeMap::from([
                    (NAME_LABEL, spec.name.clone()),
                    (INPUTS_LABEL, target.inputs.to_string()),
                ]),
            },
            rootfs: RootFs { kind: "layers", diff_ids: [format!("sha256:{layer}")] },
            history: [History {
                created,
                created_by: format!("fumehood image build {}", spec.name),
            }],
        };
        // A structure of texts can always be written.
        Description(serde_json::to_vec(&configuration).unwrap_or_default())
    }

    /// What the engine will call the image.
    pub(super) fn digest(&self) -> Digest {
        let mut digest = DigestBuilder::default();
        digest.update(&self.0);
        digest.finish()
    }

    /// Writes the whole archive.
    pub(super) fn write(&self, reference: &str, layer: &Path, out: impl Write) -> io::Result<()> {
        let config = format!("{}.json", self.digest());
        let listing = [Listing { config: config.clone(), repo_tags: [reference], layers: [LAYER] }];
        let listing = serde_json::to_vec(&listing).map_err(io::Error::other)?;
        let mut builder = Builder::new(out);
        let mut append = |name: &str, size: u64, content: &mut dyn io::Read| {
            let mut header = Header::new_gnu();
            header.set_mode(0o644);
            header.set_size(size);
            builder.append_data(&mut header, name, content)
        };
        append("manifest.json", listing.len() as u64, &mut listing.as_slice())?;
        append(&config, self.0.len() as u64, &mut self.0.as_slice())?;
        let layer = File::open(layer)?;
        append(LAYER, layer.metadata()?.len(), &mut &layer)?;
        builder.into_inner()?.flush()
    }
}

#[cfg(test)]
mod tests {
    use fumehood_core::image::ImageRegistry;
    use serde_json::Value;

    use super::*;

    fn description() -> Description {
        let spec = ImageRegistry::builtin().find("go").unwrap();
        let (suite, architecture) = ("some".to_owned(), "amd64");
        let inputs = spec.inputs(&suite, architecture);
        Description::new(spec, &Target { suite, architecture, inputs }, &Digest::of(b"layer"))
    }

    #[test]
    fn the_configuration_names_the_image_and_nothing_that_changes() {
        let description = description();
        assert_eq!(description.digest(), self::description().digest());
        let config: Value = serde_json::from_slice(&description.0).unwrap();
        assert_eq!(config["config"]["Labels"][NAME_LABEL], "go");
        assert!(config["config"]["Labels"][INPUTS_LABEL].as_str().unwrap().len() == 64);
        assert_eq!(config["created"], "2025-01-01T00:00:00.000Z");
        let env = config["config"]["Env"].to_string();
        assert!(env.contains("GOTOOLCHAIN=local") && env.contains("PATH=/usr/local/sbin"), "{env}");
    }

    #[test]
    fn the_archive_holds_list_configuration_and_layer() {
        let directory = tempfile::tempdir().unwrap();
        let layer = directory.path().join("layer");
        std::fs::write(&layer, "content").unwrap();
        let mut out = Vec::new();
        let description = description();
        description.write("fumehood/go:latest", &layer, &mut out).unwrap();
        let mut archive = tar::Archive::new(out.as_slice());
        let mut found = BTreeMap::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().display().to_string();
            let mut content = String::new();
            io::Read::read_to_string(&mut entry, &mut content).unwrap();
            found.insert(path, content);
        }
        let listing: Value = serde_json::from_str(&found["manifest.json"]).unwrap();
        assert_eq!(listing[0]["RepoTags"][0], "fumehood/go:latest");
        assert_eq!(found[listing[0]["Layers"][0].as_str().unwrap()], "content");
        let config = &found[listing[0]["Config"].as_str().unwrap()];
        assert_eq!(config.as_bytes(), description.0);
    }
}
