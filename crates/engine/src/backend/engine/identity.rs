//! Who the program is in a container, so that files stay those of their owner.

use std::{fs, os::unix::fs::MetadataExt as _};

use fumehood_core::protocol::BOX_UID;

use crate::{Access, BackendName, Identity, Mount, MountSource};

/// A number that is nobody's on the host: inside and outside of an ordinary container users have
/// the same numbers, and those of people begin at 1000.
const NOBODYS: u32 = 1 << 30;

/// Who has the files that a box is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owner {
    uid: u32,
    gid: u32,
    writable: bool,
}

/// Who the program is, for a box of this engine with these mounts.
pub(super) fn identity(engine: BackendName, rootless: bool, mounts: &[Mount]) -> Identity {
    choose(engine, rootless, owner(mounts))
}

/// True if the daemon behind a socket is not root's: its containers have users of their own.
pub(super) fn is_rootless(socket: &std::path::Path) -> bool {
    fs::metadata(socket).is_ok_and(|found| found.uid() != 0)
}

fn choose(engine: BackendName, rootless: bool, owner: Option<Owner>) -> Identity {
    let (uid, gid) = match (rootless, owner) {
        // Only the caller is mapped one to one, and only where that is asked for.
        (true, Some(Owner { uid, gid, writable: true })) => match engine {
            BackendName::Podman => (uid, gid),
            // Root inside is the caller outside.
            _ => (0, 0),
        },
        (true, _) => (BOX_UID, BOX_UID),
        (false, Some(Owner { uid, gid, writable })) if uid != 0 || writable => (uid, gid),
        (false, _) => (NOBODYS, NOBODYS),
    };
    Identity { uid, gid }
}

/// The owner of what can be written, else of what is mounted at all.
fn owner(mounts: &[Mount]) -> Option<Owner> {
    let of_caller = || mounts.iter().filter(|mount| mount.owned);
    let writable = of_caller().find(|mount| is_host(mount) && mount.access == Access::ReadWrite);
    let mount = writable.or_else(|| of_caller().find(|mount| is_host(mount)))?;
    let MountSource::Host(path) = &mount.source else { return None };
    let writable = mount.access == Access::ReadWrite;
    // What is not there yet, such as a new volume, will be made by us.
    let (uid, gid) = fs::metadata(path).map_or_else(
        |_| (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw()),
        |found| (found.uid(), found.gid()),
    );
    Some(Owner { uid, gid, writable })
}

fn is_host(mount: &Mount) -> bool {
    matches!(mount.source, MountSource::Host(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uid(engine: BackendName, rootless: bool, owner: Option<(u32, bool)>) -> u32 {
        let owner = owner.map(|(uid, writable)| Owner { uid, gid: uid, writable });
        choose(engine, rootless, owner).uid
    }

    #[test]
    fn files_stay_those_of_their_owner() {
        let docker = |rootless, owner| uid(BackendName::Docker, rootless, owner);
        assert_eq!(docker(false, None), NOBODYS);
        assert_eq!(docker(false, Some((1000, true))), 1000);
        assert_eq!(docker(false, Some((1000, false))), 1000);
        assert_eq!(docker(false, Some((0, false))), NOBODYS, "nothing is written as root");
        assert_eq!(docker(true, Some((1000, true))), 0, "which is the caller outside");
        assert_eq!(docker(true, Some((1000, false))), BOX_UID);
        assert_eq!(uid(BackendName::Podman, true, Some((1000, true))), 1000);
    }

    #[test]
    fn the_writable_mount_decides() {
        let directory = tempfile::tempdir().unwrap();
        let mounts = [
            Mount::scratch("/tmp"),
            Mount::read_only("/", "/a"),
            Mount::read_write(directory.path(), "/b"),
        ];
        assert!(owner(&mounts).is_some_and(|owner| owner.writable));
        assert_eq!(owner(&mounts[..1]), None);
        assert!(owner(&mounts[..2]).is_some_and(|owner| !owner.writable));
    }
}
