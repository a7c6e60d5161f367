//! Volumes are made, listed, held and removed.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    time::{Duration, SystemTime},
};

use super::*;

fn name(text: &str) -> VolumeName {
    text.parse().unwrap()
}

fn volumes() -> (tempfile::TempDir, Volumes) {
    let state = tempfile::tempdir().unwrap();
    let volumes = Volumes::in_state_dir(&state.path().join("state"));
    (state, volumes)
}

#[test]
fn a_volume_is_made_when_first_used_and_kept() {
    let (_state, volumes) = volumes();
    assert_eq!(volumes.list().unwrap(), []);
    let cache = name("cache");
    let data = volumes.data(&cache).unwrap();
    assert!(!data.exists(), "a plan makes nothing");
    drop(volumes.hold(std::slice::from_ref(&cache)).unwrap());
    fs::write(data.join("file"), [0; 5000]).unwrap();
    drop(volumes.hold(std::slice::from_ref(&cache)).unwrap());
    let listed = volumes.list().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((&listed[0].name, listed[0].size, listed[0].files), (&cache, Bytes::new(5000), 1));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&data), mode(&volumes.directory)), (0o700, 0o700));
}

#[test]
fn each_use_is_remembered() {
    let (_state, volumes) = volumes();
    let cache = [name("cache")];
    drop(volumes.hold(&cache).unwrap());
    let stamp = volumes.directory.join("cache/used");
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    fs::File::options().write(true).open(&stamp).unwrap().set_modified(long_ago).unwrap();
    assert!(volumes.list().unwrap()[0].last_used <= long_ago + Duration::from_secs(1));
    drop(volumes.hold(&cache).unwrap());
    assert!(volumes.list().unwrap()[0].last_used > long_ago + Duration::from_secs(60));
}

#[test]
fn what_is_in_use_stays() {
    let (_state, volumes) = volumes();
    let cache = [name("cache")];
    let first = volumes.hold(&cache).unwrap();
    let second = volumes.hold(&cache).unwrap();
    drop(first);
    let refused = volumes.remove(&cache[0]).unwrap_err();
    assert!(matches!(refused, VolumeError::InUse { .. }), "{refused}");
    assert!(volumes.data(&cache[0]).unwrap().exists());
    drop(second);
    volumes.remove(&cache[0]).unwrap();
    assert_eq!(volumes.list().unwrap(), []);
    assert_eq!(fs::read_dir(&volumes.directory).unwrap().count(), 0, "nothing is left");
}

#[test]
fn an_unknown_name_is_told_from_its_neighbours() {
    let (_state, volumes) = volumes();
    volumes.hold(&[name("cargo-cache"), name("pip")]).unwrap();
    let message = |given: &str| volumes.remove(&name(given)).unwrap_err().to_string();
    assert_eq!(
        message("cargo-cahce"),
        "there is no volume cargo-cahce (did you mean `cargo-cache`?): \
         `fumehood volume ls` lists them"
    );
    assert_eq!(
        message("unrelated"),
        "there is no volume unrelated: `fumehood volume ls` lists them"
    );
}

#[test]
fn what_an_earlier_removal_left_goes_with_the_next() {
    let (_state, volumes) = volumes();
    volumes.hold(&[name("one")]).unwrap();
    fs::create_dir_all(volumes.directory.join(".removed-1-old/data/deep")).unwrap();
    assert_eq!(volumes.list().unwrap().len(), 1, "it is no volume");
    volumes.remove(&name("one")).unwrap();
    assert_eq!(fs::read_dir(&volumes.directory).unwrap().count(), 0);
}
