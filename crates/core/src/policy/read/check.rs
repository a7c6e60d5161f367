//! What cannot be meant: values of one document that contradict each other.

use std::{fmt::Display, net::IpAddr};

use super::net;

use crate::{
    policy::{
        HostRule, MountLeave, NetMode, Sourced,
        document::{Document, in_words},
        limit::LimitKey,
    },
    source::Problem,
};

/// Finds the first contradiction in a file.
pub(super) fn file(document: &Document) -> Result<(), Problem> {
    hosts_of_mode(document)?;
    wishes(document)
}

/// Finds the first contradiction in a request, which may leave the hosts to the layers under it.
pub(super) fn wishes(document: &Document) -> Result<(), Problem> {
    network(document)?;
    not_the_box(document)?;
    addresses_of_names(document)?;
    files(document)?;
    variables(document)?;
    time(document)?;
    own_ceiling(document)
}

fn hosts_of_mode(document: &Document) -> Result<(), Problem> {
    match &document.net.mode {
        Some(mode) if mode.value == NetMode::Allow && document.net.allow.is_empty() => {
            Err(document
                .texts
                .problem(&mode.origin, "`net.mode` is `allow`, and no host is allowed", "")
                .hint("list hosts in `net.allow`, or write `mode: localhost`"))
        }
        _ => Ok(()),
    }
}

/// The loopback of the box needs no rule, and whoever writes it means another machine.
fn not_the_box(document: &Document) -> Result<(), Problem> {
    let Some(rule) = document.net.allow.iter().find(|rule| rule.value.host.is_box_by_name()) else {
        return Ok(());
    };
    let message = format!("`{}` is the box itself, which needs no rule", rule.value.host);
    let problem = document.texts.problem(&rule.origin, message, "");
    Err(problem.hint("leave it out; the machine that the box runs on is `host`, as in host:5432"))
}

/// Addresses that stand for names cannot be dialled as themselves.
fn addresses_of_names(document: &Document) -> Result<(), Problem> {
    let texts = &document.texts;
    let Some(synthetic) = &document.net.synthetic else { return Ok(()) };
    if net::is_unfit_for_names(synthetic.value) {
        let message = format!("`net.synthetic: {}` cannot stand for names", synthetic.value);
        let problem = texts.problem(&synthetic.origin, message, "no connection leaves to these");
        return Err(problem.hint("write a network that nobody needs, such as 198.18.0.0/15"));
    }
    let hidden = |rule: &&Sourced<HostRule>| match rule.value.host.exact_address() {
        Some(IpAddr::V4(address)) => synthetic.value.contains(address),
        _ => false,
    };
    let Some(rule) = document.net.allow.iter().find(hidden) else { return Ok(()) };
    let message = format!("{} cannot be reached, since it stands for names", rule.value.host);
    let problem = texts.problem(&rule.origin, message, "this address");
    let problem = texts.also(problem, &synthetic.origin, "is in here");
    Err(problem.hint("write another `net.synthetic`"))
}

fn network(document: &Document) -> Result<(), Problem> {
    let texts = &document.texts;
    let Some(mode) = &document.net.mode else { return Ok(()) };
    match (mode.value, document.net.allow.first()) {
        (NetMode::None | NetMode::Localhost, Some(host)) => {
            let message = format!(
                "`net.allow` lists hosts, and `net.mode: {}` lets none be reached",
                mode.value
            );
            let problem = texts.problem(&host.origin, message, "this host cannot be reached");
            Err(texts
                .also(problem, &mode.origin, "because of this")
                .hint("write `mode: allow`, or take the hosts out"))
        }
        _ => Ok(()),
    }
}

fn files(document: &Document) -> Result<(), Problem> {
    match document.fs.deny.iter().find(|glob| glob.value.is_everything()) {
        Some(glob) => {
            let message = format!("`fs.deny: {}` would hide the whole workspace", glob.value);
            let problem = document.texts.problem(&glob.origin, message, "matches everything");
            Err(problem.hint("name what is to be hidden, or run without a workspace"))
        }
        None => Ok(()),
    }
}

