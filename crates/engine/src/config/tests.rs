//! Layers, places, and files that are none, in temporary directories.

use std::{ffi::OsString, fs, path::Path};

use tempfile::TempDir;

use super::*;
use crate::Bytes;

/// A home with a directory for the configuration and a project with a deep directory.
struct World {
    root: TempDir,
}

impl World {
    fn new() -> World {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("config")).unwrap();
        fs::create_dir_all(root.path().join("project/a/b")).unwrap();
        World { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn environment(&self, variables: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        let config = ("FUMEHOOD_CONFIG_DIR".into(), self.path("config").into_os_string());
        let others = variables.iter().map(|(name, value)| (name.into(), value.into()));
        [config].into_iter().chain(others).collect()
    }

    fn load(&self, variables: &[(&str, &str)]) -> Result<Configuration, ConfigError> {
        Configuration::load(&self.path("project/a/b"), self.environment(variables))
    }

    #[track_caller]
    fn refusal(&self, variables: &[(&str, &str)]) -> String {
        self.load(variables).unwrap_err().to_string()
    }
}

#[test]
fn without_files_everything_is_default() {
    let world = World::new();
    assert_eq!(world.load(&[]).unwrap(), Configuration::default());
    assert!(Configuration::load(Path::new("/"), []).is_ok(), "not even a home is needed");
}

#[test]
fn each_layer_wins_over_the_one_before() {
    let world = World::new();
    let memory = |variables: &[(&str, &str)]| {
        let memory = world.load(variables).unwrap().settings.limits.memory;
        (memory.value, memory.origin.to_string())
    };
    world.write("config/fumehood.toml", "[limits]\nmemory = \"1m\"\n");
    let user = world.path("config/fumehood.toml").display().to_string();
    assert_eq!(memory(&[]), (Some(Bytes::mib(1)), format!("{user}:2")));
    world.write("project/fumehood.yaml", "limits: {memory: 2m}\n");
    let project = world.path("project/fumehood.yaml").display().to_string();
    assert_eq!(memory(&[]), (Some(Bytes::mib(2)), format!("{project}:1")));
    let variables = [("FUMEHOOD_MEMORY", "3m")];
    assert_eq!(memory(&variables), (Some(Bytes::mib(3)), "FUMEHOOD_MEMORY".into()));
    assert_eq!(memory(&[("FUMEHOOD_MEMORY", "")]).0, Some(Bytes::mib(2)), "empty is unset");
    let mut settings = world.load(&variables).unwrap().settings;
    settings.set("limits.memory", "4m", Origin::named("--memory")).unwrap();
    assert_eq!(settings.limits.memory.origin.to_string(), "--memory");
}

#[test]
fn the_nearest_project_counts() {
    let world = World::new();
    world.write("project/fumehood.toml", "[executor]\ntype = \"docker\"\n");
    world.write("project/a/fumehood.json", "{\"executor\": {\"type\": \"podman\"}}");
    let settings = world.load(&[]).unwrap().settings;
    assert_eq!(settings.executor.kind.value, BackendChoice::Named(crate::BackendName::Podman));
}

#[test]
fn two_files_in_one_place_are_refused() {
    for place in ["config", "project/a"] {
        let world = World::new();
        world.write(&format!("{place}/fumehood.toml"), "");
        world.write(&format!("{place}/fumehood.yaml"), "");
        let refusal = world.refusal(&[]);
        assert!(refusal.contains(&format!("{place}/fumehood.toml and ")), "{refusal}");
        assert!(refusal.contains("fumehood.yaml are both there: keep one of them"), "{refusal}");
    }
}

#[test]
fn a_project_is_a_stranger_and_a_user_is_not() {
    let world = World::new();
    let text = "[executor]\nfallback = \"local\"\n";
    world.write("config/fumehood.toml", text);
    assert!(world.load(&[]).is_ok());
    world.write("project/fumehood.toml", text);
    let refusal = world.refusal(&[]);
    assert!(refusal.contains("cannot be chosen by the file of a project"), "{refusal}");
    assert!(refusal.contains("FUMEHOOD_EXECUTOR_FALLBACK"), "{refusal}");
    fs::remove_file(world.path("project/fumehood.toml")).unwrap();
    assert!(world.load(&[("FUMEHOOD_EXECUTOR_FALLBACK", "local")]).is_ok());
}

#[test]
fn the_directory_of_the_user_is_no_project() {
    let world = World::new();
    world.write("config/fumehood.toml", "[executor]\ntype = \"local\"\n");
    let inside = world.path("config");
    let loaded = Configuration::load(&inside, world.environment(&[])).unwrap();
    assert_eq!(
        loaded.settings.executor.kind.value,
        BackendChoice::Named(crate::BackendName::Local)
    );
}

#[test]
fn variables_are_checked_and_near_misses_are_told() {
    let world = World::new();
    let refusal = world.refusal(&[("FUMEHOOD_TIMEOUT", "soon")]);
    assert!(refusal.contains("`limits.timeout`: `soon` is not a time"), "{refusal}");
    assert!(refusal.ends_with("--> FUMEHOOD_TIMEOUT"), "{refusal}");
    let strange = [("FUMEHOOD_MEMROY", "1g"), ("FUMEHOOD_BIN", "x"), ("FUMEHOOD_STATE_DIR", "/s")];
    let loaded = world.load(&strange).unwrap();
    assert_eq!(
        loaded.warnings,
        ["the variable FUMEHOOD_MEMROY is not known: did you mean FUMEHOOD_MEMORY?"]
    );
}

#[cfg(unix)]
#[test]
fn what_is_no_text_file_is_refused_at_once() {
    use std::os::unix::{ffi::OsStringExt as _, fs::symlink};

    let name = "project/fumehood.toml";
    let world = World::new();
    fs::create_dir(world.path(name)).unwrap();
    assert!(world.refusal(&[]).contains("is not a regular file"));
    fs::remove_dir(world.path(name)).unwrap();

    rustix::fs::mknodat(
        rustix::fs::CWD,
        world.path(name),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    assert!(world.refusal(&[]).contains("is not a regular file"), "and nobody waits for a writer");
    fs::remove_file(world.path(name)).unwrap();

    symlink("nowhere", world.path(name)).unwrap();
    assert!(world.refusal(&[]).contains("cannot be read (No such file or directory)"));
    fs::remove_file(world.path(name)).unwrap();

    world.write("elsewhere.toml", "[limits]\npids = 7\n");
    symlink(world.path("elsewhere.toml"), world.path(name)).unwrap();
    assert_eq!(world.load(&[]).unwrap().settings.limits.overrides().pids, Some(7));
    fs::remove_file(world.path(name)).unwrap();

    world.write(name, &"#".repeat((1 << 20) + 1));
    assert!(world.refusal(&[]).contains("is larger than 1048576 bytes"));
    fs::write(world.path(name), b"# \xff\n").unwrap();
    assert!(world.refusal(&[]).contains("is not valid UTF-8"));
    fs::remove_file(world.path(name)).unwrap();

    let odd = ("FUMEHOOD_MEMORY".into(), OsString::from_vec(vec![0xff]));
    let loaded = Configuration::load(&world.path("project"), [odd]);
    assert!(loaded.unwrap_err().to_string().starts_with("the variable FUMEHOOD_MEMORY is not"));
}

#[test]
fn where_it_was_looked_ends_at_what_was_found() {
    let world = World::new();
    world.write("project/fumehood.toml", "");
    let from = world.path("project/a/b");
    let looked = Configuration::looked(&from, world.environment(&[])).unwrap();
    let directories: Vec<_> = looked.iter().map(|each| each.directory.clone()).collect();
    let expected = ["config", "project/a/b", "project/a", "project"].map(|name| world.path(name));
    assert_eq!(directories, expected);
    assert_eq!(looked[3].found, [world.path("project/fumehood.toml")]);
    assert!(looked[..3].iter().all(|each| each.found.is_empty()));
}
