//! What the ledger says of a request: enough to know what was asked for, without its secrets.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use super::{Salt, clip};
use crate::{
    Access, Digest, Mount, MountSource, Program, Request, StdinSource, WorkspaceMode,
    policy::NetMode,
};

/// What of a request is recorded as it is. Everything else is recorded as digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Recording {
    /// Source code.
    pub code: bool,
    /// Values of variables.
    pub env: bool,
    /// Commands and arguments.
    pub argv: bool,
}

impl Default for Recording {
    fn default() -> Recording {
        Recording { code: false, env: false, argv: true }
    }
}

/// Something that is recorded by its digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    /// The digest under the ledger's salt.
    pub digest: Digest,
    /// How many bytes it has; not told of variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// The thing itself, where that is to be recorded; long ones are cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What kind of program was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramKind {
    /// Source code.
    Code,
    /// A command.
    Command,
}

/// Where standard input came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StdinSummary {
    /// There was none.
    Empty,
    /// It came while the program ran; nothing is known of it.
    Live,
    /// It was part of the request.
    Given(Sealed),
}

/// One mount that was asked for, or the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MountSummary {
    /// The path of the host; absent for private writable space.
    pub source: Option<String>,
    /// The path in the box.
    pub target: String,
    /// Whether it could be written.
    pub access: Access,
}

/// What the ledger says of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestSummary {
    /// The digest of the whole request, also of what is not recorded otherwise.
    pub digest: Digest,
    /// Code or a command.
    pub kind: ProgramKind,
    /// The language of the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The name of the file that held the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_name: Option<String>,
    /// The code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Sealed>,
    /// The command with its arguments, or the arguments of the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argv: Option<Vec<String>>,
    /// The same as a digest, where it is not recorded or does not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argv_sealed: Option<Sealed>,
    /// Standard input.
    pub stdin: StdinSummary,
    /// Variables by name.
    pub env: BTreeMap<String, Sealed>,
    /// The directory that became the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceSummary>,
    /// Further mounts.
    pub mounts: Vec<MountSummary>,
    /// The network, if one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetMode>,
    /// How many variables and mounts did not fit in here. The digest covers them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: usize,
}

/// The directory that became the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceSummary {
    /// As it was named.
    pub directory: String,
    /// How it was asked for; absent, as the policy says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<WorkspaceMode>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl RequestSummary {
    /// What is recorded of this request.
    pub fn new(request: &Request, salt: &Salt, recording: Recording) -> RequestSummary {
        let with_name;
        let (kind, words) = match &request.program {
            Program::Code { args, .. } => (ProgramKind::Code, args),
            Program::Command { argv } => (ProgramKind::Command, argv),
            Program::Helper { helper, args } => {
                with_name = [&[helper.name().to_owned()], &args[..]].concat();
                (ProgramKind::Command, &with_name)
            }
        };
        let (kept, all) = clip::words(words);
        let stdin = match &request.stdin {
            StdinSource::Empty => StdinSummary::Empty,
            StdinSource::Live => StdinSummary::Live,
            StdinSource::Bytes(bytes) => {
                StdinSummary::Given(with_length(salt.seal("stdin", bytes), bytes.len()))
            }
        };
        let variables = request.env.iter().take(clip::MOST_ENTRIES);
        let mounts = request.mounts.iter().take(clip::MOST_MOUNTS).map(mount);
        let mut summary = RequestSummary {
            digest: request_digest(request, salt),
            kind,
            language: None,
            file_name: None,
            code: None,
            argv: recording.argv.then_some(kept),
            argv_sealed: (!recording.argv || !all)
                .then(|| with_length(salt.seal("argv", &joined(words)), words.len())),
            stdin,
            env: variables.map(|(name, value)| variable(name, value, salt, recording)).collect(),
            workspace: request.workspace.as_ref().map(|workspace| WorkspaceSummary {
                directory: path(&workspace.directory),
                mode: workspace.mode,
            }),
            mounts: mounts.collect(),
            network: request.network,
            left_out: request.env.len().saturating_sub(clip::MOST_ENTRIES)
                + request.mounts.len().saturating_sub(clip::MOST_MOUNTS),
        };
        if let Program::Code { language, source, file_name, .. } = &request.program {
            summary.language = Some(short(language));
            summary.file_name = file_name.as_deref().map(short);
            let mut code = with_length(salt.seal("code", source), source.len());
            code.text = recording
                .code
                .then(|| clip::text(&String::from_utf8_lossy(source), clip::MOST_CODE));
            summary.code = Some(code);
        }
        summary
    }
}

