//! What reads bytes of a box, for the targets in `fuzz/`.

use std::sync::Arc;

use fumehood_core::{
    egress::{AllowRule, Egress, Ipv4Network, Target},
    policy::NetMode,
};

use crate::{
    dns,
    first_bytes::Peer,
    http::{Injection, RequestFilter, looks_like_http},
    names::Names,
    sni,
};

const ALLOWED: &str = "a.com";

fn rules() -> Egress {
    let allow = ALLOWED.parse().map(|pattern| AllowRule::new(pattern, "line 1"));
    Egress { mode: NetMode::Allow, allow: allow.into_iter().collect(), dns: true, ..Egress::none() }
}

/// Answers a question about a name. Whatever is answered is a whole message.
pub fn names(query: &[u8]) {
    let (rules, names) = (rules(), Names::new(Ipv4Network::BENCHMARK));
    let answer = dns::answer(&rules, &names, query, |name| rules.decide_name(name));
    assert!(answer.message.is_none_or(|message| message.len() >= 12));
}

/// Looks for the name in a greeting, as more and more of it comes in. What was once decided is
/// decided.
pub fn greeting(bytes: &[u8]) {
    let whole = sni::greeting(bytes);
    let part = sni::greeting(&bytes[..bytes.len() / 2]);
    assert!(matches!(part, sni::Greeting::NeedMore) || part == whole);
}

/// Reads requests, whole and byte by byte: nothing may depend on how they were cut.
pub fn requests(bytes: &[u8]) {
    let _ = looks_like_http(bytes);
    let Ok(target) = Target::parse(ALLOWED) else { return };
    let peer = Arc::new(Peer { egress: Arc::new(rules()), target, port: 80 });
    let (mut whole, mut pieces) = (Vec::new(), Vec::new());
    let filter = || RequestFilter::new(Arc::clone(&peer), Injection::None);
    let (mut one, mut other) = (filter(), filter());
    let in_one = one.push(bytes, &mut whole);
    let in_pieces = bytes.chunks(1).try_for_each(|byte| other.push(byte, &mut pieces));
    assert_eq!(in_one.is_ok(), in_pieces.is_ok());
    assert!(in_one.is_err() || whole == pieces);
}
