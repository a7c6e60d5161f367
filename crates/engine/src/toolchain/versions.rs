//! Directories that hold one installation per version, and which of these the user selected.

use std::path::{Path, PathBuf};

use fumehood_core::language::Version;

use super::{environment::Environment, scout::Scout};

/// nvm's aliases lead to other aliases: `default` to `lts/*` to `lts/jod` to a version.
const MOST_ALIASES: usize = 4;

/// The installations in this directory: the selected ones first, then from new to old.
pub fn ordered(directory: &Path, environment: &Environment, scout: &mut Scout) -> Vec<PathBuf> {
    let mut names = scout.names(directory);
    names.sort_by_cached_key(|name| std::cmp::Reverse(number(name)));
    let mut ordered: Vec<String> = Vec::new();
    for wanted in selected(directory, environment, scout) {
        let found = names.iter().find(|name| **name == wanted).or_else(|| {
            // `3.11` and `20` mean the newest that starts with them.
            names.iter().find(|name| starts_with_version(name, &wanted))
        });
        ordered.extend(found.cloned());
    }
    for name in names {
        if !ordered.contains(&name) {
            ordered.push(name);
        }
    }
    ordered.into_iter().map(|name| directory.join(name)).collect()
}

/// Whether the user selected the system's own installation over all in this directory.
pub fn is_system_selected(directory: &Path, environment: &Environment, scout: &mut Scout) -> bool {
    selected(directory, environment, scout).first().is_some_and(|wanted| wanted == "system")
}

/// The version in a name such as `3.11.7`, `v20.1.0`, `go1.22.1` or `temurin-25-jdk`.
fn number(name: &str) -> Option<Version> {
    name[name.find(|c: char| c.is_ascii_digit())?..].parse().ok()
}

fn starts_with_version(name: &str, wanted: &str) -> bool {
    let bare = |text: &str| text.strip_prefix('v').unwrap_or(text).to_owned();
    bare(name).strip_prefix(&bare(wanted)).is_some_and(|rest| rest.starts_with(['.', '-']))
}

/// What the version manager that owns this directory says, best first.
fn selected(directory: &Path, environment: &Environment, scout: &mut Scout) -> Vec<String> {
    let Some(parent) = directory.parent() else { return Vec::new() };
    if directory.ends_with("versions/node") {
        return parent.parent().map_or_else(Vec::new, |root| nvm_default(root, scout));
    }
    if directory.ends_with("versions") {
        return env_family(parent, environment, scout);
    }
    if parent.ends_with("installs") {
        return tool_versions(directory, environment, scout);
    }
    Vec::new()
}

/// pyenv, nodenv, goenv, jenv: `PYENV_VERSION`, else the file `version` of the root.
fn env_family(root: &Path, environment: &Environment, scout: &mut Scout) -> Vec<String> {
    let manager = root.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let variable = format!("{}_VERSION", manager.trim_start_matches('.').to_ascii_uppercase());
    let text = match environment.variables.get(&variable) {
        Some(value) => value.clone(),
        None => scout.text(&root.join("version")).unwrap_or_default(),
    };
    let word = |c: char| c == ':' || c.is_whitespace();
    text.split(word).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// nvm: the file `alias/default`.
fn nvm_default(root: &Path, scout: &mut Scout) -> Vec<String> {
    let mut wanted = "default".to_owned();
    for _ in 0..MOST_ALIASES {
        // An alias is a name below `alias`, never a way out of it.
        if wanted.split('/').any(|part| part == ".." || part.is_empty()) {
            return Vec::new();
        }
        match scout.text(&root.join("alias").join(&wanted)) {
            Some(text) => wanted = text.trim().to_owned(),
            None => break,
        }
    }
    vec![wanted]
}

/// asdf and mise: the line of the tool in `~/.tool-versions`.
fn tool_versions(directory: &Path, environment: &Environment, scout: &mut Scout) -> Vec<String> {
    let tool = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let Some(home) = &environment.home else { return Vec::new() };
    let text = scout.text(&home.join(".tool-versions")).unwrap_or_default();
    text.lines()
        .filter_map(|line| line.split('#').next()?.trim().strip_prefix(tool))
        .filter(|versions| versions.starts_with(char::is_whitespace))
        .flat_map(|versions| versions.split_whitespace().map(str::to_owned))
        .collect()
}