fn with_length(digest: Digest, length: usize) -> Sealed {
    Sealed { digest, length: Some(length as u64), text: None }
}

fn short(text: &str) -> String {
    clip::text(text, clip::MOST_SHORT)
}

fn path(path: &Path) -> String {
    clip::text(&path.to_string_lossy(), clip::MOST_PATH)
}

/// The name is part of the role: that two variables have the same value stays between them.
fn variable(name: &str, value: &str, salt: &Salt, recording: Recording) -> (String, Sealed) {
    let digest = salt.seal(&format!("env {name}"), value.as_bytes());
    let text = recording.env.then(|| short(value));
    (short(name), Sealed { digest, length: None, text })
}

fn mount(mount: &Mount) -> MountSummary {
    MountSummary {
        source: match &mount.source {
            MountSource::Host(source) | MountSource::Overlay { lower: source } => {
                Some(path(source))
            }
            MountSource::Scratch => None,
        },
        target: path(&mount.target),
        access: mount.access,
    }
}

/// Words as bytes from which they could be told apart again.
fn joined(words: &[String]) -> Vec<u8> {
    words
        .iter()
        .flat_map(|word| [&word.len().to_le_bytes()[..], word.as_bytes()].concat())
        .collect()
}

/// One digest over everything that was asked for.
fn request_digest(request: &Request, salt: &Salt) -> Digest {
    let Request { program, stdin, env, workspace, mounts, limits, network, backend, .. } = request;
    let Request { volumes, deps, candidate, datasets, git, policy, image, runtime, .. } = request;
    let Request { allow, dns, .. } = request;
    let (names, source): (Vec<String>, &[u8]) = match program {
        Program::Command { argv } => ([&["command".to_owned()], &argv[..]].concat(), b""),
        Program::Helper { helper, args } => {
            let first = ["helper", helper.name()].map(str::to_owned);
            ([&first[..], args].concat(), b"")
        }
        Program::Code { language, source, file_name, args } => {
            let name = file_name.as_deref().unwrap_or_default();
            let first = ["code", language, name].map(str::to_owned);
            ([&first[..], args].concat(), source)
        }
    };
    let (stdin_kind, stdin_bytes): (&str, &[u8]) = match stdin {
        StdinSource::Empty => ("empty", b""),
        StdinSource::Live => ("live", b""),
        StdinSource::Bytes(bytes) => ("given", bytes),
    };
    let variables: Vec<String> =
        env.iter().flat_map(|(name, value)| [name.clone(), value.clone()]).collect();
    let workspace = workspace.as_ref().map(|place| (place.directory.to_string_lossy(), place.mode));
    // Strings and numbers, which always serialize.
    let rest = serde_json::to_vec(&(workspace, mounts, limits, network, backend));
    let given = format!(
        "{:?}",
        (volumes, deps, candidate, datasets, git, policy, image, runtime, allow, dns)
    );
    let mut further = format!("{:?}", (&request.overrides, &request.guest));
    for (path, content) in &request.files {
        further.push_str(&format!("{path:?} {}", Digest::of(content)));
    }
    let whole = Digest::of_parts([
        &joined(&names)[..],
        source,
        stdin_kind.as_bytes(),
        stdin_bytes,
        &joined(&variables),
        &rest.unwrap_or_default(),
        given.as_bytes(),
        further.as_bytes(),
    ]);
    salt.seal("request", whole.as_str().as_bytes())
}
