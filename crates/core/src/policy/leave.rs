//! Whether a document has leave to ask for what it asks: everything looser must be below the ceiling
//! of the layers under it.

use std::fmt::Display;

use super::{
    Document, GitAccess, MountLeave, NetMode, Policy, Rank, Said, Sourced, ToolPattern,
    VariablePattern, choice::Choice as _, document::in_words, limit::LimitKey, profile,
};
use crate::{
    WorkspaceMode,
    egress::{Inject, SecretSource},
    source::{Origin, Problem},
};

/// Whether everything that a document asks for is below the ceiling under it.
pub(super) fn allowed(under: &Policy, rank: Rank, document: &Document) -> Result<(), Problem> {
    let ceiling = &under.ceiling;
    let own = &document.ceiling;
    for key in LimitKey::ALL {
        let most = &ceiling.limits[key.ceiling()];
        within(under, &key.path(), document.limits[*key].as_ref(), most)?;
        let path = format!("ceiling.{}", key.word());
        within(under, &path, own.limits[*key].as_ref(), most)?;
    }
    within::<WorkspaceMode>(
        under,
        "fs.workspace",
        document.fs.workspace.as_ref(),
        &ceiling.workspace,
    )?;
    within::<WorkspaceMode>(
        under,
        "ceiling.workspace",
        own.workspace.as_ref(),
        &ceiling.workspace,
    )?;
    within::<GitAccess>(under, "fs.git", document.fs.git.as_ref(), &ceiling.git)?;
    within::<GitAccess>(under, "ceiling.git", own.git.as_ref(), &ceiling.git)?;
    for (key, leave) in document.fs.leaves() {
        within::<MountLeave>(under, &key, Some(&leave), &ceiling.mounts)?;
    }
    within::<MountLeave>(under, "ceiling.mounts", own.mounts.as_ref(), &ceiling.mounts)?;
    network_allowed(under, document)?;
    quotas_allowed(under, document)?;
    if rank > Rank::User {
        secrets_allowed(under, document)?;
    }
    variables_allowed(under, document)?;
    tools_allowed(under, document)?;
    switches_allowed(under, document)
}

fn within<T: Ord + Display>(
    under: &Policy,
    key: &str,
    asked: Option<&Sourced<T>>,
    most: &Sourced<T>,
) -> Result<(), Problem> {
    match asked {
        Some(asked) if asked.value > most.value => {
            Err(above(under, key, &asked.value, &asked.origin, &most.value, &most.origin))
        }
        _ => Ok(()),
    }
}

/// The refusal of what goes past a ceiling, with the line of the ceiling.
fn above(
    under: &Policy,
    key: &str,
    asked: &dyn Display,
    asked_at: &Origin,
    most: &dyn Display,
    most_at: &Origin,
) -> Problem {
    let message = format!("`{key}` asks for {asked}, and the ceiling is {most} ({most_at})");
    let problem = under.texts.problem(asked_at, message, "past the ceiling");
    let problem = under.texts.also(problem, most_at, "the ceiling");
    problem.hint(match profile::is_built_in(most_at) {
        true => "ask for no more than the ceiling; a built-in one cannot be raised",
        false => "ask for no more than the ceiling, or raise it where it stands",
    })
}

/// What a user said is the most stays the most. The default profile speaks for nobody.
fn quotas_allowed(under: &Policy, document: &Document) -> Result<(), Problem> {
    fn less<T: Ord + Display>(
        under: &Policy,
        key: &str,
        asked: &Said<T>,
        now: &Said<T>,
    ) -> Result<(), Problem> {
        match now.as_ref().filter(|now| !profile::is_default(&now.origin)) {
            Some(now) => within(under, key, asked.as_ref(), now),
            None => Ok(()),
        }
    }
    let (asked, now) = (&document.net.limits, &under.net.limits);
    less(under, "net.limits.connections", &asked.connections, &now.connections)?;
    less(under, "net.limits.bytes", &asked.bytes, &now.bytes)?;
    less(under, "net.limits.rate", &asked.rate, &now.rate)
}

/// A file that comes with somebody's code must not send the user's secrets anywhere.
fn secrets_allowed(under: &Policy, document: &Document) -> Result<(), Problem> {
    let most = &under.ceiling.inject;
    let past = |key: &str, name: &str, at: &Origin| {
        let message = format!(
            "`{key}` asks for the secret {name}, and the ceiling is {} ({})",
            in_words(&most.value),
            most.origin
        );
        let problem = under.texts.problem(at, message, "not a secret of this file");
        let problem = under.texts.also(problem, &most.origin, "the ceiling");
        Err(problem.hint(format!(
            "if this file may send it, write `ceiling: {{inject: [{name}]}}` into your own policy.yaml"
        )))
    };
    for rule in &document.net.allow {
        if let Some(Inject { from: SecretSource::Env(name), .. }) = &rule.value.inject
            && !most.value.contains(name)
        {
            return past("net.allow", name, &rule.origin);
        }
    }
    if let Some(own) = &document.ceiling.inject
        && let Some(name) = own.value.iter().find(|name| !most.value.contains(name))
    {
        return past("ceiling.inject", name, &own.origin);
    }
    Ok(())
}

