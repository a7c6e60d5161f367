//! The files of a ledger and their order.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

use super::{
    error::{LedgerError, system},
    first_number,
};

/// The file that is written to.
pub(super) const NEWEST: &str = "ledger.jsonl";

/// The name of an older file that begins with this line.
pub(super) fn older_name(first: u64) -> String {
    format!("ledger-{first:012}.jsonl")
}

/// The number in the name of an older file.
fn number_in(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("ledger-")?.strip_suffix(".jsonl")?;
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// The names of the older files, oldest first.
pub(super) fn older(directory: &Path) -> Result<Vec<String>, LedgerError> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(system("listed", directory))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let name = entry.map_err(system("listed", directory))?.file_name();
        if let Some(name) = name.to_str()
            && let Some(number) = number_in(name)
        {
            found.push((number, name.to_owned()));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, name)| name).collect())
}

/// Gives the newest file, which is open here, the name of an older one. Gives that name.
pub(super) fn rotate(directory: &Path, newest: &mut File) -> Result<String, LedgerError> {
    let path = directory.join(NEWEST);
    let mut beginning = Vec::new();
    newest
        .seek(SeekFrom::Start(0))
        .and_then(|_| newest.take(64).read_to_end(&mut beginning))
        .map_err(system("read", &path))?;
    let first = first_number(&beginning).map_err(|_| LedgerError::BadEnd { path: path.clone() })?;
    let name = older_name(first);
    let target: PathBuf = directory.join(&name);
    // Renaming would silently replace it.
    if target.symlink_metadata().is_ok() {
        return Err(LedgerError::Taken { path, target });
    }
    fs::rename(&path, &target).map_err(system("renamed", &path))?;
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_number_and_strangers_are_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let names = [&older_name(7), "ledger-1234567890123.jsonl", &older_name(123), NEWEST, "x"];
        for name in names.into_iter().chain(["ledger-+5.jsonl", "ledger-.jsonl", "ledger-5.json"]) {
            fs::write(directory.path().join(name), "").unwrap();
        }
        let expected = [
            "ledger-000000000007.jsonl",
            "ledger-000000000123.jsonl",
            "ledger-1234567890123.jsonl",
        ];
        assert_eq!(older(directory.path()).unwrap(), expected);
        assert!(older(&directory.path().join("nowhere")).unwrap().is_empty());
    }
}
