//! The directory that a run has as its workspace, and the one whose pictures come back.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use fumehood::{
    FileKind, Mount, Request, Within, Workspace, WorkspaceMode,
    policy::{MountLeave, Policy},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{failure::CallError, private::Private};

/// Which directory runs have as their workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WorkspaceChoice {
    /// A new one for each run.
    #[default]
    Fresh,
    /// One for each session of the protocol.
    Session,
    /// This one.
    Directory(PathBuf),
}

/// A directory of our own as workspace: written as far as the policy lets it be.
pub(super) fn own(
    directory: &Path,
    policy: &Policy,
    otherwise: Option<WorkspaceMode>,
) -> Workspace {
    let mode = match policy.ceiling.workspace.value {
        WorkspaceMode::ReadWrite => Some(WorkspaceMode::ReadWrite),
        WorkspaceMode::ReadOnly | WorkspaceMode::Overlay => otherwise,
    };
    Workspace { directory: directory.to_owned(), mode }
}

const PLACE: &str = "/artifacts";
const MOST_PICTURES: usize = 8;
const MOST_BYTES: u64 = 4 << 20;
const MOST_LISTED: usize = 64;
const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The directory `/artifacts` of one run. Absent where the policy lets nothing writable be mounted.
pub(super) struct Artifacts(Option<TempDir>);

/// A picture, as the protocol wants it.
pub(super) struct Picture {
    pub(super) base64: String,
}

impl Artifacts {
    pub(super) fn add(
        request: &mut Request,
        policy: &Policy,
        private: &Private,
    ) -> Result<Artifacts, CallError> {
        if policy.ceiling.mounts.value != MountLeave::ReadWrite {
            return Ok(Artifacts(None));
        }
        let directory = private.directory()?;
        request.mounts.push(Mount::read_write(directory.path(), PLACE));
        Ok(Artifacts(Some(directory)))
    }

    /// The pictures, and what is said about every file.
    pub(super) fn collect(self) -> (Vec<Picture>, Vec<Value>) {
        let (mut pictures, mut notes) = (Vec::new(), Vec::new());
        let Some(within) = self.0.as_ref().and_then(|place| Within::open(place.path()).ok()) else {
            return (pictures, notes);
        };
        let (listed, _) = within.list(Path::new(""), MOST_LISTED).unwrap_or_default();
        for file in listed.into_iter().filter(|file| file.kind == FileKind::File) {
            let note = if !file.name.to_ascii_lowercase().ends_with(".png") {
                "not returned: only PNG files are"
            } else if pictures.len() == MOST_PICTURES {
                "not returned: there are 8 pictures already"
            } else if file.size > MOST_BYTES {
                "not returned: it is larger than 4 MiB"
            } else {
                match within.read(Path::new(&file.name), MOST_BYTES) {
                    Ok((bytes, _)) if bytes.starts_with(SIGNATURE) => {
                        let base64 = base64::engine::general_purpose::STANDARD.encode(bytes);
                        pictures.push(Picture { base64 });
                        "returned"
                    }
                    _ => "not returned: it is no PNG file",
                }
            };
            notes.push(json!({"name": file.name, "bytes": file.size, "note": note}));
        }
        (pictures, notes)
    }
}
