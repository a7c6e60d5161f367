//! What the rows about files need outside of the box.

use std::{env, fs, os::unix::fs::symlink, path::Path};

use super::super::{
    given::{secrets, with_secrets},
    judge::Seen,
    row::Pending,
    stage::{Stage, Trouble, under},
};
use crate::{Dataset, Mount, Request, ViolationKind, Within, WorkspaceMode};

/// A file of this machine that is there for certain, and those that everybody looks for.
pub(super) fn host_secrets(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let decoy = stage.file("decoy", "secret")?;
    let home = env::var("HOME").unwrap_or_else(|_| "/root".to_owned());
    let of_home = [".ssh/id_ed25519", ".ssh/id_rsa", ".aws/credentials", ".env", ".netrc"];
    let words = ["F1".to_owned(), decoy.display().to_string(), "/etc/shadow".to_owned()];
    let words = words.into_iter().chain(of_home.iter().map(|file| format!("{home}/{file}")));
    Ok(stage.attack(words))
}

/// Two directories, and a request that mounts the first.
fn two_sources(
    stage: &Stage<'_>,
) -> Result<(std::path::PathBuf, std::path::PathBuf, Request), Trouble> {
    let (source, other) = (stage.directory("source")?, stage.directory("other")?);
    stage.file("other/file", "secret")?;
    let request =
        stage.attack(["F2", "/mounted/file"]).mount(Mount::read_only(&source, "/mounted"));
    Ok((source, other, request))
}

fn replace(source: &Path, other: &Path) {
    let _ = fs::remove_dir(source);
    let _ = symlink(other, source);
}

fn read_or_aborted(result: Result<crate::Outcome, crate::Error>) -> Seen {
    match result {
        Ok(outcome) => {
            let read = super::super::host::said(&outcome, "read secret");
            Seen::only("source", if read { "read" } else { "mounted" })
        }
        Err(_) => Seen::only("source", "aborted"),
    }
}

pub(super) fn swapped_source<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let (source, other, request) = two_sources(stage)?;
        if stage.is_engine() {
            return Err(Trouble::Missing(
                "the engine opens mount sources itself, by their paths: a link put there later is followed",
            ));
        }
        Ok(read_or_aborted(stage.run_after(request, |_| replace(&source, &other)).await))
    })
}

pub(super) fn linked_source<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let (source, other, request) = two_sources(stage)?;
        replace(&source, &other);
        Ok(read_or_aborted(stage.run(request).await))
    })
}

async fn creates(stage: &Stage<'_>, policy: &str) -> Result<Seen, Trouble> {
    let workspace = stage.directory("workspace")?;
    let request =
        stage.attack(["F3", "obeyed.conf"]).workspace(workspace, WorkspaceMode::ReadWrite);
    let outcome = stage.run(under(request, policy)).await?;
    let named = |violation: &crate::Violation| {
        violation.kind == ViolationKind::ProtectedPath && violation.message.contains("obeyed.conf")
    };
    let seen = Seen::of(&outcome);
    let refused = seen.answers.iter().find(|answer| answer.answer != "done");
    Ok(match refused {
        Some(refused) => Seen::only("created", refused.answer.clone()),
        None if outcome.violations.iter().any(named) => Seen::only("created", "reported"),
        None => Seen::only("created", "silent"),
    })
}

pub(super) fn created_later<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(creates(stage, "fs:\n  protect: [obeyed.conf]"))
}

pub(super) fn created_unprotected<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(creates(stage, ""))
}

pub(super) fn renamed_parent(stage: &Stage<'_>) -> Result<Request, Trouble> {
    stage.file("workspace/.git/config", "[core]\n")?;
    stage.directory("workspace/.git/hooks")?;
    with_secrets(stage, &["F4", "sub/.env", ".git/config"])
}

pub(super) fn hard_link(stage: &Stage<'_>) -> Result<Request, Trouble> {
    with_secrets(stage, &["F5", ".env"])
}

pub(super) fn other_names(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let words = ["F6", "/workspace/.env", "/workspace/keys/.ssh/id_ed25519", "/alias/sub/.env"];
    let request = with_secrets(stage, &words)?;
    Ok(request.mount(Mount::read_only(secrets(stage)?, "/alias")))
}

pub(super) fn spellings(stage: &Stage<'_>) -> Result<Request, Trouble> {
    with_secrets(
        stage,
        &[
            "F8",
            "/workspace//.env",
            "/workspace/./sub/../.env",
            "//workspace///sub////.env",
            "/workspace/sub/../sub/./server.pem",
            "/workspace/keys/.ssh/../.ssh//id_ed25519",
            "/proc/self/root/../workspace/.env",
            "/workspace/.ENV",
            "/workspace/[.]env",
            "/workspace/.env.",
        ],
    )
}

