//! The container engines that the tests may use. Daemons are not started by tests: whoever runs
//! them says in the environment where they are, and which image they have.

use std::env;

use fumehood::BackendName;

/// An engine and the image for all cases.
#[derive(Clone)]
pub(crate) struct Engine {
    pub(crate) backend: BackendName,
    pub(crate) host: String,
    pub(crate) image: String,
}

/// Every engine that was named.
pub(crate) fn named() -> Vec<Engine> {
    let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    [(BackendName::Docker, "FUMEHOOD_TEST_DOCKER"), (BackendName::Podman, "FUMEHOOD_TEST_PODMAN")]
        .into_iter()
        .filter_map(|(backend, name)| {
            let host = variable(name)?;
            let image = variable("FUMEHOOD_TEST_IMAGE")
                .unwrap_or_else(|| panic!("{name} is set, and FUMEHOOD_TEST_IMAGE must be too"));
            Some(Engine { backend, host, image })
        })
        .collect()
}
