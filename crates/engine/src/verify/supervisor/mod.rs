//! Rows about the supervisor and its record.

mod checks;

use self::checks::{
    allowed_layer, forged_records, honest_guest, hostile_guest, killed_shell, killed_supervisor,
    missing_layer, others_things, own_things, raw_sequences, sequences, tampered_ledger,
    whole_ledger,
};
use super::{
    judge::{all, one},
    row::{Row, Twin, host, row},
};
use crate::Layer;

/// Every row.
pub(super) static ROWS: &[Row] = &[
    row(
        "S1",
        "control sequences in output that a person reads",
        "shown, not obeyed",
        "escaping on a terminal",
        &[],
        (
            host(sequences),
            &[all(&["harmless"])],
            Twin::Staged("output as it is", host(raw_sequences)),
        ),
    ),
    row(
        "S2",
        "newlines and JSON in arguments, names, output",
        "one record, intact",
        "serialization",
        &[],
        (
            host(forged_records),
            &[one("records", &["1"]), one("chain", &["intact"])],
            Twin::Not("no part of fumehood writes records in another way"),
        ),
    ),
    row(
        "S3",
        "the supervisor killed in the middle of a run",
        "the box dies",
        "parent-death signal, end of the control channel, leases",
        &[Layer::PidNamespace],
        (
            host(killed_supervisor),
            &[all(&["dead"])],
            Twin::Staged("a shell in its place", host(killed_shell)),
        ),
    ),
    row(
        "S4",
        "a layer that is missing",
        "refused, with the reason, unless the policy allows less",
        "fail closed",
        &[],
        (
            host(missing_layer),
            &[all(&["refused"])],
            Twin::Staged("under a policy that does not require it", host(allowed_layer)),
        ),
    ),
    row(
        "S5",
        "the ledger edited, reordered, cut short",
        "noticed",
        "hash chain",
        &[],
        (
            host(tampered_ledger),
            &[all(&["noticed"])],
            Twin::Staged("a ledger that nobody touched", host(whole_ledger)),
        ),
    ),
    row(
        "S6",
        "malformed frames on the control channel from a hostile guest",
        "the box is closed, the supervisor unharmed",
        "strict decoder with bounds",
        &[],
        (
            host(hostile_guest),
            &[all(&["closed"])],
            Twin::Staged("a guest that keeps to the protocol", host(honest_guest)),
        ),
    ),
    row(
        "S7",
        "name the overlay, volume or record of somebody else",
        "not found",
        "everything is looked up below one's own state directory",
        &[],
        (host(others_things), &[all(&["not_found"])], Twin::Staged("one's own", host(own_things))),
    ),
];
