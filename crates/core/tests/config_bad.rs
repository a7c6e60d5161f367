//! Configuration files that are wrong, each with the whole message that a person gets for it.
//!
//! The fixtures are in `config/bad`: `user-*` are read as the user's file, `project-*` as that of a
//! project. `UPDATE_SNAPSHOTS=1` writes the messages anew.

use std::{fs, path::Path, sync::Arc};

use fumehood_core::config::{ConfigFile, Format, Owner, Settings};

#[test]
fn every_mistake_is_shown_where_it_is() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config/bad");
    let update = std::env::var_os("UPDATE_SNAPSHOTS").is_some();
    let mut count = 0;
    for entry in fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "message") {
            assert!(path.with_extension("").exists(), "{} is left over", path.display());
            continue;
        }
        let message = refusal(&path) + "\n";
        let expected = path.with_added_extension("message");
        if update {
            fs::write(&expected, &message).unwrap();
        }
        let known = fs::read_to_string(&expected).unwrap_or_default();
        assert_eq!(message, known, "{}", path.display());
        count += 1;
    }
    assert!(count >= 30, "only {count} fixtures are left");
}

/// What is said about a file.
fn refusal(path: &Path) -> String {
    let name: Arc<str> = path.file_name().unwrap().to_str().unwrap().into();
    let owner = match name.split_once('-') {
        Some(("user", _)) => Owner::User,
        Some(("project", _)) => Owner::Project,
        _ => panic!("whose file is {name}?"),
    };
    let text = fs::read_to_string(path).unwrap();
    let read = |owner| {
        let format = Format::of(path);
        Settings::default().read_file(&ConfigFile { name: &name, text: &text, format, owner })
    };
    if owner == Owner::Project {
        assert_eq!(read(Owner::User), Ok(()), "{name}: a user may say so");
    }
    let problem = read(owner).expect_err(&name);
    assert!(problem.origin().unwrap().place.is_some(), "{name} has no place");
    problem.to_string()
}
