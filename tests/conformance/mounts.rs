//! What a program was given: the workspace and further mounts, as asked for and no wider.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink},
};

use fumehood::{Error, Mount, Request, WorkspaceMode};
use fumehood_tests::{Case, Condition, Scene, assert_printed, lines, python, shell};

pub fn cases() -> Vec<Case> {
    let mut all = vec![
        Case::steps("mounts::workspace_is_the_callers", |scene| {
            let workspace = scene.directory("workspace");
            fs::write(workspace.join("given"), "from the host\n").expect("a file");
            let line = "cat given && mkdir made && echo back > made/file && chmod 640 made/file \
                        && mv given taken";
            let request = shell(line).workspace(&workspace, WorkspaceMode::ReadWrite);
            assert_printed(&scene.run(request), "from the host\n");
            let made = workspace.join("made/file");
            assert_eq!(fs::read_to_string(&made).expect("the file is there"), "back\n");
            assert!(workspace.join("taken").exists());
            let owner = fs::metadata(&made).expect("its owner");
            let us = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
            assert_eq!((owner.uid(), owner.gid()), us, "it belongs to the caller");
            assert_eq!(owner.mode() & 0o777, 0o640);
        }),
        Case::steps("mounts::workspace_of_another_user", |scene| {
            const OTHER: u32 = 12_345;
            let workspace = scene.directory("workspace");
            fs::write(workspace.join("given"), "theirs\n").expect("a file");
            for path in [workspace.join("given"), workspace.clone()] {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("a mode");
                chown(&path, Some(OTHER), Some(OTHER)).expect("another owner");
            }
            let request = shell("cat given && echo more > made")
                .workspace(&workspace, WorkspaceMode::ReadWrite);
            assert_printed(&scene.run(request), "theirs\n");
            let owner = fs::metadata(workspace.join("made")).expect("the file is there");
            assert_eq!((owner.uid(), owner.gid()), (OTHER, OTHER), "it belongs to them");
        })
        .only(Condition::ISOLATED)
        .only(Condition::AS_ROOT),
        Case::steps("mounts::missing_source_is_refused", |scene| {
            let started = scene.path().join("started");
            let request = shell(&format!("touch {}", started.display()))
                .mount(Mount::read_only(scene.path().join("missing"), "/data"));
            let refused = scene.try_run(request);
            assert!(matches!(refused, Err(Error::Path { .. })), "{refused:?}");
            assert!(!started.exists(), "nothing was started");
        })
        .only(Condition::ISOLATED),
        Case::steps("mounts::missing_workspace_is_refused", |scene| {
            let request =
                shell("true").workspace(scene.path().join("missing"), WorkspaceMode::ReadWrite);
            let refused = scene.try_run(request);
            assert!(matches!(refused, Err(Error::Path { .. })), "{refused:?}");
        }),
    ];
    let boxed = [
        Case::new("mounts::further", further, |scene, outcome| {
            assert_eq!(lines(outcome), ["given", "EROFS", "written"]);
            let written = scene.path().join("writable/file");
            assert_eq!(fs::read_to_string(written).expect("the file is there"), "written\n");
        }),
        Case::steps("mounts::one_file", |scene| {
            let file = scene.file("settings", "one file\n");
            let request =
                shell("cat /data/settings").mount(Mount::read_only(file, "/data/settings"));
            assert_printed(&scene.run(request), "one file\n");
        }),
        Case::steps("mounts::symlinked_source", |scene| {
            fs::write(scene.directory("real").join("file"), "behind the link\n").expect("a file");
            let link = scene.path().join("link");
            symlink("real", &link).expect("a link");
            let request = shell("cat /data/file").mount(Mount::read_only(&link, "/data"));
            assert_printed(&scene.run(request), "behind the link\n");
            let request = shell("cat file").workspace(&link, WorkspaceMode::ReadOnly);
            assert_printed(&scene.run(request), "behind the link\n");
        }),
        Case::steps("mounts::link_out_of_the_workspace", |scene| {
            // A link in the workspace leads to the box's files, not to the host's.
            let secret = scene.file("secret", "of the host\n");
            let workspace = scene.directory("workspace");
            symlink(&secret, workspace.join("out")).expect("a link");
            let request = shell("cat out").workspace(&workspace, WorkspaceMode::ReadWrite);
            let outcome = scene.run(request);
            assert!(!outcome.success);
            assert_eq!(outcome.stdout.text(), "");
        }),
        Case::steps("mounts::targets_of_the_box_are_its_own", |scene| {
            for target in ["/proc", "/dev", "/", "relative", "/data/../proc"] {
                let request = shell("true").mount(Mount::read_only(scene.path(), target));
                let refused = scene.try_run(request);
                assert!(matches!(refused, Err(Error::MountTarget { .. })), "{target}: {refused:?}");
            }
        }),
    ];
    all.extend(boxed.into_iter().map(|case| case.only(Condition::ISOLATED)));
    all.push(
        Case::new("mounts::read_only_workspace", write_into_read_only, |scene, outcome| {
            // In a container the program is not made the owner of what it may only read.
            let first = if scene.place.image.is_some() { "EACCES" } else { "EROFS" };
            assert_eq!(lines(outcome), ["given", first, "EROFS", "EROFS"]);
        })
        .only(Condition::ISOLATED),
    );
    all.push(remount());
    all
}

/// One read-only, one writable.
fn further(scene: &Scene) -> Request {
    fs::write(scene.directory("readable").join("file"), "given\n").expect("a file");
    let writable = scene.directory("writable");
    shell(
        "cat /data/file; (echo no > /data/file) 2>/dev/null || echo EROFS; \
         echo written > /out/file && cat /out/file",
    )
    .mount(Mount::read_only(scene.path().join("readable"), "/data"))
    .mount(Mount::read_write(writable, "/out"))
}

fn write_into_read_only(scene: &Scene) -> Request {
    let workspace = scene.directory("workspace");
    fs::write(workspace.join("file"), "given").expect("a file");
    let source = "import os, errno\n\
        print(open('file').read())\n\
        for attempt in (lambda: open('file', 'a'), lambda: open('new', 'w'), lambda: os.unlink('file')):\n\
        \x20try: attempt(); print('done')\n\
        \x20except OSError as e: print(errno.errorcode[e.errno])";
    python(source).workspace(workspace, WorkspaceMode::ReadOnly)
}

/// A read-only mount stays one even for a program with the system calls to change it.
fn remount() -> Case {
    let attempt = |scene: &Scene| {
        let readable = scene.directory("readable");
        let source = "import ctypes, os, errno\n\
            libc = ctypes.CDLL(None, use_errno=True)\n\
            MS_REMOUNT_BIND_WRITABLE = 32 | 4096\n\
            for target in (b'/data', b'/'):\n\
            \x20failed = libc.mount(None, target, None, MS_REMOUNT_BIND_WRITABLE, None)\n\
            \x20print(errno.errorcode[ctypes.get_errno()] if failed else 'done')";
        python(source).mount(Mount::read_only(readable, "/data"))
    };
    Case::new("mounts::remount", attempt, |_, outcome| {
        assert_eq!(lines(outcome), ["EPERM", "EPERM"]);
    })
    .only(Condition::ISOLATED)
}
