//! The section `ceiling`.

use super::{
    net::leaves,
    value::{self, ListOrWord},
};
use crate::{
    policy::{
        NetCeiling, NetMode, Said, Sourced, VariablePattern,
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
        env: env(fields)?,
        inject: inject(fields)?,
        git: value::choice(fields, "git")?,
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

fn env(fields: &mut Fields<'_>) -> Result<Said<Vec<VariablePattern>>, Problem> {
    const HINT: &str = "write a list of names: `env: [LANG, LC_*]`";
    let Some((given, place)) = value::list_or_word(fields, "env")? else { return Ok(None) };
    let ListOrWord::List(nodes) = given else {
        return Err(fields.problem(place, "`ceiling.env` must be a list", "").hint(HINT));
    };
    let texts = value::texts_of(fields, "env", nodes)?;
    let patterns: Vec<Sourced<_>> = value::patterns_of(fields, "env", &texts)?;
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
