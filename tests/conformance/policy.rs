//! What a policy hides, protects and requires, seen from inside.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use fumehood::{Error, Layer, Mount, PolicyChoice, Request, ViolationKind, WorkspaceMode};
use fumehood_tests::{Attack, Case, Condition, Scene, Weaker, command_line, lines, shell};

/// A request under a policy that says this, besides its version.
fn under(request: Request, policy: &str) -> Request {
    let text = format!("version: 1\n{policy}\n");
    request.policy(PolicyChoice::Text { name: "the policy".into(), text })
}

pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    all.extend(denied_files());
    all.extend(protected_paths());
    all.extend(denied_in_mounts());
    all.push(protected_path_that_appears());
    all.push(required_layers());
    all.push(
        Case::steps("policy::environment", |scene| {
            let request = under(shell("echo $KEPT; echo $SET"), "env:\n  set: {SET: given}");
            let outcome = scene.run(request.env("KEPT", "asked for"));
            assert_eq!(lines(&outcome), ["asked for", "given"]);
        })
        .only(Condition::ISOLATED),
    );
    all
}

/// A workspace with secrets in it.
fn with_secrets(scene: &Scene) -> PathBuf {
    let workspace = scene.directory("workspace");
    for directory in ["sub", "keys/.ssh", "linked"] {
        fs::create_dir_all(workspace.join(directory)).expect("a directory");
    }
    for file in [".env", "sub/.env", "keys/.ssh/id_ed25519", "linked/real"] {
        fs::write(workspace.join(file), "secret").expect("a file");
    }
    symlink("real", workspace.join("linked/.env")).expect("a link");
    workspace
}

/// Every way that leads to a denied file, one line each: what was read, or `refused`.
const WAYS: &str = "\
    try() { cat \"$1\" 2>/dev/null || printf refused; echo; }\n\
    try .env; try sub/.env; try keys/.ssh/id_ed25519; try linked/.env; try linked/real\n\
    try /proc/self/root/workspace/.env; try /proc/self/cwd/sub/.env\n\
    ln .env hard 2>/dev/null; try hard\n\
    cp .env copy 2>/dev/null; try copy\n\
    mv sub moved; try moved/.env\n\
    rm -f .env 2>/dev/null; ls -A | grep -c '^.env$'";

fn denied_files() -> Vec<Case> {
    let attempt = |scene: &Scene| {
        let request = shell(WAYS).workspace(with_secrets(scene), WorkspaceMode::ReadWrite);
        under(request, "fs:\n  deny: ['**/.env', '**/.ssh/**']")
    };
    Attack::new("policy::denied_files", attempt, |scene, outcome| {
        let seen = lines(outcome);
        assert!(seen[..10].iter().all(|line| line == "refused" || line.is_empty()), "{seen:?}");
        assert_eq!(seen[10], "1", "it cannot be removed either");
        for file in [".env", "moved/.env", "keys/.ssh/id_ed25519"] {
            let content = fs::read_to_string(scene.path().join("workspace").join(file));
            assert_eq!(content.expect("the file is there"), "secret", "{file}");
        }
    })
    .twin(Weaker::Without(&[Layer::CoveredPaths]), |_, outcome| {
        let seen = lines(outcome);
        assert!(seen[..10].iter().all(|line| line == "secret"), "{seen:?}");
        assert_eq!(seen[10], "0");
    })
    .cases()
}

/// Ways to have something executed on the host later, one line each: `done` or `refused`.
const POISON: &str = "\
    try() { sh -c \"$1\" 2>/dev/null && echo done || echo refused; }\n\
    try 'echo x > .git/config'; try 'echo x > .git/hooks/pre-commit'; try 'rm .git/config'\n\
    try 'mv .git gone && mkdir -p .git/hooks && echo x > .git/config'\n\
    try 'echo x > .git/index'; try 'echo x > file'";

fn protected_paths() -> Vec<Case> {
    let attempt = |scene: &Scene| {
        let workspace = scene.directory("workspace");
        fs::create_dir_all(workspace.join(".git/hooks")).expect("a directory");
        fs::write(workspace.join(".git/config"), "[core]\n").expect("a file");
        shell(POISON).workspace(workspace, WorkspaceMode::ReadWrite)
    };
    Attack::new("policy::protected_paths", attempt, |scene, outcome| {
        assert_eq!(lines(outcome), ["refused", "refused", "refused", "refused", "done", "done"]);
        let config = scene.path().join("workspace/.git/config");
        assert_eq!(fs::read_to_string(config).expect("it is there"), "[core]\n");
    })
    .twin(Weaker::Without(&[Layer::CoveredPaths]), |_, outcome| {
        assert_eq!(lines(outcome)[..3], ["done", "done", "done"]);
    })
    .cases()
}

fn denied_in_mounts() -> Vec<Case> {
    let attempt = |scene: &Scene| {
        let data = scene.directory("data/deep");
        fs::write(data.join("server.pem"), "secret").expect("a file");
        fs::write(data.join("server.txt"), "public").expect("a file");
        let request = shell("cat /data/deep/server.txt; cat /data/deep/server.pem || echo refused");
        let request = request.mount(Mount::read_only(scene.path().join("data"), "/data"));
        under(request, "fs:\n  deny: ['**/*.pem']")
    };
    Attack::new("policy::denied_in_mounts", attempt, |_, outcome| {
        assert_eq!(outcome.stdout.text(), "publicrefused\n");
    })
    .twin(Weaker::Without(&[Layer::CoveredPaths]), |_, outcome| {
        assert_eq!(outcome.stdout.text(), "publicsecret");
    })
    .cases()
}

fn protected_path_that_appears() -> Case {
    Case::steps("policy::protected_path_that_appears", |scene| {
        let workspace = scene.directory("workspace");
        let run =
            |line: &str| scene.run(shell(line).workspace(&workspace, WorkspaceMode::ReadWrite));
        assert!(run("echo fine > file").violations.is_empty());
        let outcome = run("echo 'curl evil' > .envrc");
        let kinds: Vec<ViolationKind> = outcome.violations.iter().map(|v| v.kind).collect();
        assert_eq!(kinds, [ViolationKind::ProtectedPath]);
        assert!(outcome.violations[0].message.contains(".envrc"), "{:?}", outcome.violations);
        // Now that it is there, it is protected.
        assert!(!run("echo more >> .envrc").success);
    })
    .only(Condition::ISOLATED)
}

/// A layer that a policy requires holds in full, or nothing is run.
fn required_layers() -> Case {
    Case::steps("policy::required_layers", |scene| {
        let started = scene.directory("workspace").join("started");
        let request = || {
            let request = command_line(&["touch", "started"])
                .workspace(scene.path().join("workspace"), WorkspaceMode::ReadWrite);
            under(request, "require: [seccomp, memory_limit]")
        };
        let refused = scene.try_run_without(request(), &[Layer::Seccomp]);
        let Err(Error::NotEnforced { layer: Layer::Seccomp, .. }) = refused else {
            panic!("{refused:?}")
        };
        assert!(!started.exists(), "nothing was run");
        match scene.try_run(request()) {
            Ok(outcome) => assert!(outcome.success && started.exists()),
            // A user without cgroups has no memory limit that holds in full.
            Err(Error::NotEnforced { layer: Layer::Memory, .. }) => {
                assert!(!scene.place.as_root && !started.exists());
            }
            Err(error) => panic!("{error}"),
        }
    })
    .only(Condition::ISOLATED)
}
