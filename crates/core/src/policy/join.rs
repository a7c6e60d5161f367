//! Documents of the same rank made one: the tighter of two values holds, lists are united, and what
//! cannot be united must be the same. So their order does not matter.

use std::collections::BTreeMap;

use super::{
    Document, HostLeave, NetCeiling, Said, Sourced, ToolPattern, VariablePattern,
    document::CeilingSection, limit::LimitTable, merge::unite, rule,
};
use crate::source::Problem;

/// Joins equals.
pub(super) fn join(documents: &[&Document]) -> Result<Document, Problem> {
    let mut joined = Document::default();
    for document in documents {
        joined.texts.add(&document.texts);
        add(&mut joined, document)?;
    }
    Ok(joined)
}

fn add(joined: &mut Document, document: &Document) -> Result<(), Problem> {
    joined.limits = LimitTable::with(|key| tighter(&joined.limits[key], &document.limits[key]));

    let (fs, more) = (&mut joined.fs, &document.fs);
    fs.workspace = tighter(&fs.workspace, &more.workspace);
    fs.git = tighter(&fs.git, &more.git);
    unite(&mut fs.deny, &more.deny);
    unite(&mut fs.protect, &more.protect);

    let (net, more) = (&mut joined.net, &document.net);
    net.mode = tighter(&net.mode, &more.mode);
    net.dns = tighter(&net.dns, &more.dns);
    unite(&mut net.deny, &more.deny);
    net.limits = net.limits.least(&more.limits);

    let (env, more) = (&mut joined.env, &document.env);
    unite(&mut env.pass, &more.pass);
    unite(&mut env.deny, &more.deny);
    unite(&mut joined.require, &document.require);

    let (tools, more) = (&mut joined.tools, &document.tools);
    unite(&mut tools.allow, &more.allow);
    unite(&mut tools.deny, &more.deny);
    unite(&mut tools.rewrite, &more.rewrite);
    let (ledger, more) = (&mut joined.ledger, &document.ledger);
    ledger.required = looser(&ledger.required, &more.required);
    ledger.record_code = tighter(&ledger.record_code, &more.record_code);
    ledger.record_env = tighter(&ledger.record_env, &more.record_env);

    ceiling(&mut joined.ceiling, &document.ceiling);
    same(joined, document)
}

fn ceiling(joined: &mut CeilingSection, more: &CeilingSection) {
    joined.limits = LimitTable::with(|key| tighter(&joined.limits[key], &more.limits[key]));
    joined.workspace = tighter(&joined.workspace, &more.workspace);
    joined.mounts = tighter(&joined.mounts, &more.mounts);
    joined.git = tighter(&joined.git, &more.git);
    joined.net = both(&joined.net, &more.net, common_net);
    joined.env =
        both(&joined.env, &more.env, |one, other| common(one, other, VariablePattern::covers));
    joined.tools =
        both(&joined.tools, &more.tools, |one, other| common(one, other, ToolPattern::covers));
    joined.inject =
        both(&joined.inject, &more.inject, |one, other| common(one, other, PartialEq::eq));
}

fn both<T: Clone>(a: &Said<T>, b: &Said<T>, common: impl Fn(&T, &T) -> T) -> Said<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.map(|a| common(a, &b.value))),
        (one, None) | (None, one) => one.clone(),
    }
}

fn common_net(a: &NetCeiling, b: &NetCeiling) -> NetCeiling {
    match (a, b) {
        (NetCeiling::Hosts(a), NetCeiling::Hosts(b)) => NetCeiling::Hosts(common_leaves(a, b)),
        _ => if a.mode() <= b.mode() { a } else { b }.clone(),
    }
}

/// What both lists give leave for.
fn common_leaves(a: &[HostLeave], b: &[HostLeave]) -> Vec<HostLeave> {
    let pairs = a.iter().flat_map(|one| b.iter().map(move |other| (one, other)));
    let mut common: Vec<HostLeave> = pairs.filter_map(|(one, other)| one.common(other)).collect();
    common.sort();
    common.dedup();
    // What both say stays as it is written; of the rest the widest is enough.
    let is_said = |one: &HostLeave| a.contains(one) && b.contains(one);
    let is_held = |one: &HostLeave| common.iter().any(|other| other != one && other.holds(one));
    let kept = common.iter().filter(|one| is_said(one) || !is_held(one));
    kept.cloned().collect()
}

