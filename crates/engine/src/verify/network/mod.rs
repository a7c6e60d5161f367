//! Rows about the network.

mod checks;

use self::checks::{
    bare_datagram, datagrams, denied, direct, direct_allowed, flood, flood_with_room, fronting,
    honest, labels, labels_allowed, literal, literal_named, loopback, loopback_named, malformed,
    metadata, not_denied, not_tls, not_tls_allowed, rebinding, rebinding_named, relay,
    relay_allowed, without_network,
};
use super::{
    judge::{all, one},
    row::{Row, Twin, host, inside, row},
};
use crate::Layer;

/// What a program sees of a connection that it is not lent.
const REFUSED: &[&str] = &[
    "no_name",
    "closed",
    "ECONNRESET",
    "ECONNREFUSED",
    "EPIPE",
    "ENETUNREACH",
    "EADDRNOTAVAIL",
    "EHOSTUNREACH",
    "EAFNOSUPPORT",
];

const NETWORK: &[Layer] = &[Layer::NetNamespace];

/// Every row.
pub(super) static ROWS: &[Row] = &[
    row(
        "N1",
        "any connection where the network is off",
        "ENETUNREACH or ECONNREFUSED",
        "empty net namespace",
        NETWORK,
        (
            inside(without_network),
            &[one("name", &["absent"]), all(REFUSED)],
            Twin::Without(&[Layer::NetNamespace]),
        ),
    ),
    row(
        "N2",
        "a direct connection that ignores every proxy variable",
        "the verdict of the policy",
        "no other route exists",
        NETWORK,
        (
            inside(direct),
            &[all(REFUSED)],
            Twin::Staged("under a policy that allows it", inside(direct_allowed)),
        ),
    ),
    row(
        "N3",
        "connect to a literal address",
        "denied unless the policy names the address",
        "gate",
        NETWORK,
        (
            inside(literal),
            &[all(REFUSED)],
            Twin::Staged("under a policy that names it", inside(literal_named)),
        ),
    ),
    row(
        "N4",
        "cloud metadata in every spelling, under a rule for everything",
        "denied",
        "canonical address checked when dialling",
        NETWORK,
        (
            inside(metadata),
            &[all(REFUSED)],
            Twin::Staged("an address that is not sensitive", inside(direct_allowed)),
        ),
    ),
    row(
        "N5",
        "DNS rebinding: allowed names with private addresses",
        "denied",
        "the checked address is the dialled one",
        NETWORK,
        (
            inside(rebinding),
            &[all(REFUSED)],
            Twin::Staged("under a policy that names the address", inside(rebinding_named)),
        ),
    ),
    row(
        "N6",
        "data in labels, questions for TXT, MX, ANY",
        "nothing leaves, denied names are never looked up",
        "gate answers names itself",
        NETWORK,
        (
            inside(labels),
            &[all(&["no_such_name", "nothing"])],
            Twin::Staged("under a policy that allows the name", inside(labels_allowed)),
        ),
    ),
    row(
        "N7",
        "dial an allowed name, greet another",
        "closed",
        "the greeted name must be the dialled one",
        NETWORK,
        (
            inside(fronting),
            &[all(REFUSED)],
            Twin::Staged("greeting the name that was dialled", inside(honest)),
        ),
    ),
    row(
        "N8",
        "no server name, and no TLS, where a rule demands TLS",
        "closed",
        "gate",
        NETWORK,
        (
            inside(not_tls),
            &[all(REFUSED)],
            Twin::Staged("under a rule that does not demand it", inside(not_tls_allowed)),
        ),
    ),
    row(
        "N9",
        "UDP, QUIC, ICMP",
        "refused",
        "gate",
        NETWORK,
        (
            inside(datagrams),
            &[
                one("raw", &["EPERM", "EACCES", "EAFNOSUPPORT"]),
                one(
                    "echo",
                    &[
                        "EACCES",
                        "EPERM",
                        "EAFNOSUPPORT",
                        "EAGAIN",
                        "ETIMEDOUT",
                        "ECONNREFUSED",
                        "EPROTONOSUPPORT",
                    ],
                ),
                all(REFUSED),
            ],
            Twin::Staged("a program without a box", host(bare_datagram)),
        ),
    ),
    row(
        "N10",
        "loopback of the host, other boxes, the host by name",
        "denied",
        "net namespace, gate",
        NETWORK,
        (
            inside(loopback),
            &[all(REFUSED)],
            Twin::Staged("under a policy that names the host", inside(loopback_named)),
        ),
    ),
    row(
        "N11",
        "NUL, CR, two hosts, oversized names",
        "refused",
        "strict parsing",
        NETWORK,
        (
            inside(malformed),
            &[all(REFUSED)],
            Twin::Staged("a request that is well formed", inside(direct_allowed)),
        ),
    ),
    row(
        "N12",
        "a flood of slow connections",
        "capped, others unaffected",
        "limits per box",
        NETWORK,
        (
            host(flood),
            &[one("served", &["capped"]), one("afterwards", &["heard"]), one("beside", &["heard"])],
            Twin::Staged("with room for all of them", host(flood_with_room)),
        ),
    ),
    row(
        "N13",
        "services that net.deny names, under a rule for everything",
        "denied",
        "deny wins",
        NETWORK,
        (
            inside(denied),
            &[all(REFUSED)],
            Twin::Staged("without the rule that denies", inside(not_denied)),
        ),
    ),
    row(
        "N14",
        "a relay through a helper process inside",
        "the same verdict",
        "one policy for the whole box",
        NETWORK,
        (
            inside(relay),
            &[all(REFUSED)],
            Twin::Staged("to a host that is allowed", inside(relay_allowed)),
        ),
    ),
];
