//! Who asked for a run.

use serde::{Deserialize, Serialize};

/// Who asked for a run, as the system knows it. Nothing here is what the caller says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The number of the user.
    pub uid: u32,
    /// The user's name, if the machine's own list has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The process that ran fumehood.
    pub pid: u32,
    /// The name of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The program of that process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
}
