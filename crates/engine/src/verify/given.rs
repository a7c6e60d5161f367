//! Directories of the caller as attacks find them: a workspace with secrets, and with what is
//! executed or obeyed by others later.

use std::path::{Path, PathBuf};

use super::stage::{Stage, Trouble, under};
use crate::{Request, WorkspaceMode};

/// What is denied in a workspace with secrets.
const DENIED: &str = "fs:\n  deny: ['**/.env', '**/.ssh/**', '**/*.pem']";

/// A workspace with secrets in it.
pub(super) fn secrets(stage: &Stage<'_>) -> Result<PathBuf, Trouble> {
    let workspace = stage.directory("workspace")?;
    stage.directory("workspace/sub")?;
    for file in [".env", "sub/.env", "keys/.ssh/id_ed25519", "sub/server.pem"] {
        stage.file(&format!("workspace/{file}"), "secret")?;
    }
    Ok(workspace)
}

/// The attack with a workspace whose secrets are denied.
pub(super) fn with_secrets(stage: &Stage<'_>, words: &[&str]) -> Result<Request, Trouble> {
    Ok(with_words(stage, &secrets(stage)?, words))
}

/// The same with a workspace that is there already.
pub(super) fn with_words(stage: &Stage<'_>, workspace: &Path, words: &[&str]) -> Request {
    let request = stage.attack(words.iter().copied());
    under(request.workspace(workspace, WorkspaceMode::ReadWrite), DENIED)
}
