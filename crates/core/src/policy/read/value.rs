//! Single values of a section: words, limits, paths, patterns.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use crate::{
    LimitError, nearest,
    policy::{
        Said, Sourced,
        choice::Choice,
        limit::{Amount, LimitKey},
    },
    source::{Fields, Node, Place, Problem, Value},
};

/// One of a few words.
pub(super) fn choice<T: Choice>(
    fields: &mut Fields<'_>,
    key: &'static str,
) -> Result<Said<T>, Problem> {
    let Some((text, place)) = fields.text(key)? else { return Ok(None) };
    word(fields, key, text, place).map(Some)
}

/// A list of words.
pub(super) fn choices<T: Choice>(
    fields: &mut Fields<'_>,
    key: &'static str,
) -> Result<Vec<Sourced<T>>, Problem> {
    let texts = texts(fields, key)?;
    texts.into_iter().map(|(text, place)| word(fields, key, text, place)).collect()
}

/// The word of a choice.
pub(super) fn word<T: Choice>(
    fields: &Fields<'_>,
    key: &str,
    text: &str,
    place: Place,
) -> Result<Sourced<T>, Problem> {
    if let Some(choice) = T::of_word(text) {
        return Ok(Sourced::new(choice, fields.origin(place)));
    }
    let words: Vec<&str> = T::ALL.iter().map(|choice| choice.word()).collect();
    let message = format!("`{}` cannot be `{text}`", fields.path(key));
    let hint = match nearest(text, words.iter().copied()).first() {
        Some(near) if words.len() > 6 => format!("did you mean `{near}`?"),
        Some(near) => format!("did you mean `{near}`? It is one of {}", words.join(", ")),
        None => format!("it is one of {}", words.join(", ")),
    };
    Err(fields.problem(place, message, "no such word").hint(hint))
}

/// A limit.
pub(super) fn limit(fields: &mut Fields<'_>, key: LimitKey) -> Result<Said<Amount>, Problem> {
    limit_as(fields, key.word(), key)
}

/// A value that is written like a limit, under a name of its own.
pub(super) fn limit_as(
    fields: &mut Fields<'_>,
    name: &'static str,
    key: LimitKey,
) -> Result<Said<Amount>, Problem> {
    let Some((text, place)) = fields.text(name)? else { return Ok(None) };
    match key.read(text) {
        Ok(amount) => Ok(Some(Sourced::new(amount, fields.origin(place)))),
        Err(error) => {
            let problem = refused(fields, name, place, &error);
            Err(problem.hint(match error {
                LimitError::UnknownUnit { units, .. } => {
                    format!("the units are {units}; for example `{name}: {}`", key.example())
                }
                _ => format!("write for example `{name}: {}`", key.example()),
            }))
        }
    }
}

/// `true` or `false`.
pub(super) fn flag(fields: &mut Fields<'_>, key: &'static str) -> Result<Said<bool>, Problem> {
    match fields.flag(key) {
        Ok(flag) => Ok(flag.map(|(flag, place)| Sourced::new(flag, fields.origin(place)))),
        Err(problem) => Err(problem.hint("write `true` or `false`, without quotes")),
    }
}

/// A list of texts.
pub(super) fn texts<'a>(
    fields: &mut Fields<'a>,
    key: &'static str,
) -> Result<Vec<(&'a str, Place)>, Problem> {
    fields.texts(key).map_err(|problem| problem.hint(format!("write a list: `{key}: [a, b]`")))
}

/// The texts of a list that was taken already.
pub(super) fn texts_of<'a>(
    fields: &Fields<'a>,
    key: &str,
    nodes: &'a [Node],
) -> Result<Vec<(&'a str, Place)>, Problem> {
    nodes.iter().map(|node| Ok((fields.scalar(key, node)?, node.place))).collect()
}

/// A list of patterns, each read by its type.
pub(super) fn patterns<T: FromStr<Err: fmt::Display> + PartialEq>(
    fields: &mut Fields<'_>,
    key: &'static str,
) -> Result<Vec<Sourced<T>>, Problem> {
    let texts = texts(fields, key)?;
    patterns_of(fields, key, &texts)
}

/// Texts of a list, each read by its type. What is there twice counts once.
pub(super) fn patterns_of<T: FromStr<Err: fmt::Display> + PartialEq>(
    fields: &Fields<'_>,
    key: &str,
    texts: &[(&str, Place)],
) -> Result<Vec<Sourced<T>>, Problem> {
    let mut patterns: Vec<Sourced<T>> = Vec::with_capacity(texts.len());
    for (text, place) in texts {
        let pattern = text.parse::<T>().map_err(|error| refused(fields, key, *place, &error))?;
        if !patterns.iter().any(|known| known.value == pattern) {
            patterns.push(Sourced::new(pattern, fields.origin(*place)));
        }
    }
    Ok(patterns)
}

/// What the type of a value says against it. Its words are split where the next step begins.
pub(super) fn refused(
    fields: &Fields<'_>,
    key: &str,
    place: Place,
    error: &dyn fmt::Display,
) -> Problem {
    let words = error.to_string();
    let cut = words.split_once("; ").or_else(|| words.split_once(": write "));
    let (what, hint) = match cut {
        Some((what, hint)) => (what, Some(hint)),
        None => (words.as_str(), None),
    };
    let problem = fields.problem(place, format!("`{}`: {what}", fields.path(key)), "");
    match hint {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}

/// A path of the host.
pub(super) fn path(
    fields: &mut Fields<'_>,
    key: &'static str,
    directory: &Path,
) -> Result<Said<PathBuf>, Problem> {
    let Some((text, place)) = fields.text(key)? else { return Ok(None) };
    host_path(fields, key, text, place, directory).map(Some)
}

/// A path of the host. Relative ones begin at the directory of the file.
pub(super) fn host_path(
    fields: &Fields<'_>,
    key: &str,
    text: &str,
    place: Place,
    directory: &Path,
) -> Result<Sourced<PathBuf>, Problem> {
    let (what, hint) = match text {
        "" => ("is an empty path", "write the path of a file or directory"),
        text if text.starts_with('~') => {
            ("begins with `~`, which only a shell understands", "write the whole path")
        }
        text if text.chars().any(char::is_control) => {
            ("holds a control character", "write the path without it")
        }
        text => return Ok(Sourced::new(directory.join(text), fields.origin(place))),
    };
    Err(fields.problem(place, format!("`{}` {what}", fields.path(key)), "").hint(hint))
}

/// A list, or a single word.
pub(super) enum ListOrWord<'a> {
    /// The items of a list.
    List(&'a [Node]),
    /// A word.
    Word(&'a str),
}

/// A value that is either a list or a word, with the place where it begins.
pub(super) fn list_or_word<'a>(
    fields: &mut Fields<'a>,
    key: &'static str,
) -> Result<Option<(ListOrWord<'a>, Place)>, Problem> {
    let Some(node) = fields.take(key) else { return Ok(None) };
    let value = match &node.value {
        Value::List(nodes) => ListOrWord::List(nodes),
        _ => ListOrWord::Word(fields.scalar(key, node)?),
    };
    Ok(Some((value, node.place)))
}
