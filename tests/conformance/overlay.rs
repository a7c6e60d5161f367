//! A workspace that a program sees as a copy: the real one stays as it is until changes are applied.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink},
    path::Path,
};

use fumehood::{Error, LeftOut, Outcome, Overlay, OverlayError, Request, WorkspaceMode};
use fumehood_tests::{
    Case, Condition, Scene, assert_printed, lines, printed, python, shell, with_limits,
};

pub fn cases() -> Vec<Case> {
    let boxed = [
        Case::steps("overlay::directory_stays_as_it_is", stays_as_it_is),
        Case::steps("overlay::changes_are_listed_and_applied", listed_and_applied),
        Case::steps("overlay::nothing_leads_to_the_layers", nothing_leads_to_the_layers),
        Case::steps("overlay::planted_links_lead_nowhere", planted_links),
        Case::steps("overlay::changed_underneath_is_refused", changed_underneath),
        Case::steps("overlay::bottomless_tree", bottomless_tree),
        Case::steps("overlay::no_change_leaves_nothing", |scene| {
            let workspace = scene.directory("workspace");
            fs::write(workspace.join("file"), "same\n").expect("a file");
            let line = "cat file; touch file; echo x > y; rm y; echo same > file";
            let outcome = scene.run(shell(line).workspace(&workspace, WorkspaceMode::Overlay));
            assert_printed(&outcome, "same\n");
            assert_eq!((outcome.overlay, outcome.change_count), (None, 0));
        }),
        Case::steps("overlay::ended_runs_keep_their_changes", |scene| {
            let workspace = scene.directory("workspace");
            let request = with_limits(shell("echo x > made; sleep 60"), "timeout=1s grace=100ms");
            let outcome = scene.run(request.workspace(&workspace, WorkspaceMode::Overlay));
            assert_eq!(outcome.status.name(), "timeout");
            assert_eq!(changes(&outcome), ["A made"]);
            overlay(scene, &outcome).discard().expect("it can be discarded");
        }),
        Case::steps("overlay::the_limit_is_told", |scene| {
            let workspace = scene.directory("workspace");
            let line = "head -c 3000000 /dev/zero > large";
            let request = with_limits(shell(line), "disk=2m");
            let outcome = scene.run(request.workspace(&workspace, WorkspaceMode::Overlay));
            assert!(outcome.success);
            let told = outcome.violations.iter().any(|each| each.message.contains("--disk"));
            assert!(told, "{:?}", outcome.violations);
            overlay(scene, &outcome).discard().expect("it can be discarded");
        }),
        Case::steps("overlay::plans_do_not_depend_on_the_run", |scene| {
            let workspace = scene.directory("workspace");
            let request = || shell("echo x > y").workspace(&workspace, WorkspaceMode::Overlay);
            let (one, other) = (scene.run(request()), scene.run(request()));
            assert_eq!(one.plan_digest, other.plan_digest);
            assert_ne!(one.overlay, other.overlay);
            for outcome in [&one, &other] {
                overlay(scene, outcome).discard().expect("it can be discarded");
            }
        }),
        Case::steps("overlay::of_another_user", |scene| {
            const OTHER: u32 = 12_345;
            let workspace = scene.directory("workspace");
            fs::write(workspace.join("given"), "theirs\n").expect("a file");
            for path in [workspace.join("given"), workspace.clone()] {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("a mode");
                chown(&path, Some(OTHER), Some(OTHER)).expect("another owner");
            }
            let line = "cat given; echo more >> given; mkdir d; echo x > d/made; ln -s x link";
            let outcome = scene.run(shell(line).workspace(&workspace, WorkspaceMode::Overlay));
            assert_printed(&outcome, "theirs\n");
            overlay(scene, &outcome).apply(&[]).expect("it is applied");
            for path in ["given", "d", "d/made", "link"] {
                let owner = fs::symlink_metadata(workspace.join(path)).expect("it is there");
                assert_eq!((owner.uid(), owner.gid()), (OTHER, OTHER), "{path} belongs to them");
            }
        })
        .only(Condition::AS_ROOT),
    ];
    let mut all: Vec<Case> = boxed.into_iter().map(|case| case.only(Condition::OVERLAY)).collect();
    all.push(
        Case::steps("overlay::refused_where_there_is_none", |scene| {
            let request = shell("true").workspace(scene.path(), WorkspaceMode::Overlay);
            let refused = scene.try_run(request);
            assert!(matches!(refused, Err(Error::Unavailable { .. })), "{refused:?}");
        })
        .only(Condition::NO_OVERLAY),
    );
    all
}

