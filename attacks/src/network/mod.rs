//! Attacks on the network: connections that ignore every convention.

mod flood;
mod names;
mod reach;
mod spoken;

use crate::Attack;

/// Every attack, by its row.
pub(crate) const ATTACKS: &[(&str, Attack)] = &[
    ("N1", reach::without_network),
    ("N2", reach::each),
    ("N3", reach::each),
    ("N4", reach::each),
    ("N5", reach::each),
    ("N6", names::in_labels),
    ("N7", spoken::another_name),
    ("N8", spoken::not_tls),
    ("N9", reach::datagrams),
    ("N10", reach::each),
    ("N11", spoken::malformed),
    ("N12", flood::many),
    ("N13", reach::each),
    ("N14", reach::relayed),
];
