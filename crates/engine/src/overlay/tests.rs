//! Overlays without a box: the upper layer is made by hand, as the kernel would leave it.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use rustix::fs::{CWD, FileType, Mode, XattrFlags, mkdirat, mknodat, setxattr};
use tempfile::TempDir;

use super::{
    storage::{Kept, Storage},
    tree::open_directory,
    *,
};
use crate::RunId;

/// A workspace and a state directory, both empty.
struct Bench {
    home: TempDir,
}

impl Bench {
    fn new() -> Bench {
        let bench = Bench { home: tempfile::tempdir().unwrap() };
        fs::create_dir(bench.lower("")).unwrap();
        bench
    }

    fn lower(&self, path: &str) -> PathBuf {
        self.home.path().join("workspace").join(path)
    }

    fn state(&self) -> PathBuf {
        self.home.path().join("state")
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.lower(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.lower(path)).unwrap()
    }

    fn create(&self) -> Storage {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let id = RunId::new(1, std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let lower = fs::canonicalize(self.lower("")).unwrap();
        Storage::create(
            &self.state(),
            &id,
            &lower,
            &["test".to_owned()],
            &super::guarded(std::iter::empty()),
        )
        .unwrap()
    }

    /// Lets something happen to the upper layer.
    fn run(&self, change: impl FnOnce(&Path)) -> Kept {
        let storage = self.create();
        change(&storage.path().join("upper"));
        storage.finish().unwrap()
    }

    fn overlay(&self) -> Overlay {
        Overlays::new(Some(&self.state())).unwrap().find(None).unwrap()
    }

    fn apply(&self, paths: &[&str]) -> Result<Applied, OverlayError> {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        self.overlay().apply(&paths)
    }

    fn conflicts(&self, paths: &[&str]) -> Vec<String> {
        match self.apply(paths) {
            Err(OverlayError::Conflicts { conflicts }) => {
                conflicts.iter().map(|(path, conflict)| format!("{path}: {conflict}")).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    fn diff(&self) -> String {
        let mut text = Vec::new();
        self.overlay().diff(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    fn overlays_left(&self) -> usize {
        fs::read_dir(self.state().join("overlays")).unwrap().count()
    }
}

fn whiteout(path: PathBuf) {
    mknodat(CWD, path, FileType::CharacterDevice, Mode::empty(), 0).unwrap();
}

fn make_opaque(path: &Path) {
    setxattr(path, "user.overlay.opaque", b"y", XattrFlags::empty()).unwrap();
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn lines(kept: &Kept) -> Vec<String> {
    kept.changes
        .iter()
        .map(|change| format!("{} {} {:?}", change.kind.letter(), change.path, change.file))
        .collect()
}

#[test]
fn every_kind_of_change_is_found_and_applied() {
    let bench = Bench::new();
    for (path, content) in [
        ("edited", "old\n"),
        ("same", "same\n"),
        ("mode", "m"),
        ("gone", "g"),
        ("tree/deep/file", "f"),
        ("again/kept", "kept"),
        ("again/lost", "lost"),
        ("to_directory", "file"),
        ("to_link/inner/file", "x"),
        ("to_file/a", "a"),
    ] {
        bench.write(path, content);
    }
    symlink("to_link", bench.lower("link_to_directory")).unwrap();
    let kept = bench.run(|upper| {
        fs::write(upper.join("edited"), "new\n").unwrap();
        fs::write(upper.join("same"), "same\n").unwrap();
        fs::write(upper.join("mode"), "m").unwrap();
        set_mode(&upper.join("mode"), 0o4755);
        whiteout(upper.join("gone"));
        whiteout(upper.join("tree"));
        fs::create_dir(upper.join("again")).unwrap();
        make_opaque(&upper.join("again"));
        fs::write(upper.join("again/kept"), "kept").unwrap();
        fs::write(upper.join("again/new"), "new").unwrap();
        fs::create_dir_all(upper.join("to_directory/sub")).unwrap();
        fs::write(upper.join("to_directory/sub/f"), "f").unwrap();
        symlink("/etc", upper.join("to_link")).unwrap();
        fs::write(upper.join("to_file"), "now a file").unwrap();
        fs::create_dir(upper.join("link_to_directory")).unwrap();
        fs::write(upper.join("link_to_directory/f"), "f").unwrap();
        fs::write(upper.join("binary"), b"\0\x01").unwrap();
        symlink("nowhere", upper.join("dangling")).unwrap();
    });
    assert_eq!(
        lines(&kept),
        [
            "D again/lost File",
            "A again/new File",
            "A binary File",
            "A dangling Symlink",
            "M edited File",
            "D gone File",
            "T link_to_directory Directory",
            "A link_to_directory/f File",
            "M mode File",
            "T to_directory Directory",
            "A to_directory/sub Directory",
            "A to_directory/sub/f File",
            "T to_file File",
            "D to_file/a File",
            "T to_link Symlink",
            "D to_link/inner Directory",
            "D to_link/inner/file File",
            "D tree Directory",
            "D tree/deep Directory",
            "D tree/deep/file File",
        ]
    );
    assert_eq!(bench.read("edited"), "old\n", "nothing happens before apply");
    let applied = bench.apply(&[]).unwrap();
    assert!(applied.removed && applied.left_out.is_empty());
    assert_eq!(bench.overlays_left(), 0);
    assert_eq!(bench.read("edited"), "new\n");
    assert_eq!(bench.read("again/new"), "new");
    assert!(!bench.lower("again/lost").exists() && !bench.lower("tree").exists());
    assert_eq!(bench.read("to_directory/sub/f"), "f");
    assert_eq!(fs::read_link(bench.lower("to_link")).unwrap(), Path::new("/etc"));
    assert_eq!(bench.read("to_file"), "now a file");
    assert!(fs::symlink_metadata(bench.lower("link_to_directory")).unwrap().is_dir());
    assert_eq!(fs::read(bench.lower("binary")).unwrap(), b"\0\x01");
    assert_eq!(fs::read_link(bench.lower("dangling")).unwrap(), Path::new("nowhere"));
    let mode = fs::metadata(bench.lower("mode")).unwrap().mode() & 0o7777;
    assert_eq!(mode, 0o755, "set-user-id is not carried over");
    let left: Vec<_> =
        fs::read_dir(bench.lower("")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(".fumehood")), "{left:?}");
}

#[test]
fn a_run_that_changes_nothing_leaves_nothing() {
    let bench = Bench::new();
    bench.write("d/f", "same");
    let kept = bench.run(|upper| {
        fs::create_dir(upper.join("d")).unwrap();
        fs::write(upper.join("d/f"), "same").unwrap();
    });
    assert!(kept.id.is_none() && kept.changes.is_empty());
    assert_eq!(bench.overlays_left(), 0);
    // A box that could not be opened leaves nothing either.
    drop(bench.create());
    assert_eq!(bench.overlays_left(), 0);
}

#[test]
fn what_the_program_closed_is_read_and_closed_again() {
    let bench = Bench::new();
    bench.write("closed/file", "old");
    set_mode(&bench.lower("closed"), 0o555);
    bench.run(|upper| {
        fs::create_dir(upper.join("closed")).unwrap();
        fs::write(upper.join("closed/file"), "new").unwrap();
        fs::write(upper.join("unreadable"), "secret").unwrap();
        set_mode(&upper.join("unreadable"), 0);
        set_mode(&upper.join("closed"), 0);
        set_mode(upper, 0o700);
    });
    bench.apply(&[]).unwrap();
    let mode = |path| fs::metadata(bench.lower(path)).unwrap().mode() & 0o777;
    assert_eq!((mode("closed"), mode("unreadable"), mode("")), (0, 0, 0o700));
    set_mode(&bench.lower("closed"), 0o700);
    assert_eq!(bench.read("closed/file"), "new");
}

#[test]
fn a_workspace_that_has_changed_is_left_alone() {
    let bench = Bench::new();
    for path in ["edited", "gone", "tree/a", "dir/f"] {
        bench.write(path, "old");
    }
    bench.run(|upper| {
        fs::write(upper.join("edited"), "new").unwrap();
        whiteout(upper.join("gone"));
        whiteout(upper.join("tree"));
        fs::write(upper.join("added"), "new").unwrap();
        fs::create_dir(upper.join("dir")).unwrap();
        fs::write(upper.join("dir/f"), "new").unwrap();
    });
    bench.write("edited", "theirs");
    bench.write("gone", "more");
    bench.write("tree/b", "unknown");
    bench.write("added", "theirs");
    fs::rename(bench.lower("dir"), bench.home.path().join("moved")).unwrap();
    symlink(bench.home.path().join("moved"), bench.lower("dir")).unwrap();
    assert_eq!(
        bench.conflicts(&[]),
        [
            "added: appeared since the run",
            "dir/f: behind a link or a mount that was not there",
            "edited: changed since the run",
            "gone: changed since the run",
            "tree/b: appeared since the run",
        ]
    );
    // Nothing at all was done, neither here nor behind the link.
    assert_eq!((bench.read("edited").as_str(), bench.read("tree/a").as_str()), ("theirs", "old"));
    assert_eq!(fs::read_to_string(bench.home.path().join("moved/f")).unwrap(), "old");
    // Put back, the rest can be applied.
    bench.write("edited", "old");
    bench.apply(&["edited"]).unwrap();
    assert_eq!(bench.read("edited"), "new");
    assert_eq!(bench.conflicts(&["gone"]), ["gone: changed since the run"]);
}

#[test]
fn what_changed_during_the_run_is_noticed() {
    let bench = Bench::new();
    bench.write("file", "old");
    bench.run(|upper| {
        // Later than the coarse clock of file systems.
        std::thread::sleep(std::time::Duration::from_millis(30));
        bench.write("file", "theirs");
        fs::write(upper.join("file"), "ours").unwrap();
    });
    assert_eq!(bench.conflicts(&[]), ["file: changed by others during the run"]);
}

#[test]
fn what_is_there_already_is_no_conflict() {
    let bench = Bench::new();
    bench.write("edited", "old");
    bench.write("gone", "x");
    bench.run(|upper| {
        fs::write(upper.join("edited"), "new").unwrap();
        fs::write(upper.join("added"), "a").unwrap();
        whiteout(upper.join("gone"));
    });
    bench.write("edited", "new");
    bench.write("added", "a");
    fs::remove_file(bench.lower("gone")).unwrap();
    assert!(bench.apply(&[]).unwrap().removed);
}

#[test]
fn some_paths_can_be_applied() {
    let bench = Bench::new();
    bench.write("gone/a", "a");
    bench.run(|upper| {
        fs::create_dir_all(upper.join("new/sub")).unwrap();
        fs::write(upper.join("new/sub/one"), "1").unwrap();
        fs::write(upper.join("new/sub/two"), "2").unwrap();
        fs::write(upper.join("newer"), "n").unwrap();
        whiteout(upper.join("gone"));
    });
    let applied = bench.apply(&["new/sub/one", "./gone/"]).unwrap();
    assert!(!applied.removed);
    assert_eq!(applied.done.len(), 5, "{applied:?}");
    assert_eq!(bench.read("new/sub/one"), "1");
    assert!(!bench.lower("gone").exists() && !bench.lower("new/sub/two").exists());
    let error = bench.apply(&["new/sub/one"]).unwrap_err();
    assert!(matches!(error, OverlayError::NotChanged { .. }), "{error}");
    assert!(matches!(bench.apply(&["../x"]), Err(OverlayError::OutsideWorkspace { .. })));
    assert!(bench.apply(&[]).unwrap().removed);
    assert_eq!(bench.read("new/sub/two"), "2");
}

#[test]
fn guarded_paths_have_to_be_named() {
    let bench = Bench::new();
    bench.write(".git/config", "[core]");
    bench.run(|upper| {
        fs::create_dir_all(upper.join(".git/hooks")).unwrap();
        fs::write(upper.join(".git/hooks/pre-commit"), "evil").unwrap();
        fs::write(upper.join(".git/config"), "evil").unwrap();
        fs::write(upper.join(".git/HEAD"), "h").unwrap();
        fs::write(upper.join("code"), "c").unwrap();
    });
    for paths in [&[][..], &["."], &[".git"]] {
        let applied = bench.apply(paths);
        let left = applied.map(|applied| applied.left_out.len());
        assert_eq!(left.unwrap(), 3, "{paths:?}");
        assert_eq!(bench.read(".git/config"), "[core]");
        assert!(!bench.lower(".git/hooks").exists());
    }
    assert_eq!((bench.read("code").as_str(), bench.read(".git/HEAD").as_str()), ("c", "h"));
    bench.apply(&[".git/hooks"]).unwrap();
    assert_eq!(bench.read(".git/hooks/pre-commit"), "evil");
    assert!(bench.apply(&[".git/config"]).unwrap().removed);
}

#[test]
fn a_directory_with_guarded_paths_goes_as_a_whole_or_not_at_all() {
    let bench = Bench::new();
    for path in [".git/hooks/old", ".git/config", ".git/HEAD", "sub/.envrc", "sub/more/file", "x/y"]
    {
        bench.write(path, "old");
    }
    bench.run(|upper| {
        symlink("elsewhere", upper.join(".git")).unwrap();
        whiteout(upper.join("sub"));
        whiteout(upper.join("x"));
    });
    let applied = bench.apply(&[]).unwrap();
    let left: Vec<String> = applied.left_out.iter().map(|(path, _)| path.to_string()).collect();
    assert_eq!(left, [".git", ".git/config", ".git/hooks", ".git/hooks/old", "sub", "sub/.envrc"]);
    assert_eq!(bench.read(".git/HEAD"), "old", "nothing of it is gone");
    assert_eq!(bench.read("sub/more/file"), "old");
    assert!(!bench.lower("x").exists());
    // Named, it goes.
    bench.apply(&["sub"]).unwrap();
    assert!(!bench.lower("sub").exists());
    assert!(bench.apply(&[".git"]).unwrap().removed);
    assert_eq!(fs::read_link(bench.lower(".git")).unwrap(), Path::new("elsewhere"));
}

#[test]
fn a_guarded_file_does_not_become_a_directory_unasked() {
    let bench = Bench::new();
    bench.write(".git", "gitdir: elsewhere");
    bench.run(|upper| {
        fs::create_dir_all(upper.join(".git/objects")).unwrap();
        fs::write(upper.join(".git/HEAD"), "h").unwrap();
        fs::write(upper.join(".git/config"), "c").unwrap();
    });
    for paths in [&[][..], &[".git/HEAD"], &[".git/objects"]] {
        let applied = bench.apply(paths).unwrap();
        assert!(applied.done.is_empty() && !applied.left_out.is_empty(), "{paths:?}: {applied:?}");
        assert_eq!(bench.read(".git"), "gitdir: elsewhere");
    }
    bench.apply(&[".git"]).unwrap();
    assert_eq!(bench.read(".git/HEAD"), "h");
    assert!(!bench.lower(".git/config").exists(), "still guarded");
}

#[test]
fn special_files_of_the_workspace_can_be_deleted() {
    let bench = Bench::new();
    let fifo = Mode::from_raw_mode(0o600);
    mknodat(CWD, bench.lower("pipe"), FileType::Fifo, fifo, 0).unwrap();
    bench.run(|upper| whiteout(upper.join("pipe")));
    assert!(bench.apply(&[]).unwrap().removed);
    assert!(!bench.lower("pipe").exists());
}

#[test]
fn a_directory_that_became_a_pipe_is_left_alone() {
    let bench = Bench::new();
    bench.write("d/file", "old");
    bench.run(|upper| {
        let fifo = Mode::from_raw_mode(0o600);
        mknodat(CWD, upper.join("d"), FileType::Fifo, fifo, 0).unwrap();
    });
    for _ in 0..2 {
        assert!(!bench.apply(&[]).unwrap().removed);
        assert_eq!(bench.read("d/file"), "old");
    }
}

#[test]
fn special_files_and_bottomless_trees_are_left_out() {
    const DEPTH: usize = 10_000;
    let bench = Bench::new();
    let kept = bench.run(|upper| {
        mknodat(CWD, upper.join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        fs::write(upper.join("file"), "f").unwrap();
        let mut directory = open_directory(CWD, upper.as_os_str().as_encoded_bytes()).unwrap();
        for _ in 0..DEPTH {
            mkdirat(&directory, "d", Mode::from_raw_mode(0o755)).unwrap();
            directory = open_directory(&directory, b"d").unwrap();
        }
    });
    assert!(kept.changes.len() > 2000);
    assert_eq!(bench.diff().matches("diff --git").count(), 1);
    let applied = bench.apply(&["file", "pipe"]).unwrap();
    assert_eq!(applied.left_out.len(), 1);
    assert_eq!(applied.left_out[0].1, LeftOut::Special);
    let applied = bench.apply(&[]).unwrap();
    assert!(applied.left_out.iter().any(|(_, reason)| *reason == LeftOut::TooDeep));
    assert!(applied.removed && bench.overlays_left() == 0);
    assert!(bench.lower("d/d/d/d").is_dir());
}

#[test]
fn a_killed_run_can_be_discarded() {
    let bench = Bench::new();
    let storage = bench.create();
    fs::write(storage.path().join("upper/file"), "f").unwrap();
    let overlays = Overlays::new(Some(&bench.state())).unwrap();
    let id = overlays.list().unwrap()[0].id().to_owned();
    // While it runs nobody can touch it, and it is not what is meant without a name.
    assert!(matches!(overlays.find(None), Err(OverlayError::None)));
    assert!(matches!(overlays.find(Some(&id)).unwrap().discard(), Err(OverlayError::Busy { .. })));
    // As if killed: all of it is there, and nobody holds it.
    let path = storage.path().to_owned();
    let record = fs::read(path.join("meta.json")).unwrap();
    drop(storage);
    for (record, expected) in [(record.as_slice(), "killed"), (b"{", "damaged")] {
        fs::create_dir_all(path.join("upper/closed")).unwrap();
        set_mode(&path.join("upper/closed"), 0);
        fs::write(path.join("meta.json"), record).unwrap();
        let left = overlays.find(None).unwrap();
        let error = left.changes().map(drop).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        left.discard().unwrap();
        assert_eq!(bench.overlays_left(), 0);
    }
}

#[test]
fn names_are_found_by_their_beginning() {
    let bench = Bench::new();
    for content in ["1", "2"] {
        bench.run(|upper| fs::write(upper.join("file"), content).unwrap());
    }
    let overlays = Overlays::new(Some(&bench.state())).unwrap();
    let ids: Vec<String> =
        overlays.list().unwrap().iter().map(|overlay| overlay.id().to_owned()).collect();
    assert_eq!(overlays.find(None).unwrap().id(), ids[0]);
    assert_eq!(overlays.find(Some(&ids[1])).unwrap().id(), ids[1]);
    assert!(matches!(overlays.find(Some("0")), Err(OverlayError::Ambiguous { .. })));
    assert!(matches!(overlays.find(Some("../x")), Err(OverlayError::NotFound { .. })));
    assert!(overlays.is_known("0000") && !overlays.is_known("src") && !overlays.is_known(""));
}

#[test]
fn a_workspace_cannot_hold_its_own_changes() {
    let bench = Bench::new();
    let lower = fs::canonicalize(bench.lower("")).unwrap();
    let id = RunId::new(1, 1, 1);
    let refused = Storage::create(&lower.join("state"), &id, &lower, &[], &[]).map(drop);
    assert!(matches!(refused, Err(OverlayError::StateInWorkspace { .. })), "{refused:?}");
}

#[test]
fn another_directory_of_the_same_name_is_not_the_workspace() {
    let bench = Bench::new();
    bench.write("file", "old");
    bench.run(|upper| fs::write(upper.join("file"), "new").unwrap());
    fs::rename(bench.lower(""), bench.home.path().join("moved")).unwrap();
    bench.write("file", "old");
    assert!(matches!(bench.apply(&[]), Err(OverlayError::WorkspaceGone { .. })));
    assert_eq!(bench.read("file"), "old");
}