fn overlay(scene: &Scene, outcome: &Outcome) -> Overlay {
    let id = outcome.overlay.as_deref().expect("something was changed");
    scene.overlays().find(Some(id)).expect("the overlay is there")
}

fn changes(outcome: &Outcome) -> Vec<String> {
    let line = |change: &fumehood::Change| format!("{} {}", change.kind.letter(), change.path);
    outcome.changes.iter().map(line).collect()
}

/// What is in a directory, with everything that a program could change about it.
fn snapshot(directory: &Path) -> Vec<(String, u32, u64, i64, i64)> {
    let mut all = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(path) = waiting.pop() {
        let found = fs::symlink_metadata(&path).expect("it is there");
        if found.is_dir() {
            waiting.extend(fs::read_dir(&path).expect("a directory").map(|e| e.unwrap().path()));
        }
        let name = path.display().to_string();
        all.push((name, found.mode(), found.size(), found.ctime(), found.ctime_nsec()));
    }
    all.sort();
    all
}

fn project(scene: &Scene) -> std::path::PathBuf {
    let workspace = scene.directory("workspace");
    for (path, content) in
        [("edited", "one\n"), ("gone", "g\n"), ("dir/a", "a\n"), ("dir/sub/b", "b\n"), ("run", "x")]
    {
        let path = workspace.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, content).expect("a file");
    }
    symlink("edited", workspace.join("link")).expect("a link");
    workspace
}

/// Edits, deletes, adds, renames; modes, links, binary content.
fn work(workspace: &Path) -> Request {
    let line = "set -e; echo two >> edited; rm gone; mkdir new; echo n > new/file; \
                mv dir moved; chmod 755 run; rm link; ln -s run link; \
                printf '\\000\\001' > binary; cat edited moved/sub/b";
    shell(line).workspace(workspace, WorkspaceMode::Overlay)
}

fn stays_as_it_is(scene: &Scene) {
    let workspace = project(scene);
    let before = snapshot(&workspace);
    let outcome = scene.run(work(&workspace));
    assert_printed(&outcome, "one\ntwo\nb\n");
    assert!(snapshot(&workspace) == before, "the directory is untouched");
    overlay(scene, &outcome).discard().expect("it can be discarded");
    assert!(snapshot(&workspace) == before, "and stays so");
}

fn listed_and_applied(scene: &Scene) {
    let workspace = project(scene);
    let outcome = scene.run(work(&workspace));
    let expected = [
        "A binary",
        "D dir",
        "D dir/a",
        "D dir/sub",
        "D dir/sub/b",
        "M edited",
        "D gone",
        "M link",
        "A moved",
        "A moved/a",
        "A moved/sub",
        "A moved/sub/b",
        "A new",
        "A new/file",
        "M run",
    ];
    assert_eq!(changes(&outcome), expected);
    assert_eq!(outcome.change_count, expected.len() as u64);
    let applied = overlay(scene, &outcome).apply(&[]).expect("it is applied");
    assert!(applied.removed);
    let read = |path: &str| fs::read(workspace.join(path)).expect("a file");
    assert_eq!(read("edited"), b"one\ntwo\n");
    assert_eq!(read("binary"), b"\0\x01");
    assert_eq!(read("moved/sub/b"), b"b\n");
    assert!(!workspace.join("dir").exists() && !workspace.join("gone").exists());
    assert_eq!(fs::read_link(workspace.join("link")).expect("a link"), Path::new("run"));
    let run = fs::metadata(workspace.join("run")).expect("a file");
    assert_eq!(run.mode() & 0o7777, 0o755);
    let owner = fs::metadata(workspace.join("new/file")).expect("a file");
    assert_eq!(owner.uid(), rustix::process::geteuid().as_raw(), "it belongs to the caller");
    let again = scene.run(shell("true").workspace(&workspace, WorkspaceMode::Overlay));
    assert_eq!(again.overlay, None);
}