/// The links are planted by a box, and read as every part of fumehood reads from outside.
async fn plant(stage: &Stage<'_>) -> Result<std::path::PathBuf, Trouble> {
    let workspace = stage.directory("workspace")?;
    let decoy = stage.file("outside/decoy", "secret")?;
    let request = stage.attack(["F7", &decoy.display().to_string()]);
    stage.run(request.workspace(&workspace, WorkspaceMode::ReadWrite)).await?;
    Ok(workspace)
}

pub(super) fn planted_links<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let workspace = plant(stage).await?;
        let within = Within::open(&workspace).map_err(|error| Trouble::Stage {
            what: "the workspace",
            reason: std::io::Error::other(error),
        })?;
        let read = |path: &str| match within.read(Path::new(path), 4096) {
            Ok(_) => "followed",
            Err(_) => "refused",
        };
        let write = |path: &str| match within.write(Path::new(path), b"overwritten") {
            Ok(()) => "followed",
            Err(_) => "refused",
        };
        let mut seen = Seen::default();
        for path in ["report.txt", "results/decoy", "climb/passwd"] {
            seen = seen.and("read", read(path));
        }
        seen = seen.and("write", write("results/planted"));
        // A link may be replaced by a file; what it leads to must not change.
        let _ = within.write(Path::new("report.txt"), b"overwritten");
        let decoy = fs::read_to_string(stage.path.join("outside/decoy")).unwrap_or_default();
        Ok(seen.and("target", if decoy == "secret" { "refused" } else { "followed" }))
    })
}

pub(super) fn naive_reader<'a>(stage: &'a Stage<'a>) -> Pending<'a> {
    Box::pin(async move {
        let workspace = plant(stage).await?;
        let followed =
            fs::read_to_string(workspace.join("report.txt")).is_ok_and(|text| text == "secret");
        Ok(Seen::only("read", if followed { "followed" } else { "refused" }))
    })
}

/// What the default profile protects, one of each kind.
pub(super) fn poison(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let files = [
        ".git/config",
        ".git/hooks/pre-commit",
        ".envrc",
        ".vscode/tasks.json",
        ".claude/settings.json",
        ".mcp.json",
        ".husky/pre-commit",
    ];
    for file in files {
        stage.file(&format!("workspace/{file}"), "ours")?;
    }
    let workspace = stage.directory("workspace")?;
    let words =
        std::iter::once("F9").chain(files.into_iter().filter(|file| *file != ".git/config"));
    Ok(stage.attack(words).workspace(workspace, WorkspaceMode::ReadWrite))
}

/// Variables of this process that a box has no reason to have, and the name of the machine.
pub(super) fn callers_secrets(stage: &Stage<'_>) -> Result<Request, Trouble> {
    const USUAL: &[&str] = &[
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "PWD", "TMPDIR", "LC_ALL",
        "HOSTNAME", "TZ", "SHLVL", "_", "OLDPWD",
    ];
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let variables = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let variables = variables.filter(|name| !USUAL.contains(&name.as_str()));
    Ok(stage.attack(["F10".to_owned(), name].into_iter().chain(variables.take(200))))
}

pub(super) fn outside(stage: &Stage<'_>) -> Result<Request, Trouble> {
    let places = [
        "/planted",
        "/usr/planted",
        "/etc/planted",
        "/usr/bin/planted",
        "/proc/planted",
        "/workspace/../planted",
        "/dev/planted",
    ];
    Ok(stage.attack(std::iter::once("F11").chain(places)))
}

/// Directories of the caller in every place that only shows them.
fn shown(stage: &Stage<'_>, mode: WorkspaceMode) -> Result<Request, Trouble> {
    for name in ["workspace", "deps", "candidate", "data"] {
        stage.file(&format!("{name}/deep/file"), "ours")?;
    }
    let words = [
        "F12",
        "/workspace/planted",
        "/workspace/deep/file",
        "/deps/planted",
        "/deps/deep/file",
        "/candidate/planted",
        "/datasets/data/planted",
    ];
    let name = "data".parse().map_err(|_| Trouble::Missing("the name of a data set"))?;
    let dataset = Dataset { name, path: stage.path.join("data") };
    let request = stage.attack(words).workspace(stage.path.join("workspace"), mode);
    Ok(request
        .deps(stage.path.join("deps"))
        .candidate(stage.path.join("candidate"))
        .dataset(dataset))
}

pub(super) fn read_only(stage: &Stage<'_>) -> Result<Request, Trouble> {
    shown(stage, WorkspaceMode::ReadOnly)
}

pub(super) fn writable(stage: &Stage<'_>) -> Result<Request, Trouble> {
    shown(stage, WorkspaceMode::ReadWrite)
}