fn variables(document: &Document) -> Result<(), Problem> {
    for (name, value) in &document.env.set {
        if let Some(deny) = document.env.deny.iter().find(|deny| deny.value.matches(name)) {
            let message = format!("the variable {name} is set and denied");
            let problem = document.texts.problem(&value.origin, message, "set here");
            return Err(document
                .texts
                .also(problem, &deny.origin, "denied here")
                .hint("take one of them out"));
        }
    }
    Ok(())
}

fn time(document: &Document) -> Result<(), Problem> {
    let (Some(grace), Some(timeout)) =
        (&document.limits[LimitKey::Grace], &document.limits[LimitKey::Timeout])
    else {
        return Ok(());
    };
    if grace.value <= timeout.value {
        return Ok(());
    }
    let message = format!("`proc.grace` is longer than `proc.timeout` ({})", timeout.value);
    let problem = document.texts.problem(&grace.origin, message, "longer than the whole run");
    Err(document
        .texts
        .also(problem, &timeout.origin, "the whole run")
        .hint(format!("write a grace of {} or less", timeout.value)))
}

/// A document that asks for more than it lets others ask for.
fn own_ceiling(document: &Document) -> Result<(), Problem> {
    let ceiling = &document.ceiling;
    for (key, asked) in document.limits.iter() {
        if let (Some(asked), Some(most)) = (asked, &ceiling.limits[key.ceiling()])
            && asked.value > most.value
        {
            return Err(above(document, &key.path(), asked, most));
        }
    }
    if let (Some(asked), Some(most)) = (&document.fs.workspace, &ceiling.workspace)
        && asked.value > most.value
    {
        return Err(above(document, "fs.workspace", asked, most));
    }
    if let (Some(asked), Some(most)) = (&document.fs.git, &ceiling.git)
        && asked.value > most.value
    {
        return Err(above(document, "fs.git", asked, most));
    }
    if let Some(most) = &ceiling.mounts {
        for (key, asked) in document.fs.leaves() {
            if asked.value > most.value {
                return Err(above(document, &key, &asked, most));
            }
        }
    }
    if let Some(most) = &ceiling.net {
        if let Some(mode) = &document.net.mode
            && mode.value > most.value.mode()
        {
            return Err(above(document, "net.mode", mode, most));
        }
        if let Some(host) = document.net.allow.iter().find(|host| !most.value.covers(&host.value)) {
            return Err(above(document, "net.allow", host, most));
        }
    }
    if let Some(most) = &ceiling.env {
        for name in &document.env.pass {
            if !most.value.iter().any(|own| own.covers(&name.value)) {
                let shown = most.map(|own| in_words(own));
                return Err(above(document, "env.pass", name, &shown));
            }
        }
    }
    if let Some(most) = &ceiling.tools {
        for tool in &document.tools.allow {
            if !most.value.iter().any(|own| own.covers(&tool.value)) {
                let shown = most.map(|own| in_words(own));
                return Err(above(document, "tools.allow", tool, &shown));
            }
        }
    }
    Ok(())
}

fn above<A: Display, C: Display>(
    document: &Document,
    key: &str,
    asked: &Sourced<A>,
    most: &Sourced<C>,
) -> Problem {
    let message =
        format!("`{key}` is {}, and the ceiling of the same file is {}", asked.value, most.value);
    let problem = document.texts.problem(&asked.origin, message, "above the ceiling");
    document
        .texts
        .also(problem, &most.origin, "the ceiling")
        .hint("raise the ceiling or lower the value")
}

impl crate::policy::document::FsSection {
    /// What each mount of this section needs leave for, with its key.
    pub(crate) fn leaves(&self) -> Vec<(String, Sourced<MountLeave>)> {
        let mut leaves = Vec::new();
        for mount in &self.mounts {
            let leave = mount.map(|mount| MountLeave::for_access(mount.access));
            leaves.push(("fs.mounts".to_owned(), leave));
        }
        for (key, path) in [("fs.deps", &self.deps), ("fs.candidate", &self.candidate)] {
            if let Some(path) = path {
                leaves.push((key.to_owned(), path.map(|_| MountLeave::ReadOnly)));
            }
        }
        for (name, path) in &self.datasets {
            leaves.push((format!("fs.datasets.{name}"), path.map(|_| MountLeave::ReadOnly)));
        }
        leaves
    }
}
