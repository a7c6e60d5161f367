//! Archives, unpacked. Whatever is in them, nothing appears beside the directory of the cache.
#![no_main]

use std::{fs, path::Path};

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let place = tempfile::tempdir().expect("a directory");
    let (archive, cache) = (place.path().join("archive"), place.path().join("cache"));
    fs::write(&archive, bytes).expect("an archive");
    fs::create_dir(&cache).expect("a cache");
    let done = fumehood::fuzzing::unpack(&archive, &cache);
    assert_eq!(names(place.path()), ["archive", "cache"]);
    if let Ok(store) = done {
        assert!(store.starts_with(fs::canonicalize(&cache).expect("the cache")));
    }
});

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("the directory").flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
