//! What checks from outside share: the attack program without a box, and signs of life.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    judge::Seen,
    stage::{Stage, Trouble},
};
use crate::{Captured, Helper, Outcome, backend::helper_program};

/// How long a dead process may seem alive.
const SETTLING: Duration = Duration::from_millis(400);
/// How long nothing must happen to count as dead: many times what lies between two signs of life.
const WATCHING: Duration = Duration::from_millis(300);

/// The attack program as a file of the host.
pub(super) fn attack_program(stage: &Stage<'_>) -> Result<PathBuf, Trouble> {
    let name = Helper::Attacks.name();
    let path = helper_program(name, &stage.sandbox.inner.cache_dir)?;
    path.ok_or(Trouble::Missing("this build does not carry the attack program"))
}

/// What it printed without a box.
pub(super) fn printed(stdout: &[u8]) -> Seen {
    let text = String::from_utf8_lossy(stdout);
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.fold(Seen::default(), |seen, (label, answer)| seen.and(label, answer))
}

/// Whether something still writes signs of life into this directory.
pub(super) async fn is_alive(directory: &Path) -> bool {
    let beat = || fs::read_to_string(directory.join("beat")).unwrap_or_default();
    tokio::time::sleep(SETTLING).await;
    let before = beat();
    tokio::time::sleep(WATCHING).await;
    before != beat()
}

/// `dead` or `alive`.
pub(super) async fn life(directory: &Path) -> &'static str {
    if is_alive(directory).await { "alive" } else { "dead" }
}

/// True if a program said this.
pub(super) fn said(outcome: &Outcome, words: &str) -> bool {
    let Captured(bytes) = &outcome.stdout;
    bytes.windows(words.len()).any(|window| window == words.as_bytes())
}
