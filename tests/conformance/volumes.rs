//! What a box is given under fixed names: volumes, dependencies, a candidate, data sets.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use fumehood::{Dataset, Error, Mount, VolumeError, VolumeName, WorkspaceMode};
use fumehood_tests::{Case, Condition, Scene, assert_printed, lines, python, shell};

/// A volume that no other case has.
fn volume() -> VolumeName {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("case-{number}").parse().expect("a name")
}

pub fn cases() -> Vec<Case> {
    let all = [
        Case::steps("volumes::content_is_kept", |scene| {
            let name = volume();
            let write =
                "mkdir /kept/made && echo first > /kept/made/file && chmod 640 /kept/made/file";
            assert_printed(&scene.run(shell(write).volume(name.clone(), "/kept")), "");
            // At another place, with something else beside it.
            let read = "cat /home/box/.cache/made/file; echo second >> /home/box/.cache/made/file; \
                        test -O /home/box/.cache/made/file && stat -c %a /home/box/.cache/made/file";
            let request = shell(read).volume(name.clone(), "/home/box/.cache");
            assert_printed(&scene.run(request), "first\n640\n");
            let request = shell("cat /workspace/v/made/file").volume(name.clone(), "/workspace/v");
            assert_printed(&scene.run(request), "first\nsecond\n");
            let volumes = scene.sandbox().volumes().expect("volumes");
            let listed = volumes.list().expect("a list");
            let listed = listed.iter().find(|volume| volume.name == name).expect("it is listed");
            assert_eq!((listed.size.get(), listed.files), (13, 1));
            volumes.remove(&name).expect("it is removed");
            let request = shell("ls -A /kept").volume(name, "/kept");
            assert_printed(&scene.run(request), "");
        }),
        Case::steps("volumes::in_use_is_not_removed", |scene| {
            let name = volume();
            let run = scene.start(shell("sleep 60").volume(name.clone(), "/kept"));
            let volumes = scene.sandbox().volumes().expect("volumes");
            let refused = (0..3000).find_map(|_| match volumes.remove(&name) {
                Err(VolumeError::InUse { .. }) => Some(()),
                _ => {
                    std::thread::sleep(Duration::from_millis(10));
                    None
                }
            });
            assert!(refused.is_some(), "a run uses it");
            run.canceller().kill();
            scene.block_on(run.outcome()).expect("an outcome");
            volumes.remove(&name).expect("nobody uses it any more");
        }),
        Case::steps("volumes::a_very_deep_tree_goes", |scene| {
            // Deeper than any path can be. Landlock makes each level dearer than the one before.
            let name = volume();
            let source = "import os\nos.chdir('/kept')\n\
                for _ in range(2000):\n\x20os.mkdir('level'); os.chdir('level')\n\
                open('file', 'w').close()\nos.chmod('.', 0)\nprint('made')";
            let request = python(source).volume(name.clone(), "/kept");
            assert_printed(&scene.run(request), "made\n");
            let volumes = scene.sandbox().volumes().expect("volumes");
            volumes.remove(&name).expect("it is removed");
            assert!(volumes.list().expect("a list").iter().all(|volume| volume.name != name));
        }),
        Case::steps("volumes::places_of_the_box_are_its_own", |scene| {
            for target in ["/proc", "/usr/lib", "/", "/deps", "/candidate", "/datasets/x"] {
                let refused = scene.try_run(shell("true").volume(volume(), target));
                assert!(matches!(refused, Err(Error::MountTarget { .. })), "{target}: {refused:?}");
            }
            let twice = shell("true").volume(volume(), "/a").volume(volume(), "/a/");
            let refused = scene.try_run(twice);
            assert!(matches!(refused, Err(Error::MountTarget { .. })), "{refused:?}");
            let mount = Mount::read_only(scene.path(), "/deps");
            let refused = scene.try_run(shell("true").mount(mount)).expect_err("it is reserved");
            assert!(refused.to_string().contains("use --deps"), "{refused}");
        }),
        Case::steps("given::readable_and_no_more", given_is_read_only),
        Case::steps("given::candidate_from_an_archive", |scene| {
            let project = scene.directory("project");
            fs::write(project.join("main.py"), "print('unpacked')\n").expect("a file");
            let archive = scene.path().join("no-matter-what-it-is-called");
            let packed = Command::new("tar")
                .args(["-czf"])
                .arg(&archive)
                .arg("-C")
                .arg(&project)
                .arg(".")
                .status();
            assert!(packed.expect("tar starts").success());
            let line =
                "python3 /candidate/main.py; (echo > /candidate/main.py) 2>/dev/null || echo no";
            for _ in 0..2 {
                let request = shell(line).candidate(&archive);
                assert_printed(&scene.run(request), "unpacked\nno\n");
            }
            let hostile = scene.file("hostile", "neither a directory nor an archive");
            let refused = scene.try_run(shell("true").candidate(hostile));
            assert!(matches!(refused, Err(Error::Archive(_))), "{refused:?}");
        }),
        Case::steps("given::missing_is_refused", |scene| {
            let missing = scene.path().join("missing");
            let name = "iris".parse().expect("a name");
            let file = scene.file("file", "");
            for request in [
                shell("true").deps(&missing),
                shell("true").deps(&file),
                shell("true").candidate(&missing),
                shell("true").dataset(Dataset { name, path: missing.clone() }),
            ] {
                let refused = scene.try_run(request);
                assert!(matches!(refused, Err(Error::Path { .. })), "{refused:?}");
            }
        }),
        Case::steps("volumes::beside_a_workspace", |scene| {
            let name = volume();
            let workspace = scene.directory("workspace");
            fs::create_dir(workspace.join("build")).expect("a directory");
            let line = "echo kept > build/result && echo here > file";
            let request = shell(line)
                .workspace(&workspace, WorkspaceMode::ReadWrite)
                .volume(name.clone(), "/workspace/build");
            assert_printed(&scene.run(request), "");
            assert!(workspace.join("file").exists());
            assert!(!workspace.join("build/result").exists(), "it is in the volume");
            let request = shell("cat /v/result").volume(name, "/v");
            assert_printed(&scene.run(request), "kept\n");
        }),
    ];
    all.into_iter().map(|case| case.only(Condition::ISOLATED)).collect()
}

