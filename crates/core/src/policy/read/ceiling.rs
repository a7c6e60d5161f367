//! The section `ceiling`.

use std::{fmt, str::FromStr};

use super::{
    net::leaves,
    value::{self, ListOrWord},
};
use crate::{
    policy::{
        NetCeiling, NetMode, Said, Sourced,
        choice::Choice as _,
        document::CeilingSection,
        limit::{LimitKey, LimitTable},
        variable::variable_name,
    },
    source::{Fields, Problem},
};

pub(super) fn ceiling(fields: &mut Fields<'_>) -> Result<CeilingSection, Problem> {
    let mut limits = LimitTable::default();
    for key in LimitKey::ALL.iter().filter(|key| key.ceiling() == **key) {
        limits[*key] = value::limit(fields, *key)?;
    }
    Ok(CeilingSection {
        limits,
        workspace: value::choice(fields, "workspace")?,
        mounts: value::choice(fields, "mounts")?,
        net: net(fields)?,
        env: names(fields, "env", "write a list of names: `env: [LANG, LC_*]`")?,
        inject: inject(fields)?,
        git: value::choice(fields, "git")?,
        tools: names(fields, "tools", "write a list of names: `tools: [Read, mcp__*]`")?,
    })
}

fn net(fields: &mut Fields<'_>) -> Result<Said<NetCeiling>, Problem> {
    const HINT: &str = "write `none`, `localhost`, or a list of hosts";
    let Some((given, place)) = value::list_or_word(fields, "net")? else { return Ok(None) };
    let ceiling = match given {
        ListOrWord::List(nodes) => {
            let hosts = leaves(fields, nodes)?;
            if hosts.is_empty() {
                let message = "`ceiling.net` is a list without hosts";
                return Err(fields.problem(place, message, "").hint(HINT));
            }
            NetCeiling::Hosts(hosts)
        }
        ListOrWord::Word(text) => match NetMode::of_word(text) {
            Some(NetMode::None) => NetCeiling::None,
            Some(NetMode::Localhost) => NetCeiling::Localhost,
            Some(NetMode::Allow) | None => {
                let message = format!("`ceiling.net` cannot be `{text}`");
                return Err(fields.problem(place, message, "").hint(HINT));
            }
        },
    };
    Ok(Some(Sourced::new(ceiling, fields.origin(place))))
}

fn names<T: FromStr<Err: fmt::Display> + PartialEq>(
    fields: &mut Fields<'_>,
    key: &'static str,
    hint: &'static str,
) -> Result<Said<Vec<T>>, Problem> {
    let Some((given, place)) = value::list_or_word(fields, key)? else { return Ok(None) };
    let ListOrWord::List(nodes) = given else {
        let message = format!("`ceiling.{key}` must be a list");
        return Err(fields.problem(place, message, "").hint(hint));
    };
    let texts = value::texts_of(fields, key, nodes)?;
    let patterns: Vec<Sourced<T>> = value::patterns_of(fields, key, &texts)?;
    let patterns = patterns.into_iter().map(|pattern| pattern.value).collect();
    Ok(Some(Sourced::new(patterns, fields.origin(place))))
}

/// Names only: a pattern would one day mean a secret that nobody thought of.
fn inject(fields: &mut Fields<'_>) -> Result<Said<Vec<String>>, Problem> {
    const HINT: &str = "write a list of names: `inject: [API_TOKEN]`";
    let Some((given, place)) = value::list_or_word(fields, "inject")? else { return Ok(None) };
    let ListOrWord::List(nodes) = given else {
        return Err(fields.problem(place, "`ceiling.inject` must be a list", "").hint(HINT));
    };
    let mut names = Vec::with_capacity(nodes.len());
    for (text, place) in value::texts_of(fields, "inject", nodes)? {
        let name = variable_name(text).map_err(|error| {
            value::refused(fields, "inject", place, &error).hint("write whole names, without `*`")
        })?;
        names.push(name.to_owned());
    }
    names.sort();
    names.dedup();
    Ok(Some(Sourced::new(names, fields.origin(place))))
}
