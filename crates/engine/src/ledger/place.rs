//! Where the ledger is.

use std::{env, path::PathBuf};

use super::LedgerError;

/// The directory for what fumehood has to remember: `FUMEHOOD_STATE_DIR`, else
/// `XDG_STATE_HOME/fumehood`, else `~/.local/state/fumehood`.
pub fn state_dir() -> Result<PathBuf, LedgerError> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    absolute("FUMEHOOD_STATE_DIR")
        .or_else(|| absolute("XDG_STATE_HOME").map(|state| state.join("fumehood")))
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state/fumehood")))
        .ok_or(LedgerError::NoPlace)
}

/// The directory of the ledger, below [`state_dir`].
pub fn ledger_dir() -> Result<PathBuf, LedgerError> {
    Ok(state_dir()?.join("ledger"))
}