fn nothing_leads_to_the_layers(scene: &Scene) {
    let workspace = project(scene);
    let line = "ls -a /workspace/..; echo; cat /proc/self/mountinfo; ls /overlay-lower \
                /overlay-storage 2>/dev/null | wc -l";
    let outcome = scene.run(shell(line).workspace(&workspace, WorkspaceMode::Overlay));
    let seen = printed(&outcome);
    let (root, mounts) = seen.split_once("\n\n").expect("two parts");
    assert!(!root.contains("overlay"), "{root}");
    let host = workspace.display().to_string();
    assert!(!mounts.contains(&host) && !mounts.contains("overlays/"), "{mounts}");
    let points = |line: &&str| line.split(' ').nth(4).is_some_and(|at| at.contains("overlay"));
    assert_eq!(mounts.lines().filter(points).count(), 0, "{mounts}");
    assert!(mounts.contains(" /workspace "), "{mounts}");
    assert_eq!(mounts.lines().last(), Some("0"));
}

/// Links to places outside of the workspace, before and after the run, and things put in the place
/// of directories: nothing outside changes.
fn planted_links(scene: &Scene) {
    let workspace = project(scene);
    let outside = scene.directory("outside");
    fs::write(outside.join("a"), "outside\n").expect("a file");
    symlink(&outside, workspace.join("way_out")).expect("a link");
    let before = snapshot(&outside);
    let host = outside.display();
    let line = format!(
        "echo evil > way_out/a; ln -s {host} planted; ln -s {host}/a file; echo evil > file; \
         rm -r dir; ln -s {host} dir; echo changed >> edited; true"
    );
    let outcome = scene.run(shell(&line).workspace(&workspace, WorkspaceMode::Overlay));
    assert_eq!(
        changes(&outcome),
        ["T dir", "D dir/a", "D dir/sub", "D dir/sub/b", "M edited", "A file", "A planted"]
    );
    overlay(scene, &outcome).apply(&[]).expect("it is applied");
    assert!(snapshot(&outside) == before, "nothing outside changed");
    assert_eq!(fs::read_link(workspace.join("planted")).expect("a link"), outside);
    assert_eq!(fs::read_link(workspace.join("dir")).expect("a link"), outside);

    // A link that appears between run and apply is not followed either.
    let line = "mkdir -p new; echo x > new/a";
    let outcome = scene.run(shell(line).workspace(&workspace, WorkspaceMode::Overlay));
    symlink(&outside, workspace.join("new")).expect("a link");
    let refused = overlay(scene, &outcome).apply(&[]);
    assert!(matches!(refused, Err(OverlayError::Conflicts { .. })), "{refused:?}");
    assert!(snapshot(&outside) == before, "nothing outside changed");
    overlay(scene, &outcome).discard().expect("it can be discarded");
}

fn changed_underneath(scene: &Scene) {
    let workspace = project(scene);
    let outcome = scene.run(work(&workspace));
    fs::write(workspace.join("edited"), "by somebody else\n").expect("a file");
    let refused = overlay(scene, &outcome).apply(&[]);
    match refused {
        Err(OverlayError::Conflicts { conflicts }) => assert_eq!(conflicts.len(), 1),
        other => panic!("{other:?}"),
    }
    assert!(workspace.join("gone").exists(), "nothing at all was applied");
    overlay(scene, &outcome).apply(&["new".into()]).expect("the rest can be applied");
    assert!(workspace.join("new/file").exists());
    overlay(scene, &outcome).discard().expect("it can be discarded");
}

fn bottomless_tree(scene: &Scene) {
    let workspace = scene.directory("workspace");
    let source = "import os\n\
        open('file', 'w').write('f')\n\
        for _ in range(3000):\n\
        \x20os.mkdir('d'); os.chdir('d')\n\
        print('made')";
    let request = with_limits(python(source), "timeout=100s");
    let outcome = scene.run(request.workspace(&workspace, WorkspaceMode::Overlay));
    assert_eq!(lines(&outcome), ["made"]);
    assert_eq!(outcome.changes.len(), Outcome::MOST_CHANGES);
    assert!(outcome.change_count > 1000);
    let mut overlay = overlay(scene, &outcome);
    let applied = overlay.apply(&["file".into()]).expect("the file is applied");
    assert_eq!(applied.done.len(), 1);
    let applied = overlay.apply(&["d".into()]).expect("the tree is applied as far as paths go");
    assert!(applied.left_out.iter().all(|(_, reason)| *reason == LeftOut::TooDeep));
    assert_eq!(applied.left_out.len(), 1);
    assert!(applied.removed, "what is left can never be applied");
    assert!(workspace.join("d/d/d").is_dir());
}
