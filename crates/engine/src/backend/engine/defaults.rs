//! What the configuration says about engines and their containers, put on requests and plans.

use std::borrow::Cow;

use fumehood_core::config::{EngineSettings, Settings};

use crate::{BackendName, BoxPlan, Layer, Mount, Request, Tmpfs, image::DefaultImages};

/// What holds for containers where a request says nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineDefaults {
    /// The images.
    pub images: DefaultImages,
    /// Docker.
    pub docker: EngineSettings,
    /// Podman.
    pub podman: EngineSettings,
}

impl EngineDefaults {
    /// What the configuration says.
    pub fn of(settings: &Settings) -> EngineDefaults {
        EngineDefaults {
            images: DefaultImages::of(settings),
            docker: settings.docker.clone(),
            podman: settings.podman.clone(),
        }
    }

    /// The settings of one engine.
    pub(crate) fn engine(&self, backend: BackendName) -> &EngineSettings {
        if backend == BackendName::Podman { &self.podman } else { &self.docker }
    }

    /// The request with the runtime, the mounts and the variables of its engine. They obey the
    /// policy as if the caller had asked for them; what the caller asks for wins.
    pub(crate) fn asked<'a>(&self, request: &'a Request, backend: BackendName) -> Cow<'a, Request> {
        let mut request = Cow::Borrowed(request);
        if !backend.uses_images() {
            return request;
        }
        let settings = self.engine(backend);
        if let (None, Some(runtime)) = (&request.runtime, &settings.runtime.value) {
            request.to_mut().runtime = Some(runtime.as_str().to_owned());
        }
        for volume in &settings.volumes.value {
            let (source, target) = (&volume.source, &volume.target);
            request.to_mut().mounts.push(match volume.access {
                crate::Access::ReadOnly => Mount::read_only(source, target),
                crate::Access::ReadWrite => Mount::read_write(source, target),
            });
        }
        for (name, value) in &settings.env.value {
            if !request.env.contains_key(name.as_str()) {
                let (name, value) = (name.as_str().to_owned(), value.as_str().to_owned());
                request.to_mut().env.insert(name, value);
            }
        }
        request
    }

    /// Puts on a plan what no request can say.
    pub(crate) fn add(&self, plan: &mut BoxPlan, backend: BackendName) {
        let settings = self.engine(backend);
        if let Some(container) = &mut plan.container {
            let one = |tmpfs: &fumehood_core::config::Tmpfs| Tmpfs {
                path: tmpfs.path.clone(),
                size: tmpfs.size,
            };
            container.tmpfs = settings.tmpfs.value.iter().map(one).collect();
            if !settings.readonly.value {
                plan.without.push(Layer::ReadOnlyRoot);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Origin;

    fn defaults(pairs: &[(&str, &str)]) -> EngineDefaults {
        let mut settings = Settings::default();
        for (key, value) in pairs {
            settings.set(key, value, Origin::named("test")).unwrap();
        }
        EngineDefaults::of(&settings)
    }

    #[test]
    fn what_the_caller_asks_for_wins() {
        let defaults = defaults(&[
            ("docker.runtime", "runsc"),
            ("docker.volumes", "/data:/data:ro"),
            ("docker.env", "A=1,B=2"),
        ]);
        let mut request = Request::command(["true"]);
        request.env.insert("A".into(), "mine".into());
        let asked = defaults.asked(&request, BackendName::Docker);
        assert_eq!(asked.runtime.as_deref(), Some("runsc"));
        assert_eq!(asked.mounts, [Mount::read_only("/data", "/data")]);
        assert_eq!((asked.env["A"].as_str(), asked.env["B"].as_str()), ("mine", "2"));
        for other in [BackendName::Podman, BackendName::Native] {
            assert_eq!(*defaults.asked(&request, other), request, "{other} has none of it");
        }
    }
}
