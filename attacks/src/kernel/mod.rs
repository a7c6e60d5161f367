//! Attacks on the kernel and on privileges.

mod calls;
mod devices;
mod ends;
mod namespaces;
mod privileges;
mod processes;
mod runtime;
mod shared;
mod sockets;
mod terminal;

use crate::Attack;

/// Every attack, by its row.
pub(crate) const ATTACKS: &[(&str, Attack)] = &[
    ("K1", runtime::overwrite),
    ("K2", runtime::descriptors),
    ("K3", runtime::masked),
    ("K4", devices::cgroups),
    ("K5", devices::settings),
    ("K6", namespaces::nested_user),
    ("K7", namespaces::hidden_flags),
    ("K8", namespaces::mounts),
    ("K9", namespaces::enter),
    ("K10", calls::rings),
    ("K11", sockets::families),
    ("K12", calls::dangerous),
    ("K13", calls::keys),
    ("K14", calls::other_architectures),
    ("K15", sockets::high_bits),
    ("K16", privileges::set_uid),
    ("K17", devices::nodes),
    ("K18", terminal::injection),
    ("K19", processes::reach_into),
    ("K20", processes::signal),
    ("K21", sockets::of_the_host),
    ("K22", ends::core_dump),
    ("K23", shared::memory),
];
