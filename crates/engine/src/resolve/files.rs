//! Small files that come with a request. They are put into the private workspace: a directory of the
//! caller is never written by fumehood itself.

use std::path::{Component, Path};

use crate::{BoxPlan, Error, PlannedFile, Request};

/// Adds the files of a request to the box in which its program runs.
pub(super) fn add(plan: &mut BoxPlan, request: &Request, workspace: &Path) -> Result<(), Error> {
    for (path, content) in &request.files {
        check(path, request.workspace.is_some())?;
        plan.files.push(PlannedFile::new(workspace.join(path), 0o644, content.clone()));
    }
    Ok(())
}

fn check(path: &Path, is_the_callers: bool) -> Result<(), Error> {
    let refused = |reason, remedy| Err(Error::File { path: path.to_owned(), reason, remedy });
    if is_the_callers {
        return refused(
            "the workspace is a directory of yours",
            "write the file there yourself, or leave the workspace out",
        );
    }
    const REMEDY: &str = "write a relative path such as data/input.txt";
    let plain = |component| matches!(component, Component::Normal(_));
    match path.to_str() {
        None => refused("its path is not valid UTF-8", REMEDY),
        Some("") => refused("it has no name", REMEDY),
        Some(text) if text.contains('\0') => refused("its path holds a NUL byte", REMEDY),
        Some(text) if text.ends_with('/') => refused("its path ends in `/`", REMEDY),
        Some(_) if !path.components().all(plain) => {
            refused("its path is absolute or has `.` or `..` in it", REMEDY)
        }
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_relative_paths_are_taken() {
        for good in ["a", "a/b.txt", "dir/.hidden", "with space"] {
            assert!(check(Path::new(good), false).is_ok(), "{good}");
            assert!(check(Path::new(good), true).is_err(), "{good}");
        }
        for bad in ["", "/etc/passwd", "../a", "a/../../b", "./a", "a/", "a\0b"] {
            assert!(check(Path::new(bad), false).is_err(), "{bad}");
        }
    }
}