fn given_is_read_only(scene: &Scene) {
    for name in ["deps", "candidate", "data"] {
        let directory = scene.directory(name);
        let file = directory.join("file");
        fs::write(&file, format!("{name}\n")).expect("a file");
        // Whoever the program is, only the mount refuses.
        for (path, mode) in [(directory, 0o777), (file, 0o666)] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
        }
    }
    let single = scene.file("single.csv", "one,two\n");
    let source = "import os, errno\n\
        for name in ('/deps', '/candidate', '/datasets/iris'):\n\
        \x20print(open(name + '/file').read().strip())\n\
        \x20for attempt in (lambda: open(name + '/file', 'a'), lambda: os.mkdir(name + '/new')):\n\
        \x20\x20try: attempt(); print('done')\n\
        \x20\x20except OSError as e: print(errno.errorcode[e.errno])\n\
        print(open('/datasets/single').read().strip())\n\
        print(sorted(os.listdir('/datasets')))";
    let dataset = |name: &str, path| Dataset { name: name.parse().expect("a name"), path };
    let request = python(source)
        .deps(scene.path().join("deps"))
        .candidate(scene.path().join("candidate"))
        .dataset(dataset("iris", scene.path().join("data")))
        .dataset(dataset("single", single));
    let outcome = scene.run(request);
    let refused = ["EROFS", "EROFS"];
    let mut expected = Vec::new();
    for name in ["deps", "candidate", "data"] {
        expected.push(name);
        expected.extend(refused);
    }
    expected.extend(["one,two", "['iris', 'single']"]);
    assert_eq!(lines(&outcome), expected, "stderr: {}", outcome.stderr.text());
    let us = rustix::process::geteuid().as_raw();
    let owner = fs::metadata(scene.path().join("deps/file")).expect("it is still there").uid();
    assert_eq!(owner, us);
}
