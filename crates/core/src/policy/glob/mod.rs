//! Patterns for files: `**/.env`, `.ssh/**`, `*.{pem,key}`. They are relative to the workspace or to
//! the root of a mount.
//!
//! A pattern is there to hide or protect, so whatever is doubtful matches: letters of either case
//! are the same, a `*` takes leading dots too.

mod parse;

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Serialize, Serializer};

pub use self::parse::GlobError;

/// A pattern for files.
///
/// ```
/// use fumehood_core::policy::Glob;
/// let glob = Glob::parse("**/.env").unwrap();
/// assert!(glob.matches(".env") && glob.matches("a/b/.ENV"));
/// assert!(!glob.matches("a/.env.example"));
/// ```
#[derive(Clone)]
pub struct Glob {
    text: Arc<str>,
    /// One for each choice of the braces.
    alternatives: Arc<[Vec<Part>]>,
}

/// What stands between two slashes.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    /// `**`: any number of names, also none.
    Anything,
    /// A pattern for one name.
    Name(Vec<Piece>),
}

/// A piece of the pattern for a name.
#[derive(Clone, Debug, PartialEq)]
enum Piece {
    /// This character, in lower case.
    Exactly(char),
    /// `?`
    One,
    /// `*`
    Many,
    /// `[a-z]`, `[!a-z]`
    OneOf { ranges: Vec<(char, char)>, negated: bool },
}

impl Glob {
    /// Reads a pattern. Doubled slashes, `./` and a slash at the end mean nothing.
    pub fn parse(text: &str) -> Result<Glob, GlobError> {
        let (text, alternatives) = parse::parse(text)?;
        Ok(Glob { text: text.into(), alternatives: alternatives.into() })
    }

    /// The pattern, tidied.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether this very path matches. The path is relative to the root of the pattern.
    pub fn matches(&self, relative_path: &str) -> bool {
        let names = names(relative_path);
        self.alternatives.iter().any(|parts| has_end(parts, walk(parts, &names)))
    }

    /// Whether the path or a directory above it matches: what is hidden hides what is in it.
    pub fn covers(&self, relative_path: &str) -> bool {
        let names = names(relative_path);
        self.alternatives.iter().any(|parts| {
            let mut states = START;
            names.iter().any(|name| {
                states = step(parts, states, name);
                has_end(parts, states)
            })
        })
    }

    /// Whether something below this directory can match. Spares a walk through what cannot.
    pub fn may_match_below(&self, directory: &str) -> bool {
        let names = names(directory);
        self.alternatives.iter().any(|parts| {
            let states = close(parts, walk(parts, &names));
            (0..parts.len()).any(|at| states & (1 << at) != 0)
        })
    }

    /// Whether it matches whatever there is.
    pub fn is_everything(&self) -> bool {
        let any_name = |pieces: &[Piece]| {
            let ones = pieces.iter().filter(|piece| **piece == Piece::One).count();
            let many = pieces.iter().filter(|piece| **piece == Piece::Many).count();
            many > 0 && ones <= 1 && ones + many == pieces.len()
        };
        self.alternatives.iter().any(|parts| {
            let named: Vec<_> = parts.iter().filter(|part| **part != Part::Anything).collect();
            match named.as_slice() {
                [] => true,
                [Part::Name(pieces)] => any_name(pieces),
                _ => false,
            }
        })
    }
}

/// The names of a path. `..` takes the name before it away, so that no detour gets past a pattern.
fn names(path: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    names
}

/// Which parts may come next: one bit for each, and one for the end.
type States = u64;
const START: States = 1;

/// Adds what can be reached without a name, since `**` may stand for none.
fn close(parts: &[Part], mut states: States) -> States {
    for (at, part) in parts.iter().enumerate() {
        if *part == Part::Anything && states & (1 << at) != 0 {
            states |= 1 << (at + 1);
        }
    }
    states
}

fn step(parts: &[Part], states: States, name: &str) -> States {
    let states = close(parts, states);
    let mut next = 0;
    for (at, part) in parts.iter().enumerate() {
        if states & (1 << at) == 0 {
            continue;
        }
        match part {
            Part::Anything => next |= 1 << at,
            Part::Name(pieces) if name_matches(pieces, name) => next |= 1 << (at + 1),
            Part::Name(_) => {}
        }
    }
    next
}

fn walk(parts: &[Part], names: &[&str]) -> States {
    names.iter().fold(START, |states, name| step(parts, states, name))
}

fn has_end(parts: &[Part], states: States) -> bool {
    close(parts, states) & (1 << parts.len()) != 0
}

/// Going back only to the last `*` is enough, so this takes length times length at the most.
fn name_matches(pieces: &[Piece], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let (mut piece, mut at) = (0, 0);
    let mut last_many: Option<(usize, usize)> = None;
    while at < name.len() {
        if pieces.get(piece) == Some(&Piece::Many) {
            last_many = Some((piece, at));
            piece += 1;
        } else if pieces.get(piece).is_some_and(|piece| piece.takes(name[at])) {
            piece += 1;
            at += 1;
        } else if let Some((many, from)) = last_many {
            last_many = Some((many, from + 1));
            piece = many + 1;
            at = from + 1;
        } else {
            return false;
        }
    }
    pieces[piece..].iter().all(|piece| *piece == Piece::Many)
}

impl Piece {
    fn takes(&self, c: char) -> bool {
        match self {
            Piece::Exactly(wanted) => c.to_ascii_lowercase() == *wanted,
            Piece::One => true,
            Piece::Many => false,
            Piece::OneOf { ranges, negated } => {
                let among = |c: char| ranges.iter().any(|(low, high)| (*low..=*high).contains(&c));
                // `[!a]` takes `A`: it is not `a` wherever case counts.
                match negated {
                    true => !among(c),
                    false => among(c.to_ascii_lowercase()) || among(c.to_ascii_uppercase()),
                }
            }
        }
    }
}

impl FromStr for Glob {
    type Err = GlobError;

    fn from_str(text: &str) -> Result<Glob, GlobError> {
        Glob::parse(text)
    }
}

impl PartialEq for Glob {
    fn eq(&self, other: &Glob) -> bool {
        self.text == other.text
    }
}

impl Eq for Glob {}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Glob({})", self.text)
    }
}

impl Serialize for Glob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}
