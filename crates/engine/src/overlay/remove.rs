//! Removing a tree that a program in a box has made, however deep it is.
//!
//! Directories are moved up to the top before they are emptied: neither the stack nor the number
//! of open files nor the length of a path grows with the depth.

use std::collections::VecDeque;

use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, Mode, chmodat, renameat, unlinkat},
    io::Errno,
};

use super::tree::{kind, names, open_directory, stat_in};
use crate::FileKind;

/// Removes everything in a directory that nobody else writes to.
pub(super) fn empty(top: &OwnedFd) -> Result<(), Errno> {
    let mut waiting: VecDeque<Vec<u8>> = VecDeque::new();
    let mut next = 0u64;
    // What an earlier attempt moved here has its name already.
    for name in names(top)? {
        if is_directory(top, &name)? {
            waiting.push_back(name);
        } else {
            unlinkat(top, name.as_slice(), AtFlags::empty())?;
        }
    }
    while let Some(name) = waiting.pop_front() {
        make_accessible(top, &name)?;
        let directory = open_directory(top, &name)?;
        for child in names(&directory)? {
            if !is_directory(&directory, &child)? {
                unlinkat(&directory, child.as_slice(), AtFlags::empty())?;
                continue;
            }
            // Its owner must be able to write to it, for its way up is written in it.
            make_accessible(&directory, &child)?;
            let moved = loop {
                let name = format!("removed-{next}").into_bytes();
                next += 1;
                if stat_in(top, &name)?.is_none() {
                    break name;
                }
            };
            renameat(&directory, child.as_slice(), top, moved.as_slice())?;
            waiting.push_back(moved);
        }
        unlinkat(top, name.as_slice(), AtFlags::REMOVEDIR)?;
    }
    Ok(())
}

fn is_directory(directory: &OwnedFd, name: &[u8]) -> Result<bool, Errno> {
    Ok(stat_in(directory, name)?.is_some_and(|stat| kind(&stat) == FileKind::Directory))
}

fn make_accessible(directory: &OwnedFd, name: &[u8]) -> Result<(), Errno> {
    chmodat(directory, name, Mode::from_raw_mode(0o700), AtFlags::empty())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{super::tree::Tree, *};

    #[test]
    fn depth_does_not_matter() {
        const DEPTH: usize = 10_000;
        let home = tempfile::tempdir().unwrap();
        let tree = Tree::open(home.path()).unwrap();
        let mut directory = rustix::io::dup(tree.top()).unwrap();
        for _ in 0..DEPTH {
            rustix::fs::mkdirat(&directory, "d", Mode::from_raw_mode(0o700)).unwrap();
            directory = open_directory(&directory, b"d").unwrap();
        }
        fs::write(home.path().join("file"), "").unwrap();
        std::os::unix::fs::symlink("/", home.path().join("link")).unwrap();
        fs::create_dir(home.path().join("removed-0")).unwrap();
        empty(tree.top()).unwrap();
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
        assert!(fs::exists("/").unwrap());
    }
}
