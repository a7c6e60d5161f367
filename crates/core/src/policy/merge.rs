//! Layers into one policy. A pure function of what the layers say.
//!
//! Layers of the same rank are equals: neither loosens what the other says, and their order does not
//! matter. A layer of a higher rank tightens freely and loosens up to the ceiling under it.

use std::collections::BTreeMap;

use super::{
    Document, NetMode, Policy, ProfileName, Sourced,
    join::join,
    leave::{allowed, tools_let_through},
    profile, rule,
};
use crate::source::Problem;

/// Who says something. Later ones stand above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rank {
    /// A profile that comes with fumehood.
    BuiltIn,
    /// The user's own file.
    User,
    /// The file of the project.
    Project,
    /// The request itself.
    Request,
    /// Somebody for whom the caller makes the request: a model, a stranger. Loosens only where
    /// somebody set a ceiling.
    Guest,
}

impl Rank {
    const ALL: [Rank; 5] = [Rank::BuiltIn, Rank::User, Rank::Project, Rank::Request, Rank::Guest];
}

/// A document and who says it.
#[derive(Clone, Debug)]
pub struct Layered<'a> {
    /// Who says it.
    pub rank: Rank,
    /// What.
    pub document: &'a Document,
}

impl<'a> Layered<'a> {
    /// A document with its rank.
    pub fn new(rank: Rank, document: &'a Document) -> Layered<'a> {
        Layered { rank, document }
    }
}

/// Merges all layers, in the order of their ranks. At the bottom lies the default profile; profiles
/// that documents extend are layers of the lowest rank, whoever names them, so that a project that
/// extends a loose profile undoes nothing of the tight one that its user extends.
pub fn merge(layers: &[Layered<'_>]) -> Result<Policy, Problem> {
    let mut policy = profile::bottom().clone();
    for rank in Rank::ALL {
        let mut group: Vec<&Document> =
            layers.iter().filter(|layer| layer.rank == rank).map(|layer| layer.document).collect();
        if rank == Rank::BuiltIn {
            for profile in extended(layers) {
                group.push(profile.document());
            }
        }
        if rank == Rank::Guest && !group.is_empty() {
            let closed = policy.closed();
            for document in &group {
                no_profile(document)?;
                allowed(&closed, rank, document)?;
            }
        } else if rank > Rank::User && group.iter().any(|document| !document.tools.allow.is_empty())
        {
            let closed = policy.closed();
            group.iter().try_for_each(|document| tools_let_through(&closed, document))?;
        }
        policy = stack(policy, rank, &group)?;
    }
    Ok(policy)
}

/// A profile lies below all layers, so whoever chooses one loosens without leave.
fn no_profile(document: &Document) -> Result<(), Problem> {
    let Some(extends) = &document.extends else { return Ok(()) };
    let message = "`extends` is not for those who ask through somebody else";
    let problem = document.texts.problem(&extends.origin, message, "");
    Err(problem.hint("leave the key out, and say the values that are to be tighter"))
}

/// The profiles that any layer extends, each once. The default one is at the bottom already.
fn extended(layers: &[Layered<'_>]) -> Vec<ProfileName> {
    let names = layers.iter().filter_map(|layer| layer.document.extends.as_ref());
    let mut wanted: Vec<ProfileName> = names.map(|name| name.value).collect();
    wanted.retain(|name| *name != ProfileName::Default);
    wanted.sort();
    wanted.dedup();
    wanted
}

/// Lays documents of one rank on what lies under them.
pub(super) fn stack(under: Policy, rank: Rank, equals: &[&Document]) -> Result<Policy, Problem> {
    let joined;
    let document = match equals {
        [] => return Ok(under),
        [document] => *document,
        several => {
            joined = join(several)?;
            &joined
        }
    };
    let mut policy = under;
    policy.texts.add(&document.texts);
    for document in equals {
        allowed(&policy, rank, document)?;
    }
    apply(&mut policy, document);
    policy.lower_to_ceiling();
    Ok(policy)
}

/// Lays a document on a policy. It was allowed before.
fn apply(policy: &mut Policy, document: &Document) {
    let fs = &document.fs;
    for (key, said) in document.limits.iter() {
        set(&mut policy.limits[key], said.as_ref());
    }
    set(&mut policy.fs.workspace, fs.workspace.as_ref());
    set(&mut policy.fs.git, fs.git.as_ref());
    for mount in &fs.mounts {
        policy.fs.mounts.retain(|known| known.value.target != mount.value.target);
        policy.fs.mounts.push(mount.clone());
    }
    if fs.deps.is_some() {
        policy.fs.deps.clone_from(&fs.deps);
    }
    if fs.candidate.is_some() {
        policy.fs.candidate.clone_from(&fs.candidate);
    }
    insert(&mut policy.fs.datasets, &fs.datasets);
    unite(&mut policy.fs.deny, &fs.deny);
    unite(&mut policy.fs.protect, &fs.protect);

    set(&mut policy.net.mode, document.net.mode.as_ref());
    if policy.net.mode.value == NetMode::Allow {
        rule::lay(&mut policy.net.allow, &document.net.allow);
    } else {
        policy.net.allow.clear();
    }
    unite(&mut policy.net.deny, &document.net.deny);
    set(&mut policy.net.dns, document.net.dns.as_ref());
    set(&mut policy.net.synthetic, document.net.synthetic.as_ref());
    policy.net.limits.set(&document.net.limits);

    unite(&mut policy.env.pass, &document.env.pass);
    unite(&mut policy.env.deny, &document.env.deny);
    insert(&mut policy.env.set, &document.env.set);
    let denied = &policy.env.deny;
    policy.env.set.retain(|name, _| !denied.iter().any(|deny| deny.value.matches(name)));

    unite(&mut policy.require, &document.require);

    unite(&mut policy.tools.allow, &document.tools.allow);
    unite(&mut policy.tools.deny, &document.tools.deny);
    unite(&mut policy.tools.rewrite, &document.tools.rewrite);
    set(&mut policy.ledger.required, document.ledger.required.as_ref());
    set(&mut policy.ledger.record_code, document.ledger.record_code.as_ref());
    set(&mut policy.ledger.record_env, document.ledger.record_env.as_ref());

    let (ceiling, own) = (&mut policy.ceiling, &document.ceiling);
    for (key, said) in own.limits.iter() {
        set(&mut ceiling.limits[key], said.as_ref());
    }
    set(&mut ceiling.workspace, own.workspace.as_ref());
    set(&mut ceiling.mounts, own.mounts.as_ref());
    set(&mut ceiling.net, own.net.as_ref());
    set(&mut ceiling.env, own.env.as_ref());
    set(&mut ceiling.inject, own.inject.as_ref());
    set(&mut ceiling.git, own.git.as_ref());
    set(&mut ceiling.tools, own.tools.as_ref());
}

fn set<T: Clone>(value: &mut Sourced<T>, said: Option<&Sourced<T>>) {
    if let Some(said) = said {
        value.clone_from(said);
    }
}

pub(super) fn unite<T: Clone + PartialEq>(values: &mut Vec<Sourced<T>>, more: &[Sourced<T>]) {
    for one in more {
        if !values.iter().any(|known| known.value == one.value) {
            values.push(one.clone());
        }
    }
}

fn insert<T: Clone>(
    values: &mut BTreeMap<String, Sourced<T>>,
    more: &BTreeMap<String, Sourced<T>>,
) {
    for (name, value) in more {
        values.insert(name.clone(), value.clone());
    }
}
