//! Where the ledger is.

use std::{env, path::PathBuf};

use super::LedgerError;
use crate::places::Directory;

/// The directory for what fumehood has to remember: `FUMEHOOD_STATE_DIR`, else
/// `XDG_STATE_HOME/fumehood`, else `~/.local/state/fumehood`.
pub fn state_dir() -> Result<PathBuf, LedgerError> {
    Directory::State.find(|name| env::var_os(name)).ok_or(LedgerError::NoPlace)
}

/// The directory of the ledger, below [`state_dir`].
pub fn ledger_dir() -> Result<PathBuf, LedgerError> {
    Ok(state_dir()?.join("ledger"))
}
