//! The section `ceiling`.

use std::{fmt, str::FromStr};

use super::value::{self, ListOrWord};
use crate::{
    policy::{
        NetCeiling, NetMode, Said, Sourced,
        choice::Choice as _,
        document::CeilingSection,
        limit::{LimitKey, LimitTable},
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
        git: value::choice(fields, "git")?,
        tools: names(fields, "tools", "write a list of names: `tools: [Read, mcp__*]`")?,
    })
}

fn net(fields: &mut Fields<'_>) -> Result<Said<NetCeiling>, Problem> {
    const HINT: &str = "write `none`, `localhost`, or a list of hosts";
    let Some((given, place)) = value::list_or_word(fields, "net")? else { return Ok(None) };
    let ceiling = match given {
        ListOrWord::List(texts) => {
            let hosts: Vec<Sourced<_>> = value::patterns_of(fields, "net", &texts)?;
            if hosts.is_empty() {
                let message = "`ceiling.net` is a list without hosts";
                return Err(fields.problem(place, message, "").hint(HINT));
            }
            NetCeiling::Hosts(hosts.into_iter().map(|host| host.value).collect())
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
    let ListOrWord::List(texts) = given else {
        let message = format!("`ceiling.{key}` must be a list");
        return Err(fields.problem(place, message, "").hint(hint));
    };
    let patterns: Vec<Sourced<T>> = value::patterns_of(fields, key, &texts)?;
    let patterns = patterns.into_iter().map(|pattern| pattern.value).collect();
    Ok(Some(Sourced::new(patterns, fields.origin(place))))
}
