//! The catalogue of attacks, carried out at a place.

use std::{
    collections::BTreeMap,
    env, fs,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use fumehood::{
    BackendName, Sandbox,
    verify::{self, Verification},
};
use tempfile::TempDir;

use crate::{Place, engines};

/// One per place: each has a sandbox of its own, which knows the names of the attacks and records
/// nothing by itself.
static VERIFICATIONS: Mutex<BTreeMap<&'static str, Arc<(Verification, TempDir)>>> =
    Mutex::new(BTreeMap::new());

/// Attacks on the boxes of a place. To be called inside a runtime.
pub(crate) fn verification(place: &Place) -> Arc<(Verification, TempDir)> {
    let mut all = VERIFICATIONS.lock().unwrap_or_else(PoisonError::into_inner);
    all.entry(place.name).or_insert_with(|| Arc::new(begin(place))).clone()
}

fn begin(place: &Place) -> (Verification, TempDir) {
    let directory = tempfile::Builder::new()
        .prefix("fumehood-tests-")
        .tempdir()
        .expect("a directory for the attacks");
    let mut builder = Sandbox::builder()
        .cache_dir(directory.path().join("cache"))
        .state_dir(directory.path().join("state"))
        .resolver(Arc::new(verify::names()));
    for engine in engines::named() {
        builder = match engine.backend {
            BackendName::Podman => builder.podman_host(engine.host),
            _ => builder.docker_host(engine.host),
        };
    }
    let sandbox = builder.build().expect("a sandbox");
    let verification = Verification::new(sandbox, place.backend).expect("a verification");
    (verification.image(place.image.clone()).tool(program(), place.variables()), directory)
}

/// The program named by `FUMEHOOD_BIN`, else the one that was built beside these tests.
pub fn program() -> PathBuf {
    let beside = || {
        let tests = env::current_exe().expect("the path of these tests");
        tests.ancestors().nth(2).expect("target/PROFILE").join("fumehood")
    };
    let program = env::var_os("FUMEHOOD_BIN").map_or_else(beside, PathBuf::from);
    assert!(
        program.exists(),
        "{} is missing: run `cargo build --package fumehood-cli`",
        program.display()
    );
    program
}

/// Removes what the attacks left behind. Their sandboxes end with the process.
pub(crate) fn clean_up() {
    for one in VERIFICATIONS.lock().unwrap_or_else(PoisonError::into_inner).values() {
        let _ = fs::remove_dir_all(one.1.path());
    }
}
