//! The git directory of a worktree, which lies outside of it: the file `.git` only names it.
//!
//! That file is content, and a stranger may have written it to have some other directory mounted.
//! So what it names is believed only if it is the git directory of a repository that names this
//! very worktree in turn, with no symbolic link on the way.

use std::{
    env,
    ffi::OsStr,
    fs::File,
    io::Read as _,
    os::unix::ffi::OsStrExt as _,
    path::{Component, Path, PathBuf},
};

use rustix::{
    fd::OwnedFd,
    fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2},
};

use super::paths;
use crate::{Mount, MountSource, Note};

/// The longest path that one of git's files may hold.
const LONGEST: u64 = 4096;

/// The repository of a worktree.
pub(super) struct Repository {
    /// Its git directory, which also holds that of the worktree.
    pub(super) directory: PathBuf,
    /// Where git inside the box looks for it.
    target: PathBuf,
    /// What the file `.git` says.
    named: String,
}

/// Looks at the workspace's `.git`. Nothing where it is a directory or not there: then all that
/// git needs is in the workspace.
pub(super) fn worktree(workspace: &Path, inside: &Path) -> Option<Result<Repository, Note>> {
    let top = open(workspace, OFlags::DIRECTORY | OFlags::PATH)?;
    let file = open_in(&top, ".git", OFlags::RDONLY | OFlags::NONBLOCK)?;
    if kind(&file) != FileType::RegularFile {
        return None;
    }
    let text = read(file).unwrap_or_default();
    let Some(named) = text.strip_prefix(b"gitdir: ").filter(|named| !named.is_empty()) else {
        return Some(Err(note("", "the file .git does not name a directory")));
    };
    let named = Path::new(OsStr::from_bytes(named));
    let found = repository(workspace, inside, named);
    Some(found.map_err(|reason| note(&named.to_string_lossy(), reason)))
}

/// Where the repository is mounted, if nothing else is there.
pub(super) fn place(found: &Repository, mounts: &[Mount]) -> Result<PathBuf, Note> {
    let taken = || note(&found.named, "its place in the box is taken");
    let target = paths::target(&found.target).map_err(|_| taken())?;
    let collides = |mount: &Mount| {
        let is_host = mount.source != MountSource::Scratch;
        mount.target.starts_with(&target) || (is_host && target.starts_with(&mount.target))
    };
    let own = ["/tmp", "/var/tmp"].iter().any(|own| Path::new(own).starts_with(&target));
    if own || mounts.iter().any(collides) { Err(taken()) } else { Ok(target) }
}

fn repository(workspace: &Path, inside: &Path, named: &Path) -> Result<Repository, &'static str> {
    let own = clean(&workspace.join(named));
    let directory = open(&own, OFlags::DIRECTORY | OFlags::PATH)
        .ok_or("it is not there, or a symbolic link is on the way")?;
    let content = |name: &str| {
        let file = open_in(&directory, name, OFlags::RDONLY | OFlags::NONBLOCK)?;
        (kind(&file) == FileType::RegularFile).then(|| read(file)).flatten()
    };
    let path_in = |name: &str| {
        let text = content(name).filter(|text| !text.is_empty())?;
        Some(clean(&own.join(OsStr::from_bytes(&text))))
    };
    let common = match (content("HEAD"), path_in("commondir")) {
        (Some(_), Some(common)) => common,
        (Some(_), None) if own.iter().any(|part| part == "modules") => {
            return Err("it is that of a submodule, which is not supported");
        }
        _ => return Err("it is not the git directory of a worktree"),
    };
    if path_in("gitdir") != Some(workspace.join(".git")) {
        return Err("it belongs to another worktree");
    }
    // The one way in which git lays them out, so that one mount holds both.
    let below = |path: &Path| Some(path.parent()?.parent()?.to_owned());
    let in_common = |path: &Path| path.parent().is_some_and(|parent| parent.ends_with("worktrees"));
    if below(&own).as_ref() != Some(&common) || !in_common(&own) {
        return Err("it does not lie in its repository");
    }
    let top = open(&common, OFlags::DIRECTORY | OFlags::PATH)
        .ok_or("its repository is not there, or a symbolic link is on the way")?;
    let has = |name: &str, expected| {
        open_in(&top, name, OFlags::PATH).is_some_and(|file| kind(&file) == expected)
    };
    if !(has("HEAD", FileType::RegularFile)
        && has("objects", FileType::Directory)
        && has("refs", FileType::Directory))
    {
        return Err("it does not lie in a git repository");
    }
    let home = env::var_os("HOME").map(PathBuf::from);
    if common.starts_with(workspace)
        || workspace.starts_with(&common)
        || home.is_some_and(|home| home.starts_with(&common))
    {
        return Err("its repository holds the workspace or your home, or lies in the workspace");
    }
    // Git inside goes from the workspace there. No link is on the way, so the text says where.
    let from_inside = clean(&inside.join(named));
    let target = below(&from_inside).filter(|_| in_common(&from_inside));
    let target = target.ok_or("its path leads elsewhere inside the box")?;
    Ok(Repository { directory: common, target, named: named.to_string_lossy().into_owned() })
}

fn note(named: &str, reason: &str) -> Note {
    Note::GitLeftOut { named: named.to_owned(), reason: reason.to_owned() }
}

/// An absolute path without `.` and `..`, as the kernel sees it where no link is on the way.
fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => clean.push(name),
            Component::ParentDir => {
                clean.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    clean
}

fn open(path: &Path, flags: OFlags) -> Option<OwnedFd> {
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    openat2(CWD, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve).ok()
}

fn open_in(directory: &OwnedFd, name: &str, flags: OFlags) -> Option<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    openat2(directory, name, flags | OFlags::CLOEXEC, Mode::empty(), resolve).ok()
}

fn kind(file: &OwnedFd) -> FileType {
    fstat(file).map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
}

/// The one line that such a file holds.
fn read(file: OwnedFd) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    File::from(file).take(LONGEST + 1).read_to_end(&mut text).ok()?;
    if text.len() as u64 > LONGEST || text.contains(&0) {
        return None;
    }
    while text.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
        text.pop();
    }
    Some(text)
}
