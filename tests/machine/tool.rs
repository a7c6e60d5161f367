//! The command line program, as these tests start it.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

use fumehood_tests::{Scene, program};

/// Where `fumehood` is.
pub struct Tool {
    program: PathBuf,
    cache: PathBuf,
}

impl Tool {
    /// The program named by `FUMEHOOD_BIN`, else the one that was built beside these tests.
    pub fn find(scene: &Scene) -> Tool {
        Tool { program: program(), cache: scene.directory("cache") }
    }

    /// `fumehood exec` at the scene's place, ready to be started.
    pub fn exec(&self, scene: &Scene, words: &[&str]) -> Command {
        self.exec_with(scene, &[], words)
    }

    /// The same with further options.
    pub fn exec_with(&self, scene: &Scene, options: &[&str], words: &[&str]) -> Command {
        let mut command = self.plain(scene);
        command
            .args(["exec", "--workspace", "none", "--backend", scene.place.backend.name()])
            .args(options)
            .args(scene.place.image.iter().flat_map(|image| ["--image", image.as_str()]))
            .arg("--")
            .args(words)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// `fumehood` without any arguments yet, at the scene's place.
    pub fn plain(&self, scene: &Scene) -> Command {
        let mut command = Command::new(&self.program);
        command
            .envs(scene.place.variables())
            .env("FUMEHOOD_CACHE_DIR", &self.cache)
            .env("FUMEHOOD_STATE_DIR", self.cache.with_file_name("state"))
            .env("FUMEHOOD_CONFIG_DIR", self.cache.with_file_name("config"))
            .stdin(Stdio::null());
        command
    }
}
