//! Removes whatever a stranger left behind, in one go over the tree and without recursion: a tree
//! of any depth costs one open directory and no stack.

use std::{
    ffi::{CStr, CString},
    io,
};

use rustix::{
    fd::AsFd,
    fs::{AtFlags, FileType, unlinkat},
    io::Errno,
};

use super::walk::{Closed, Walk};

/// How often a directory that fills up again while it is removed is emptied once more.
const PATIENCE: u32 = 1000;

/// Removes a file or a whole tree below a directory. No symbolic link is followed and no other file
/// system entered; directories that are closed to their owner are opened first. What is not there
/// counts as removed.
pub(crate) fn remove(parent: impl AsFd, name: &CStr) -> io::Result<()> {
    let parent = parent.as_fd();
    match unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ISDIR) => {}
        Err(error) => return Err(error.into()),
    }
    let mut patience = PATIENCE;
    loop {
        match Walk::begin(parent, name, Closed::Open) {
            Ok(walk) => empty(walk, &mut patience)?,
            Err(Errno::NOENT) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        match unlinkat(parent, name, AtFlags::REMOVEDIR) {
            Err(Errno::NOTEMPTY) if patience > 0 => patience -= 1,
            Err(Errno::NOENT) => return Ok(()),
            removed => return Ok(removed?),
        }
    }
}

/// Removes everything in the directory that a walk begins in.
fn empty(mut walk: Walk, patience: &mut u32) -> Result<(), Errno> {
    // For the current directory and each above it: the directories that still have to go.
    let mut pending = vec![unlink_files(&walk)?];
    while let Some(directories) = pending.last_mut() {
        match directories.pop() {
            Some(name) => match walk.enter(&name) {
                Ok(()) => pending.push(unlink_files(&walk)?),
                Err(Errno::NOENT) => {}
                Err(error) => return Err(error),
            },
            None => {
                pending.pop();
                let Some(name) = walk.leave()? else { break };
                match unlinkat(walk.here(), &name, AtFlags::REMOVEDIR) {
                    Ok(()) | Err(Errno::NOENT) => {}
                    Err(Errno::NOTEMPTY) if *patience > 0 => {
                        *patience -= 1;
                        pending.last_mut().ok_or(Errno::NOTEMPTY)?.push(name);
                    }
                    Err(error) => return Err(error),
                }
            }
        }
    }
    Ok(())
}

/// Removes all but the directories from where the walk is; gives those.
fn unlink_files(walk: &Walk) -> Result<Vec<CString>, Errno> {
    let mut directories = Vec::new();
    for entry in walk.entries()? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        if entry.file_type() == FileType::Directory {
            directories.push(name.to_owned());
            continue;
        }
        match unlinkat(walk.here(), name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            // Not every file system says what its entries are.
            Err(Errno::ISDIR) => directories.push(name.to_owned()),
            Err(error) => return Err(error),
        }
    }
    Ok(directories)
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::{PermissionsExt as _, symlink},
        path::Path,
    };

    use rustix::fs::{Mode, OFlags, mkdirat, open, openat};

    use super::*;

    fn open_directory(path: &Path) -> rustix::fd::OwnedFd {
        open(path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap()
    }

    #[test]
    fn a_tree_of_any_depth_goes() {
        let place = tempfile::tempdir().unwrap();
        let parent = open_directory(place.path());
        mkdirat(&parent, c"deep", Mode::RWXU).unwrap();
        let mut here =
            openat(&parent, c"deep", OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..10_000 {
            mkdirat(&here, c"directory", Mode::RWXU).unwrap();
            let flags = OFlags::RDONLY | OFlags::DIRECTORY;
            here = openat(&here, c"directory", flags, Mode::empty()).unwrap();
        }
        openat(&here, c"file", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).unwrap();
        drop(here);
        remove(&parent, c"deep").unwrap();
        assert!(!place.path().join("deep").exists());
    }

    #[test]
    fn what_a_link_points_to_stays() {
        let place = tempfile::tempdir().unwrap();
        let outside = place.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept"), "").unwrap();
        let tree = place.path().join("tree");
        fs::create_dir_all(tree.join("a/b")).unwrap();
        symlink(&outside, tree.join("a/b/link")).unwrap();
        symlink("..", tree.join("a/up")).unwrap();
        symlink(&outside, place.path().join("only")).unwrap();
        let parent = open_directory(place.path());
        remove(&parent, c"tree").unwrap();
        remove(&parent, c"only").unwrap();
        remove(&parent, c"never-there").unwrap();
        assert!(!tree.exists());
        assert!(fs::symlink_metadata(place.path().join("only")).is_err());
        assert!(outside.join("kept").exists());
    }

    #[test]
    fn closed_directories_go_too() {
        let place = tempfile::tempdir().unwrap();
        let tree = place.path().join("tree");
        for (name, mode) in [("none", 0), ("read", 0o500), ("write", 0o300), ("search", 0o100)] {
            let directory = tree.join(name);
            fs::create_dir_all(directory.join("inner")).unwrap();
            fs::write(directory.join("file"), "").unwrap();
            fs::set_permissions(&directory, fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::set_permissions(&tree, fs::Permissions::from_mode(0o000)).unwrap();
        remove(open_directory(place.path()), c"tree").unwrap();
        assert!(!tree.exists());
    }
}
