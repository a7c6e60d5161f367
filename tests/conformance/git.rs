//! Git in a box: in a repository, and in a worktree, whose repository lies elsewhere.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use fumehood::{Note, Request, WorkspaceMode, policy::GitAccess};
use fumehood_tests::{Case, Condition, Scene, assert_printed, lines, shell};

/// Git on the host, with nothing of the user's configuration.
fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=case", "-c", "user.email=case@example.org"])
        .args(["-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .expect("git starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A repository with one commit.
fn repository(scene: &Scene) -> PathBuf {
    let main = scene.directory("main");
    git(&main, &["init", "-q"]);
    fs::write(main.join("file"), "first\n").expect("a file");
    git(&main, &["add", "file"]);
    git(&main, &["commit", "-q", "-m", "the first"]);
    main
}

/// A worktree of it.
fn worktree(scene: &Scene) -> PathBuf {
    let tree = scene.path().join("tree");
    git(&repository(scene), &["worktree", "add", "-q", "-b", "work", &tree.display().to_string()]);
    tree
}

fn in_box(tree: &Path, line: &str) -> Request {
    shell(line).workspace(tree, WorkspaceMode::ReadWrite)
}

/// What the plan says was left out.
fn notes(scene: &Scene, request: &Request) -> Vec<Note> {
    scene.sandbox().plan(request).expect("a plan").notes
}

pub fn cases() -> Vec<Case> {
    let all = [
        Case::steps("git::works_in_a_repository", |scene| {
            let main = repository(scene);
            let line = "git log --format=%s && echo second >> file && git status --short && \
                        git diff --stat | tail -1 && git add file && \
                        git -c user.name=b -c user.email=b@example.org commit -q -m again";
            let outcome = scene.run(in_box(&main, line));
            assert_printed(&outcome, "the first\n M file\n 1 file changed, 1 insertion(+)\n");
            assert_eq!(git(&main, &["log", "-1", "--format=%s"]), "again\n");
        }),
        Case::steps("git::works_in_a_worktree", |scene| {
            let tree = worktree(scene);
            let line = "git log --format=%s && git branch --show-current && \
                        echo second >> file && echo new > made && git status --short && \
                        git diff --stat | tail -1 && git show HEAD:file";
            let outcome = scene.run(in_box(&tree, line));
            let expected =
                "the first\nwork\n M file\n?? made\n 1 file changed, 1 insertion(+)\nfirst\n";
            assert_printed(&outcome, expected);
            assert_eq!(outcome.stderr.text(), "", "git has nothing to complain about");
            // What the box did is seen from outside, and belongs to the caller.
            assert!(git(&tree, &["diff"]).contains("+second"));
            let us = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
            for name in ["made", "file"] {
                let owner = fs::metadata(tree.join(name)).expect("it is there");
                assert_eq!((owner.uid(), owner.gid()), us);
            }
        }),
        Case::steps("git::works_in_a_worktree_that_is_an_overlay", |scene| {
            let tree = worktree(scene);
            let line = "git branch --show-current && echo second >> file && git status --short";
            let request = shell(line).workspace(&tree, WorkspaceMode::Overlay);
            assert_printed(&scene.run(request), "work\n M file\n");
            assert_eq!(git(&tree, &["status", "--short"]), "", "nothing has changed outside");
        })
        .only(Condition::OVERLAY),
        Case::steps("git::a_worktree_reads_its_repository_only", |scene| {
            let tree = worktree(scene);
            let hook = scene.path().join("main/.git/hooks/pre-commit");
            let line = format!(
                "(echo evil > {}) 2>/dev/null || echo kept out; \
                 git -c user.name=b -c user.email=b@example.org commit -q --allow-empty -m no 2>/dev/null \
                 || echo no commit; ls {}",
                hook.display(),
                scene.path().join("main").display()
            );
            // Of the repository only the git directory is there, not its files.
            assert_eq!(lines(&scene.run(in_box(&tree, &line))), ["kept out", "no commit"]);
            assert!(!hook.exists());
            let commit =
                "git -c user.name=b -c user.email=b@example.org commit -q --allow-empty -m yes";
            let writable = in_box(&tree, commit).git(GitAccess::ReadWrite);
            assert_printed(&scene.run(writable), "");
            assert_eq!(git(&tree, &["log", "-1", "--format=%s"]), "yes\n");
            let off = in_box(&tree, "git log").git(GitAccess::Off);
            assert!(!scene.run(off).success);
        }),
        Case::steps("git::a_relative_worktree", |scene| {
            let tree = worktree(scene);
            fs::write(tree.join(".git"), "gitdir: ../main/.git/worktrees/tree\n").expect("a file");
            let back = scene.path().join("main/.git/worktrees/tree/gitdir");
            fs::write(back, "../../../../tree/.git\n").expect("a file");
            assert_printed(&scene.run(in_box(&tree, "git log --format=%s")), "the first\n");
        }),
        Case::steps("git::a_planted_file_mounts_nothing", planted),
    ];
    all.into_iter().map(|case| case.only(Condition::ISOLATED)).collect()
}

/// Strangers write `.git` files that name what is not theirs.
fn planted(scene: &Scene) {
    let secret = scene.directory("secret");
    fs::write(secret.join("key"), "private\n").expect("a file");
    let workspace = scene.directory("workspace");
    let attempt = |named: &str| {
        fs::write(workspace.join(".git"), named).expect("a file");
        let look = format!(
            "cat {}/key {}/worktrees/x/key 2>/dev/null",
            secret.display(),
            secret.display()
        );
        let request = in_box(&workspace, &look);
        let notes = notes(scene, &request);
        assert_eq!(notes.len(), 1, "the plan says so: {named}");
        assert_eq!(scene.run(request).stdout.text(), "", "{named}");
    };
    let path = secret.display();
    for named in [
        format!("gitdir: {path}\n"),
        format!("gitdir: {path}/worktrees/x\n"),
        "gitdir: ../secret\n".to_owned(),
        "gitdir: /etc\n".to_owned(),
        "gitdir: /\n".to_owned(),
        "nothing of the kind".to_owned(),
        String::new(),
    ] {
        attempt(&named);
    }
    // The secret looks like a git directory, but is that of another worktree.
    let inner = secret.join("worktrees/x");
    fs::create_dir_all(&inner).expect("a directory");
    fs::create_dir_all(secret.join("objects")).expect("a directory");
    fs::create_dir_all(secret.join("refs")).expect("a directory");
    fs::write(secret.join("HEAD"), "ref: refs/heads/main\n").expect("a file");
    fs::write(inner.join("HEAD"), "ref: refs/heads/main\n").expect("a file");
    fs::write(inner.join("commondir"), "../..\n").expect("a file");
    fs::write(inner.join("gitdir"), "/somewhere/else/.git\n").expect("a file");
    attempt(&format!("gitdir: {path}/worktrees/x\n"));
    // One that names this worktree, behind a link of the stranger's.
    let own = format!("{}\n", workspace.join(".git").display());
    fs::write(inner.join("gitdir"), own).expect("a file");
    std::os::unix::fs::symlink(&secret, workspace.join("link")).expect("a link");
    attempt("gitdir: link/worktrees/x\n");
    // A whole git directory of the stranger's own, whose repository is said to be elsewhere.
    let fake = workspace.join("fake/worktrees/x");
    fs::create_dir_all(&fake).expect("a directory");
    fs::write(fake.join("HEAD"), "x\n").expect("a file");
    fs::write(fake.join("commondir"), format!("{path}\n")).expect("a file");
    fs::write(fake.join("gitdir"), "../../../.git\n").expect("a file");
    attempt("gitdir: fake/worktrees/x\n");
}
