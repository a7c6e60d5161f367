//! Carrying changes over into the workspace: everything is checked, then it is done in an order in
//! which nothing is lost if it stops.
//!
//! 1. Directories that must be written to and are closed are opened to their owner.
//! 2. What is in a directory that becomes something else is deleted, and the directory with it.
//! 3. New directories are made.
//! 4. Files and links are written under another name beside their place, and renamed.
//! 5. The other deletions are made.
//! 6. Directories get their permissions.

use std::{
    collections::{BTreeSet, HashSet},
    path::PathBuf,
};

use super::{
    check::{Check, Standing},
    error::{OverlayError, Reason},
    hand::Hand,
    record::{Entry, Record},
    select::{LeftOut, Selection, select},
    tree::{Cover, Tree},
};
use crate::{Change, ChangeKind, FileKind, FilePath};

/// What was applied, and what was not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// The changes that the workspace has now.
    pub done: Vec<Change>,
    /// What was asked for and left out, with the reason.
    pub left_out: Vec<(FilePath, LeftOut)>,
    /// True if nothing is left, and the overlay is gone.
    pub removed: bool,
}

/// Applies what is asked for, and takes it out of the record. An error beside the result says
/// where it stopped; an error instead of it, that nothing was done.
pub(super) fn apply(
    record: &mut Record,
    upper: &Tree,
    lower: &Tree,
    paths: &[PathBuf],
) -> Result<(Applied, Option<OverlayError>), OverlayError> {
    let Selection { chosen, mut left_out } = select(record, paths)?;
    let entries = record.entries.take().unwrap_or_default();
    let result = carry_out(&entries, &chosen, &record.id, upper, lower);
    let (done, stopped) = match result {
        Ok(result) => result,
        Err(error) => {
            record.entries = Some(entries);
            return Err(error);
        }
    };
    let (mut applied, mut rest) = (Vec::new(), Vec::new());
    for (index, entry) in entries.into_iter().enumerate() {
        match done.contains(&index) {
            true => applied.push(entry.change),
            false => rest.push(entry),
        }
    }
    // What can never be applied is no reason to keep the overlay.
    if stopped.is_none() && !rest.iter().any(Entry::is_usable) {
        for entry in rest.drain(..) {
            if let Some(reason) = entry.never_applied()
                && !left_out.iter().any(|(path, _)| *path == entry.change.path)
            {
                left_out.push((entry.change.path, reason));
            }
        }
    }
    let error = stopped.map(|(path, reason)| OverlayError::Stopped {
        path,
        reason,
        done: applied.len(),
        left: chosen.len() - applied.len(),
    });
    record.entries = Some(rest);
    Ok((Applied { done: applied, left_out, removed: false }, error))
}

type Stopped = Option<(FilePath, String)>;

/// Checks, then does. Gives what was done, and where it stopped.
fn carry_out(
    entries: &[Entry],
    chosen: &BTreeSet<usize>,
    id: &str,
    upper: &Tree,
    lower: &Tree,
) -> Result<(BTreeSet<usize>, Stopped), OverlayError> {
    let check = Check::new(entries, chosen, upper, lower);
    let mut done = BTreeSet::new();
    let mut conflicts = Vec::new();
    for index in chosen {
        match check.look(&entries[*index]) {
            Ok(Standing::Ready) => {}
            Ok(Standing::Already) => drop(done.insert(*index)),
            Err(conflict) => conflicts.push(conflict),
        }
    }
    if !conflicts.is_empty() {
        return Err(OverlayError::Conflicts { conflicts });
    }
    let mut hand = Hand::new(upper, lower, id);
    let ready: Vec<usize> = chosen.difference(&done).copied().collect();
    let mut stopped = None;
    'steps: for (step, order) in steps(entries, &ready) {
        for index in order {
            let entry = &entries[index];
            if let Err(errno) = hand.carry_out(step, entry) {
                stopped = Some((entry.change.path.clone(), Reason(errno).to_string()));
                break 'steps;
            }
            if step.completes(entry) {
                done.insert(index);
            }
        }
    }
    // Also after a stop: what was made for writing must not stay as it is.
    for index in ready.iter().rev().filter(|index| done.contains(index)) {
        let entry = &entries[*index];
        if let Err(errno) = hand.set_directory_mode(entry) {
            stopped.get_or_insert((entry.change.path.clone(), Reason(errno).to_string()));
        }
    }
    Ok((done, stopped))
}

/// One kind of thing that is done to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Open a directory to its owner.
    Open,
    /// Delete a file or an empty directory.
    Delete,
    /// Make a directory.
    MakeDirectory,
    /// Put a file or a link in its place.
    Place,
}

impl Step {
    /// Whether a change is done after this step, but for the permissions of directories.
    fn completes(self, entry: &Entry) -> bool {
        match self {
            Step::Open => {
                entry.change.file == FileKind::Directory
                    && entry.change.kind == ChangeKind::Modified
            }
            Step::Delete => entry.change.kind == ChangeKind::Deleted,
            Step::MakeDirectory | Step::Place => true,
        }
    }
}

/// What is done, in order. The list of changes has directories before what is in them.
fn steps(entries: &[Entry], ready: &[usize]) -> Vec<(Step, Vec<usize>)> {
    let pick = |wanted: &dyn Fn(&Entry) -> bool| -> Vec<usize> {
        ready.iter().copied().filter(|index| wanted(&entries[*index])).collect()
    };
    let backwards = |mut list: Vec<usize>| {
        list.reverse();
        list
    };
    let is_replaced =
        |entry: &Entry| entry.ends_directory() && entry.change.kind == ChangeKind::TypeChanged;
    let mut replaced = Cover::default();
    let making_way: HashSet<&[u8]> = ready
        .iter()
        .map(|index| &entries[*index])
        .filter(|entry| replaced.is_below(entry.path(), is_replaced(entry)))
        .map(Entry::path)
        .collect();
    let makes_way = |entry: &Entry| {
        entry.change.kind == ChangeKind::Deleted && making_way.contains(entry.path())
    };
    let directory_before =
        |entry: &Entry| entry.lower.as_ref().is_some_and(|stamp| stamp.kind == FileKind::Directory);
    vec![
        (Step::Open, pick(&directory_before)),
        (Step::Delete, backwards(pick(&|entry| makes_way(entry) || is_replaced(entry)))),
        (Step::MakeDirectory, pick(&Entry::makes_directory)),
        (
            Step::Place,
            pick(&|entry| {
                entry.change.kind != ChangeKind::Deleted && entry.change.file != FileKind::Directory
            }),
        ),
        (
            Step::Delete,
            backwards(pick(&|entry| entry.change.kind == ChangeKind::Deleted && !makes_way(entry))),
        ),
    ]
}
