//! Rows about files.

mod checks;

use self::checks::{
    callers_secrets, created_later, created_unprotected, hard_link, host_secrets, linked_source,
    naive_reader, other_names, outside, planted_links, poison, read_only, renamed_parent,
    spellings, swapped_source, writable,
};
use super::{
    judge::{all, one},
    row::{Row, Twin, host, inside, row},
};
use crate::Layer;

const NOT_THERE: &[&str] = &["ENOENT", "EACCES", "EPERM", "ENOTDIR"];
const COVERED: &[&str] = &["EACCES", "EPERM", "ENOENT"];
const READ_ONLY: &[&str] = &["EROFS", "EACCES", "EPERM", "EBUSY", "EXDEV"];

const UNCOVERED: Twin = Twin::Without(&[Layer::CoveredPaths]);

/// Every row.
pub(super) static ROWS: &[Row] = &[
    row(
        "F1",
        "read ~/.ssh, ~/.aws, .env, /etc/shadow, files of the host",
        "absent or EACCES",
        "mounts",
        &[Layer::MountNamespace],
        (inside(host_secrets), &[all(NOT_THERE)], Twin::NoBox),
    ),
    row(
        "F2",
        "a link in the place of a mount source, put there while the box is made",
        "aborted",
        "sources opened without following links",
        &[Layer::MountNamespace],
        (
            host(swapped_source),
            &[all(&["aborted"])],
            Twin::Staged("the link is there before the plan", host(linked_source)),
        ),
    ),
    row(
        "F3",
        "a denied file that is not there at the start and is created later",
        "the rule still holds, or the result says that it cannot",
        "looked for again when the run is over",
        &[Layer::CoveredPaths],
        (
            host(created_later),
            &[all(&["reported", "EACCES", "EROFS", "EPERM"])],
            Twin::Staged("under a policy that does not protect it", host(created_unprotected)),
        ),
    ),
    row(
        "F4",
        "rename what a denied or protected path is in",
        "EBUSY, or the same refusal under the new name",
        "mounts on the path, pinned directories above it",
        &[Layer::CoveredPaths],
        (
            inside(renamed_parent),
            &[one("read_denied", COVERED), one("rename_above_protected", &["EBUSY", "EROFS"])],
            UNCOVERED,
        ),
    ),
    row(
        "F5",
        "a hard link to a denied file",
        "EXDEV or EPERM",
        "separate mounts",
        &[Layer::CoveredPaths],
        (
            inside(hard_link),
            &[one("link", &["EXDEV", "EPERM", "EACCES"]), one("read_link", NOT_THERE)],
            UNCOVERED,
        ),
    ),
    row(
        "F6",
        "a denied file through /proc/self/root, a descriptor, the working directory, a second mount",
        "the same refusal",
        "paths enforced by the kernel",
        &[Layer::CoveredPaths],
        (inside(other_names), &[all(COVERED)], UNCOVERED),
    ),
    row(
        "F7",
        "a link planted in the workspace, followed from outside later",
        "never followed",
        "every read from outside stays beneath the directory",
        &[],
        (
            host(planted_links),
            &[all(&["refused"])],
            Twin::Staged("a reader that follows links", host(naive_reader)),
        ),
    ),
    row(
        "F8",
        "other spellings of a denied path: dots, double slashes, brackets, case",
        "the same refusal",
        "patterns matched on real names, mounts on the path",
        &[Layer::CoveredPaths],
        (inside(spellings), &[all(COVERED)], UNCOVERED),
    ),
    row(
        "F9",
        "poison .git/hooks, .git/config, .envrc, settings of editors and agents",
        "EROFS",
        "protected paths",
        &[Layer::CoveredPaths],
        (inside(poison), &[all(READ_ONLY)], UNCOVERED),
    ),
    row(
        "F10",
        "variables of the caller, /proc/1/environ, command lines, the name of the host",
        "absent",
        "clean environment, pid and uts namespaces",
        &[Layer::PidNamespace, Layer::UtsNamespace],
        (
            inside(callers_secrets),
            &[one("environment_of_init", &["EACCES", "EPERM"]), all(&["absent"])],
            Twin::NoBox,
        ),
    ),
    row(
        "F11",
        "write outside of the workspace",
        "EROFS or EACCES",
        "read-only root",
        &[Layer::ReadOnlyRoot],
        (
            inside(outside),
            &[all(&["EROFS", "EACCES", "ENOENT", "EPERM"])],
            Twin::WithoutNatively(
                &[Layer::ReadOnlyRoot],
                "what is in an image belongs to its root, so another wall stands there",
            ),
        ),
    ),
    row(
        "F12",
        "write to a read-only workspace, /deps, /candidate, /datasets",
        "EROFS",
        "read-only mounts",
        &[Layer::MountNamespace],
        (
            inside(read_only),
            &[all(&["EROFS", "EACCES"])],
            Twin::Staged("a workspace that may be written", inside(writable)),
        ),
    ),
];