fn network_allowed(under: &Policy, document: &Document) -> Result<(), Problem> {
    let most = &under.ceiling.net;
    let past = |key: &str, asked: &dyn Display, at: &Origin| {
        Err(above(under, key, asked, at, &most.value, &most.origin))
    };
    if let Some(host) = document.net.allow.iter().find(|host| !most.value.covers(&host.value)) {
        return past("net.allow", &host.value, &host.origin);
    }
    if let Some(mode) = &document.net.mode
        && mode.value > most.value.mode()
    {
        return past("net.mode", &mode.value, &mode.origin);
    }
    if let Some(mode) = &document.net.mode
        && mode.value == NetMode::Allow
        && document.net.allow.is_empty()
        && under.net.allow.is_empty()
    {
        let message = format!("{} asks for `allow`, and no host is allowed", mode.origin);
        let problem = under.texts.problem(&mode.origin, message, "");
        return Err(problem.hint("name hosts with --allow, or in `net.allow` of a policy"));
    }
    if let Some(own) = &document.ceiling.net
        && !own.value.is_within(&most.value)
    {
        return past("ceiling.net", &own.value, &own.origin);
    }
    Ok(())
}

fn variables_allowed(under: &Policy, document: &Document) -> Result<(), Problem> {
    let most = &under.ceiling.env;
    let past = |key: &str, asked: &VariablePattern, at: &Origin| {
        Err(above(under, key, asked, at, &in_words(&most.value), &most.origin))
    };
    for name in &document.env.pass {
        if !under.ceiling.covers_variable(&name.value) {
            return past("env.pass", &name.value, &name.origin);
        }
    }
    if let Some(own) = &document.ceiling.env
        && let Some(name) = own.value.iter().find(|name| !under.ceiling.covers_variable(name))
    {
        return past("ceiling.env", name, &own.origin);
    }
    for (name, value) in &document.env.set {
        if let Some(deny) = under.env.deny.iter().find(|deny| deny.value.matches(name)) {
            let message = format!("the variable {name} is denied by {}", deny.origin);
            let problem = under.texts.problem(&value.origin, message, "set here");
            let problem = under.texts.also(problem, &deny.origin, "denied here");
            return Err(problem.hint("what is denied stays denied: take the variable out"));
        }
    }
    Ok(())
}

/// Only what is let through has a ceiling: whoever refuses a tool, or has it carried out in a box,
/// tightens.
pub(super) fn tools_let_through(under: &Policy, document: &Document) -> Result<(), Problem> {
    match document.tools.allow.iter().find(|tool| !under.ceiling.covers_tool(&tool.value)) {
        Some(tool) => Err(past_tools(under, "tools.allow", &tool.value, &tool.origin)),
        None => Ok(()),
    }
}

fn tools_allowed(under: &Policy, document: &Document) -> Result<(), Problem> {
    tools_let_through(under, document)?;
    match &document.ceiling.tools {
        Some(own) => match own.value.iter().find(|tool| !under.ceiling.covers_tool(tool)) {
            Some(tool) => Err(past_tools(under, "ceiling.tools", tool, &own.origin)),
            None => Ok(()),
        },
        None => Ok(()),
    }
}

fn past_tools(under: &Policy, key: &str, asked: &ToolPattern, at: &Origin) -> Problem {
    let most = &under.ceiling.tools;
    above(under, key, asked, at, &in_words(&most.value), &most.origin)
}

/// Switches have no ceiling of their own: what a layer has switched to the tight side stays there.
fn switches_allowed(under: &Policy, document: &Document) -> Result<(), Problem> {
    let ledger = &document.ledger;
    for (key, asked, now, tight) in [
        ("net.dns", &document.net.dns, &under.net.dns, false),
        ("ledger.required", &ledger.required, &under.ledger.required, true),
        ("ledger.record_code", &ledger.record_code, &under.ledger.record_code, false),
        ("ledger.record_env", &ledger.record_env, &under.ledger.record_env, false),
    ] {
        let Some(asked) = asked else { continue };
        if now.value == tight && asked.value != tight && !profile::is_default(&now.origin) {
            let message = format!("`{key}` is {tight} for good ({})", now.origin);
            let problem = under.texts.problem(&asked.origin, message, "asks for the opposite");
            let problem = under.texts.also(problem, &now.origin, "decided here");
            return Err(problem.hint("leave the key out"));
        }
    }
    Ok(())
}
