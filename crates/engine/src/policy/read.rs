//! Reads one policy from a file.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use fumehood_core::policy::Document;

use super::PolicyError;

/// Larger than any policy that people write.
const MOST_BYTES: u64 = 1 << 20;

/// Reads a policy. The name is for messages.
pub(super) fn document(path: &Path, name: &str) -> Result<Document, PolicyError> {
    let text = text(path)?;
    let whole = std::path::absolute(path).map_err(|error| unreadable(path, &error))?;
    let directory = whole.parent().map_or_else(PathBuf::new, Path::to_owned);
    Ok(Document::read(name, &text, &directory)?)
}

/// Reads a policy that need not exist. One that cannot be looked at is a problem all the same: it
/// might forbid something.
pub(super) fn if_there(path: &Path) -> Result<Option<Document>, PolicyError> {
    match path.symlink_metadata() {
        Err(error) if is_absence(&error) => Ok(None),
        _ => document(path, &path.display().to_string()).map(Some),
    }
}

/// Whether there is simply nothing.
pub(super) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn text(path: &Path) -> Result<String, PolicyError> {
    // Looked at before it is opened: opening a pipe would wait for a writer.
    let about = path.metadata().map_err(|error| unreadable(path, &error))?;
    if !about.is_file() {
        return Err(PolicyError::NotAFile { path: path.to_owned() });
    }
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let mut bytes = Vec::with_capacity(about.len().min(MOST_BYTES) as usize + 1);
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(PolicyError::TooLarge { path: path.to_owned() });
    }
    String::from_utf8(bytes).map_err(|_| PolicyError::NotText { path: path.to_owned() })
}

pub(super) fn unreadable(path: &Path, error: &io::Error) -> PolicyError {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "it does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    };
    PolicyError::Unreadable { path: path.to_owned(), reason }
}