/// What both lists mean. Two patterns have nothing in common unless one covers the other.
fn common<T: Clone + Ord>(a: &[T], b: &[T], covers: impl Fn(&T, &T) -> bool) -> Vec<T> {
    let among = |list: &[T], one: &T| list.iter().any(|other| covers(other, one));
    let in_b = a.iter().filter(|one| among(b, one));
    let in_a = b.iter().filter(|one| among(a, one));
    let mut common: Vec<T> = in_b.chain(in_a).cloned().collect();
    common.sort();
    common.dedup();
    common
}

/// What can have one value only, and no value is tighter than another.
fn same(joined: &mut Document, document: &Document) -> Result<(), Problem> {
    let texts = joined.texts.clone();
    let conflict = |what: String, first: &crate::source::Origin, again: &crate::source::Origin| {
        let message = format!("{what} is said twice by files of the same rank, and differs");
        let problem = texts.problem(again, message, "here");
        texts.also(problem, first, "and here").hint("keep one of them")
    };
    for mount in &document.fs.mounts {
        let target = &mount.value.target;
        match joined.fs.mounts.iter().find(|known| known.value.target == *target) {
            None => joined.fs.mounts.push(mount.clone()),
            Some(known) if known.value == mount.value => {}
            Some(known) => {
                let what = format!("the mount {}", target.display());
                return Err(conflict(what, &known.origin, &mount.origin));
            }
        }
    }
    if let Some((first, again)) = rule::contradiction(&joined.net.allow, &document.net.allow) {
        let what = format!("the secret for {}", again.value.host);
        return Err(conflict(what, &first.origin, &again.origin));
    }
    rule::join(&mut joined.net.allow, &document.net.allow);
    match (&joined.net.synthetic, &document.net.synthetic) {
        (Some(known), Some(said)) if known.value != said.value => {
            return Err(conflict("`net.synthetic`".to_owned(), &known.origin, &said.origin));
        }
        (None, Some(said)) => joined.net.synthetic = Some(said.clone()),
        _ => {}
    }
    let (fs, more) = (&mut joined.fs, &document.fs);
    for (key, known, said) in
        [("deps", &mut fs.deps, &more.deps), ("candidate", &mut fs.candidate, &more.candidate)]
    {
        match (known.as_ref(), said) {
            (Some(known), Some(said)) if known.value != said.value => {
                return Err(conflict(format!("`fs.{key}`"), &known.origin, &said.origin));
            }
            (None, Some(_)) => known.clone_from(said),
            _ => {}
        }
    }
    fn insert<T: Clone + PartialEq>(
        known: &mut BTreeMap<String, Sourced<T>>,
        more: &BTreeMap<String, Sourced<T>>,
    ) -> Result<(), (String, Sourced<T>, Sourced<T>)> {
        for (name, said) in more {
            match known.get(name) {
                Some(known) if known.value != said.value => {
                    return Err((name.clone(), known.clone(), said.clone()));
                }
                Some(_) => {}
                None => {
                    known.insert(name.clone(), said.clone());
                }
            }
        }
        Ok(())
    }
    insert(&mut fs.datasets, &more.datasets).map_err(|(name, first, again)| {
        conflict(format!("the dataset {name}"), &first.origin, &again.origin)
    })?;
    insert(&mut joined.env.set, &document.env.set).map_err(|(name, first, again)| {
        conflict(format!("the variable {name}"), &first.origin, &again.origin)
    })
}

fn tighter<T: Ord + Clone>(a: &Said<T>, b: &Said<T>) -> Said<T> {
    pick(a, b, |a, b| b < a)
}

fn looser<T: Ord + Clone>(a: &Said<T>, b: &Said<T>) -> Said<T> {
    pick(a, b, |a, b| b > a)
}

fn pick<T: Clone>(a: &Said<T>, b: &Said<T>, second: impl Fn(&T, &T) -> bool) -> Said<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if second(&a.value, &b.value) { b } else { a }.clone()),
        (one, None) | (None, one) => one.clone(),
    }
}
