//! Reading, writing and listing the workspace from outside of any box. No path leads out of it, no
//! link is followed, and what the policy hides or protects is hidden and protected here too.

use std::path::{Component, Path, PathBuf};

use fumehood::{
    FileKind, Request, Within, WorkspaceMode,
    policy::{Decision, Policy},
};
use rmcp::model::CallToolResult;
use serde_json::json;

use super::{
    answer,
    arguments::{Content, FilesList, FilesRead, FilesWrite},
    failure::CallError,
    session::Session,
};

/// The most that is read of one file.
const MOST_READ: u64 = 1 << 20;
/// The most names of one directory.
const MOST_LISTED: usize = 1000;

pub(super) fn read(session: &Session, arguments: FilesRead) -> Result<CallToolResult, CallError> {
    let (within, policy) = open(session)?;
    let path = arguments.path;
    allowed(&policy.path_decision(&plain(&path)).read, &path, "read")?;
    let (bytes, size) = within.read(&path, MOST_READ)?;
    let truncated = size > bytes.len() as u64;
    let (text, encoding) = match String::from_utf8(bytes) {
        Ok(text) => (text, "utf-8"),
        // The end of what was read may be in the middle of a character.
        Err(error) if truncated && error.utf8_error().error_len().is_none() => {
            (String::from_utf8_lossy(error.as_bytes()).into_owned(), "utf-8")
        }
        Err(error) => {
            use base64::Engine as _;
            (base64::engine::general_purpose::STANDARD.encode(error.as_bytes()), "base64")
        }
    };
    let object = json!({
        "path": path, "size": size, "truncated": truncated, "encoding": encoding, "content": text,
    });
    let note = match truncated {
        true => format!(
            "{text}\n[... the file has {size} bytes, and this is its first MiB; read the rest with sandboxed_shell.run ...]"
        ),
        false => text,
    };
    Ok(answer::of_object(note, object))
}

pub(super) fn write(session: &Session, arguments: FilesWrite) -> Result<CallToolResult, CallError> {
    let (within, policy) = open(session)?;
    let FilesWrite { path, content: Content(content) } = arguments;
    may_write(&policy, &path)?;
    within.write(&path, &content)?;
    let text = format!("wrote {} bytes to {}", content.len(), path.display());
    Ok(answer::of_object(text, json!({"path": path, "size": content.len()})))
}

pub(super) fn list(session: &Session, arguments: FilesList) -> Result<CallToolResult, CallError> {
    let (within, policy) = open(session)?;
    let path = arguments.path;
    let directory = plain(&path);
    allowed(&policy.path_decision(&directory).read, &path, "listed")?;
    let (listed, more) = within.list(&path, MOST_LISTED)?;
    let mut text = String::new();
    let mut entries = Vec::new();
    for one in listed {
        if !policy.path_decision(&directory.join(&one.name)).read.allowed {
            continue;
        }
        let (mark, kind) = match one.kind {
            FileKind::Directory => ("/", "directory"),
            FileKind::Symlink => ("@", "link"),
            FileKind::File => ("", "file"),
            FileKind::Special => ("?", "special"),
        };
        text += &format!("{}{mark}\n", one.name);
        entries.push(json!({"name": one.name, "kind": kind, "size": one.size}));
    }
    if more {
        text +=
            &format!("[... more than {MOST_LISTED} names; list with sandboxed_shell.run ...]\n");
    }
    Ok(answer::of_object(text, json!({"path": path, "entries": entries, "truncated": more})))
}

/// Whether a file may be written from outside of a box.
pub(super) fn may_write(policy: &Policy, path: &Path) -> Result<(), CallError> {
    allowed(&policy.path_decision(&plain(path)).write, path, "written")?;
    match policy.fs.workspace.value {
        WorkspaceMode::Overlay => Err(CallError::Overlay),
        WorkspaceMode::ReadOnly | WorkspaceMode::ReadWrite => Ok(()),
    }
}

fn open(session: &Session) -> Result<(Within, Policy), CallError> {
    let directory = session.directory()?.ok_or(CallError::NoWorkspace)?;
    let shared = session.shared();
    let mut policy = shared.sandbox.policy(&shared.configured(Request::command(["true"])))?;
    if shared.directory().is_none() && policy.ceiling.workspace.value == WorkspaceMode::ReadWrite {
        // A directory of our own is mounted to be written, whatever the policy says of the user's.
        policy.fs.workspace.value = WorkspaceMode::ReadWrite;
    }
    Ok((Within::open(&directory)?, policy))
}

/// The path without `.` in it, for the patterns of a policy.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

fn allowed(decision: &Decision, path: &Path, verb: &'static str) -> Result<(), CallError> {
    match decision.allowed {
        true => Ok(()),
        false => Err(CallError::Denied {
            path: path.display().to_string(),
            verb,
            reason: decision.reason.clone(),
            origin: decision.origin.to_string(),
        }),
    }
}
