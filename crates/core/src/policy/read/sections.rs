//! The sections of a policy, but for its ceiling.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
};

use super::value;
use crate::{
    Access,
    policy::{
        MountLeave, Sourced,
        choice::Choice as _,
        document::{EnvSection, FsSection, LedgerSection, PolicyMount, ToolsSection},
        limit::{LimitKey, SaidLimits},
        variable::variable_name,
    },
    source::{Fields, Node, Problem},
};

pub(super) fn fs(
    fields: &mut Fields<'_>,
    directory: &Path,
    limits: &mut SaidLimits,
) -> Result<FsSection, Problem> {
    limits[LimitKey::Disk] = value::limit(fields, LimitKey::Disk)?;
    Ok(FsSection {
        workspace: value::choice(fields, "workspace")?,
        mounts: mounts(fields, directory)?,
        deps: value::path(fields, "deps", directory)?,
        candidate: value::path(fields, "candidate", directory)?,
        datasets: datasets(fields, directory)?,
        deny: value::patterns(fields, "deny")?,
        protect: value::patterns(fields, "protect")?,
        git: value::choice(fields, "git")?,
    })
}

const MOUNT_HINT: &str = "write `mounts: [{source: PATH, target: /data, mode: ro}]`";

fn mounts(fields: &mut Fields<'_>, directory: &Path) -> Result<Vec<Sourced<PolicyMount>>, Problem> {
    let nodes = fields.list("mounts").map_err(|problem| problem.hint(MOUNT_HINT))?;
    let mut mounts: Vec<Sourced<PolicyMount>> = Vec::new();
    for node in nodes {
        let mount = mount(fields, node, directory)?;
        if let Some(other) = mounts.iter().find(|known| known.value.target == mount.value.target) {
            let message = format!("two mounts have the target {}", mount.value.target.display());
            let problem = fields.problem(node.place, message, "this one");
            let problem = match other.origin.place {
                Some(place) => fields.and_at(problem, place, "and this one"),
                None => problem,
            };
            return Err(problem.hint("give one of them another target"));
        }
        mounts.push(mount);
    }
    Ok(mounts)
}

fn mount<'a>(
    fields: &Fields<'a>,
    node: &'a Node,
    directory: &Path,
) -> Result<Sourced<PolicyMount>, Problem> {
    let mut own = fields.within("mounts", node).map_err(|problem| problem.hint(MOUNT_HINT))?;
    let access = match value::choice::<MountLeave>(&mut own, "mode")? {
        None => Access::ReadOnly,
        Some(mode) => mode.value.access().ok_or_else(|| {
            let place = mode.origin.place.unwrap_or(node.place);
            let problem = own.problem(place, "the mode of a mount cannot be `none`", "");
            problem.hint("it is one of ro, rw; or leave the mount out")
        })?,
    };
    let source = value::path(&mut own, "source", directory)?;
    let target = own.text("target")?;
    own.end()?;
    let missing = |what: &str| {
        let problem = fields.problem(node.place, format!("the mount has no `{what}`"), "");
        problem.hint(MOUNT_HINT)
    };
    let source = source.ok_or_else(|| missing("source"))?.value;
    let (text, place) = target.ok_or_else(|| missing("target"))?;
    let target = box_path(text).map_err(|what| {
        let problem = fields.problem(place, format!("the target of a mount {what}"), "");
        problem.hint("write an absolute path in the box, for example /data")
    })?;
    Ok(Sourced::new(PolicyMount { source, target, access }, fields.origin(node.place)))
}

fn box_path(text: &str) -> Result<PathBuf, &'static str> {
    let path = Path::new(text);
    if !path.is_absolute() {
        return Err("must be absolute");
    }
    if path.components().any(|part| part == Component::ParentDir) {
        return Err("must not have `..` in it");
    }
    if text.chars().any(char::is_control) {
        return Err("must not hold a control character");
    }
    let clean: PathBuf = path.components().collect();
    if clean == Path::new("/") { Err("cannot be the whole box") } else { Ok(clean) }
}

fn datasets(
    fields: &mut Fields<'_>,
    directory: &Path,
) -> Result<BTreeMap<String, Sourced<PathBuf>>, Problem> {
    let mut datasets = BTreeMap::new();
    let Some(mut own) = fields.section("datasets")? else { return Ok(datasets) };
    for (key, node) in own.rest() {
        let sound = !key.text.is_empty()
            && !key.text.starts_with('.')
            && key.text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        if !sound {
            let shown = key.text.escape_debug();
            let message = format!("`{shown}` cannot be the name of a dataset");
            return Err(own
                .problem(key.place, message, "")
                .hint("letters, digits, `.`, `_` and `-`, and no dot in front"));
        }
        let text = own.scalar(&key.text, node)?;
        let path = value::host_path(&own, &key.text, text, node.place, directory)?;
        datasets.insert(key.text.clone(), path);
    }
    Ok(datasets)
}

pub(super) fn proc(fields: &mut Fields<'_>, limits: &mut SaidLimits) -> Result<(), Problem> {
    for key in LimitKey::ALL.iter().filter(|key| key.section() == "proc") {
        limits[*key] = value::limit(fields, *key)?;
    }
    Ok(())
}

pub(super) fn env(fields: &mut Fields<'_>) -> Result<EnvSection, Problem> {
    let pass = value::patterns(fields, "pass")?;
    let deny = value::patterns(fields, "deny")?;
    let mut set = BTreeMap::new();
    if let Some(mut own) = fields.section("set")? {
        for (key, node) in own.rest() {
            let name = variable_name(&key.text)
                .map_err(|error| value::refused(fields, "set", key.place, &error))?;
            let text = own.scalar(name, node).map_err(|problem| {
                problem.hint(format!("write `{name}: \"\"` for an empty value"))
            })?;
            if text.contains('\0') {
                let message = format!("`{}` holds a NUL", own.path(name));
                return Err(own.problem(node.place, message, "").hint("leave it out"));
            }
            set.insert(name.to_owned(), Sourced::new(text.to_owned(), own.origin(node.place)));
        }
    }
    Ok(EnvSection { pass, set, deny })
}

pub(super) fn tools(fields: &mut Fields<'_>) -> Result<ToolsSection, Problem> {
    Ok(ToolsSection {
        allow: value::patterns(fields, "allow")?,
        deny: value::patterns(fields, "deny")?,
        rewrite: value::patterns(fields, "rewrite")?,
    })
}

pub(super) fn ledger(fields: &mut Fields<'_>) -> Result<LedgerSection, Problem> {
    Ok(LedgerSection {
        required: value::flag(fields, "required")?,
        record_code: value::flag(fields, "record_code")?,
        record_env: value::flag(fields, "record_env")?,
    })
}
