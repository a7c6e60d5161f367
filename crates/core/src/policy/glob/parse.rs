//! From the text of a pattern to its parts.

use super::{Part, Piece};

/// More than any pattern that a person writes.
const MOST_ALTERNATIVES: usize = 64;
const MOST_PARTS: usize = 60;
const MOST_CHARACTERS: usize = 1024;

/// Why a text is not a pattern for files. Each says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// Nothing in it.
    #[error("the pattern is empty; write for example **/.env")]
    Empty,
    /// It begins with a slash.
    #[error(
        "the pattern begins with `/`; patterns are relative to the workspace: leave out the slash"
    )]
    Absolute,
    /// It has `..` in it.
    #[error("the pattern has `..` in it; write the path from the root of the workspace")]
    Upward,
    /// A bracket without its partner.
    #[error("the pattern has `[` without `]`; write `\\[` for the character itself")]
    Bracket,
    /// A range whose end comes before its start.
    #[error("the range `{from}-{to}` runs backwards; write `{to}-{from}`")]
    Range {
        /// Its start.
        from: char,
        /// Its end.
        to: char,
    },
    /// A brace without its partner.
    #[error("the pattern has `{{` without `}}`; write `\\{{` for the character itself")]
    Brace,
    /// Nothing behind the backslash.
    #[error("the pattern ends in `\\`; write `\\\\` for the character itself")]
    Backslash,
    /// `**` beside other characters.
    #[error("`**` must stand alone between slashes; write `*` for any part of a name")]
    DoubleStar,
    /// A control character.
    #[error("the pattern holds a control character; leave it out")]
    Control,
    /// Longer than makes sense.
    #[error("the pattern is too long; write several shorter ones")]
    TooLong,
}

type Parsed = (String, Vec<Vec<Part>>);

/// The tidied text and its alternatives.
pub(super) fn parse(text: &str) -> Result<Parsed, GlobError> {
    if text.chars().any(char::is_control) {
        return Err(GlobError::Control);
    }
    if text.chars().count() > MOST_CHARACTERS {
        return Err(GlobError::TooLong);
    }
    if text.starts_with('/') {
        return Err(GlobError::Absolute);
    }
    let mut choices = Vec::new();
    expand(text, &mut choices)?;
    let alternatives = choices.iter().map(|choice| parts(choice)).collect::<Result<_, _>>()?;
    let names = split(text);
    Ok((names.join("/"), alternatives))
}

/// Writes out the choices of the braces, the first brace first.
fn expand(text: &str, choices: &mut Vec<String>) -> Result<(), GlobError> {
    let Some((before, inside, after)) = first_brace(text)? else {
        if choices.len() == MOST_ALTERNATIVES {
            return Err(GlobError::TooLong);
        }
        choices.push(text.to_owned());
        return Ok(());
    };
    for choice in inside {
        expand(&format!("{before}{choice}{after}"), choices)?;
    }
    Ok(())
}

/// What stands before the first brace, its choices, and what stands behind.
type Brace<'a> = (&'a str, Vec<&'a str>, &'a str);

fn first_brace(text: &str) -> Result<Option<Brace<'_>>, GlobError> {
    let mut open: Option<usize> = None;
    let mut depth = 0usize;
    let mut cuts = Vec::new();
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => {
                characters.next();
            }
            '[' => {
                let length = bracket(&text[at..])?;
                while characters.offset() < at + length {
                    characters.next();
                }
            }
            '{' => {
                depth += 1;
                open.get_or_insert(at);
            }
            ',' if depth == 1 => cuts.push(at),
            '}' if depth > 0 => {
                depth -= 1;
                if let (0, Some(open)) = (depth, open) {
                    let mut choices = Vec::new();
                    let mut from = open + 1;
                    for cut in cuts {
                        choices.push(&text[from..cut]);
                        from = cut + 1;
                    }
                    choices.push(&text[from..at]);
                    return Ok(Some((&text[..open], choices, &text[at + 1..])));
                }
            }
            _ => {}
        }
    }
    if depth > 0 { Err(GlobError::Brace) } else { Ok(None) }
}

/// How many bytes a bracket takes that begins here. A `]` at once is one of its characters.
fn bracket(text: &str) -> Result<usize, GlobError> {
    let start = 1 + usize::from(text[1..].starts_with(['!', '^']));
    let first = text[start..].chars().next().ok_or(GlobError::Bracket)?.len_utf8();
    let end = text[start + first..].find(']').ok_or(GlobError::Bracket)?;
    let length = start + first + end + 1;
    // A name cannot hold a slash, so neither can a pattern for one of its characters.
    if text[..length].contains('/') { Err(GlobError::Bracket) } else { Ok(length) }
}

fn split(text: &str) -> Vec<&str> {
    text.split('/').filter(|name| !matches!(*name, "" | ".")).collect()
}

fn parts(text: &str) -> Result<Vec<Part>, GlobError> {
    if text.starts_with('/') {
        return Err(GlobError::Absolute);
    }
    let mut parts: Vec<Part> = Vec::new();
    for name in split(text) {
        let part = match name {
            ".." => return Err(GlobError::Upward),
            "**" => Part::Anything,
            name => Part::Name(pieces(name)?),
        };
        // `**/**` is `**`.
        if part != Part::Anything || parts.last() != Some(&Part::Anything) {
            parts.push(part);
        }
    }
    match parts.len() {
        0 => Err(GlobError::Empty),
        1..=MOST_PARTS => Ok(parts),
        _ => Err(GlobError::TooLong),
    }
}

fn pieces(name: &str) -> Result<Vec<Piece>, GlobError> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut characters = name.char_indices();
    while let Some((at, c)) = characters.next() {
        let piece = match c {
            '\\' => {
                let (_, c) = characters.next().ok_or(GlobError::Backslash)?;
                Piece::Exactly(c.to_ascii_lowercase())
            }
            '?' => Piece::One,
            '*' if pieces.last() == Some(&Piece::Many) => return Err(GlobError::DoubleStar),
            '*' => Piece::Many,
            '[' => {
                let length = bracket(&name[at..])?;
                while characters.offset() < at + length {
                    characters.next();
                }
                one_of(&name[at + 1..at + length - 1])?
            }
            c => Piece::Exactly(c.to_ascii_lowercase()),
        };
        pieces.push(piece);
    }
    Ok(pieces)
}

fn one_of(inside: &str) -> Result<Piece, GlobError> {
    let plain = inside.strip_prefix(['!', '^']);
    let characters: Vec<char> = plain.unwrap_or(inside).chars().collect();
    let mut ranges = Vec::new();
    let mut rest = characters.as_slice();
    while let [first, ..] = rest {
        let (range, used) = match rest {
            [from, '-', to, ..] => ((*from, *to), 3),
            _ => ((*first, *first), 1),
        };
        if range.0 > range.1 {
            return Err(GlobError::Range { from: range.0, to: range.1 });
        }
        ranges.push(range);
        rest = &rest[used..];
    }
    Ok(Piece::OneOf { ranges, negated: plain.is_some() })
}
