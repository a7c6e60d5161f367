//! What a run changed in an overlay workspace, and what can be done about it.

use fumehood::{Change, FileKind, Outcome};

use crate::paint::Paint;

/// The most changes that a report lists.
const SHOWN: usize = 20;

/// A part of the report: the first changes, and the three commands that go on from here. Empty if
/// nothing was changed.
pub fn section(outcome: &Outcome, paint: Paint) -> String {
    let Some(id) = &outcome.overlay else { return String::new() };
    let mut text = format!("{}\n", paint.strong("changes:"));
    for change in outcome.changes.iter().take(SHOWN) {
        text.push_str(&format!("  {}\n", line(change)));
    }
    let hidden = outcome.change_count.saturating_sub(SHOWN as u64);
    if hidden > 0 {
        text.push_str(&format!("  and {hidden} more\n"));
    }
    for command in ["diff", "apply", "discard"] {
        text.push_str(&format!("  fumehood {command} {id}\n"));
    }
    text
}

/// One sentence for somebody at a terminal.
pub fn hint(outcome: &Outcome) -> Option<String> {
    let id = outcome.overlay.as_ref()?;
    let count = outcome.change_count;
    let changes =
        if count == 1 { "1 change is".to_owned() } else { format!("{count} changes are") };
    Some(format!("{changes} kept: fumehood diff {id}, then apply or discard"))
}

/// A change on one line.
pub fn line(change: &Change) -> String {
    let mark = match change.file {
        FileKind::Directory => "/",
        FileKind::Symlink => "@",
        FileKind::File | FileKind::Special => "",
    };
    format!("{} {}{mark}", change.kind.letter(), change.path)
}
