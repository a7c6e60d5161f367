//! What a file of the workspace was when a run ended, so that a later look can tell whether it is
//! still the same.

use std::io::Read as _;

use rustix::{fd::AsFd, fs::Stat, io::Errno};
use serde::{Deserialize, Serialize};

use super::{
    record::errno,
    tree::{kind, link_target, open_file, permissions},
};
use crate::{Digest, FileKind};

/// Up to this size the content is remembered by its digest, so that a file that was only touched
/// counts as the same.
const MOST_DIGESTED: u64 = 4 << 20;

/// A point in time as file systems know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Moment {
    seconds: i64,
    nanos: u64,
}

impl Moment {
    /// When a file was last changed in any way. Programs cannot set it.
    pub(super) fn of_change(stat: &Stat) -> Moment {
        Moment { seconds: stat.st_ctime, nanos: stat.st_ctime_nsec }
    }

    fn of_content(stat: &Stat) -> Moment {
        Moment { seconds: stat.st_mtime, nanos: stat.st_mtime_nsec }
    }
}

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Stamp {
    pub(super) kind: FileKind,
    pub(super) mode: u32,
    size: u64,
    inode: u64,
    modified: Moment,
    pub(super) changed: Moment,
    digest: Option<Digest>,
}

impl Stamp {
    /// The stamp of a file in a directory.
    pub(super) fn take(directory: impl AsFd, name: &[u8], stat: &Stat) -> Stamp {
        Stamp { digest: digest(directory, name, stat), ..Stamp::without_digest(stat) }
    }

    fn without_digest(stat: &Stat) -> Stamp {
        Stamp {
            kind: kind(stat),
            mode: permissions(stat),
            size: stat.st_size as u64,
            inode: stat.st_ino,
            modified: Moment::of_content(stat),
            changed: Moment::of_change(stat),
            digest: None,
        }
    }

    /// Whether the file in a directory is still the same. Of a directory only itself counts, not
    /// what is in it.
    pub(super) fn still_holds(&self, directory: impl AsFd, name: &[u8], stat: &Stat) -> bool {
        let now = Stamp::without_digest(stat);
        if (self.kind, self.mode) != (now.kind, now.mode) {
            return false;
        }
        if self.kind == FileKind::Directory {
            return self.inode == now.inode;
        }
        let untouched = |stamp: &Stamp| (stamp.inode, stamp.size, stamp.modified, stamp.changed);
        untouched(self) == untouched(&now)
            || (self.size == now.size
                && self.digest.is_some()
                && self.digest == digest(directory, name, stat))
    }
}

/// `None` for what has no content, too much of it, or cannot be read.
fn digest(directory: impl AsFd, name: &[u8], stat: &Stat) -> Option<Digest> {
    match kind(stat) {
        FileKind::Symlink => link_target(directory, name).ok().map(|target| Digest::of(&target)),
        FileKind::File if (stat.st_size as u64) <= MOST_DIGESTED => {
            let content = read_at_most(directory, name, MOST_DIGESTED).ok()??;
            Some(Digest::of(&content))
        }
        _ => None,
    }
}

/// The content of a file, or `None` if there is more of it than this.
pub(super) fn read_at_most(
    directory: impl AsFd,
    name: &[u8],
    most: u64,
) -> Result<Option<Vec<u8>>, Errno> {
    let file = std::fs::File::from(open_file(directory, name)?);
    let mut content = Vec::new();
    file.take(most + 1).read_to_end(&mut content).map_err(|error| errno(&error))?;
    Ok((content.len() as u64 <= most).then_some(content))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::{super::tree::*, *};

    #[test]
    fn a_file_is_the_same_until_it_differs() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("f");
        fs::write(&path, "one").unwrap();
        let tree = Tree::open(home.path()).unwrap();
        let stat = || stat_in(tree.top(), b"f").unwrap().unwrap();
        let stamp = Stamp::take(tree.top(), b"f", &stat());
        let holds = || stamp.still_holds(tree.top(), b"f", &stat());
        assert!(holds());
        // Written again with the same content, under another inode: still the same.
        fs::remove_file(&path).unwrap();
        fs::write(&path, "one").unwrap();
        assert!(holds());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(!holds());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(holds());
        fs::write(&path, "two").unwrap();
        assert!(!holds());
    }
}
