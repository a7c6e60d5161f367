//! An error in the user's source, and how it looks on a terminal.
//!
//! The source is untrusted, so nothing of it reaches the terminal with control characters in it.

use std::fmt;

use oxc_diagnostics::OxcDiagnostic;

/// More errors than this are counted, not shown: the first ones matter.
const MAX_SHOWN: usize = 50;

/// How many characters of a long line are shown on either side of the error.
const EXCERPT_RADIUS: usize = 80;

/// One reason why a source cannot be translated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The name of the source, as the caller gave it.
    pub name: String,
    /// Where the error is; absent when it concerns the file as a whole.
    pub position: Option<Position>,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What to do about it, when that is known.
    pub help: Option<String>,
}

/// A place in the source, with the text that stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// The line itself, or the part around the column when it is long.
    excerpt: String,
    /// How many characters of `excerpt` stand before the column.
    before: usize,
}

impl Diagnostic {
    /// An error about the file as a whole.
    pub(crate) fn whole_file(name: &str, message: impl Into<String>) -> Self {
        Self { name: name.to_owned(), position: None, message: message.into(), help: None }
    }

    /// Translates what the oxc crates report, keeping the first [`MAX_SHOWN`].
    pub(crate) fn from_oxc(
        name: &str,
        source: &str,
        errors: impl IntoIterator<Item = OxcDiagnostic>,
    ) -> Vec<Self> {
        let mut errors = errors.into_iter();
        let mut shown: Vec<Self> = errors
            .by_ref()
            .take(MAX_SHOWN)
            .map(|error| Self::one_from_oxc(name, source, &error))
            .collect();
        let hidden = errors.count();
        if hidden > 0 {
            let message = format!("{hidden} more errors are not shown");
            shown.push(Self::whole_file(name, message));
        }
        shown
    }

    fn one_from_oxc(name: &str, source: &str, error: &OxcDiagnostic) -> Self {
        let offset = error.labels.first().map(|label| label.offset() as usize);
        Self {
            name: name.to_owned(),
            position: offset.map(|offset| Position::at(source, offset)),
            message: error.message.to_string(),
            help: error.help.as_ref().map(ToString::to_string),
        }
    }
}

impl Position {
    /// The position of byte `offset`, which may lie past the end or inside a character.
    fn at(source: &str, offset: usize) -> Self {
        let offset = source.floor_char_boundary(offset);
        let (before, after) = source.split_at(offset);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = 1 + before.matches('\n').count();
        let left = &before[line_start..];
        let right = after.lines().next().unwrap_or("");
        let column = 1 + left.chars().count();

        let skipped = column.saturating_sub(1 + EXCERPT_RADIUS);
        let left: String = printable(left.chars().skip(skipped)).collect();
        let right: String = printable(right.chars().take(EXCERPT_RADIUS)).collect();
        Self { line, column, before: left.chars().count(), excerpt: left + &right }
    }

    /// Blanks as wide as the text before the column; tabs stay tabs.
    fn indent(&self) -> String {
        let left = self.excerpt.chars().take(self.before);
        left.map(|c| if c == '\t' { '\t' } else { ' ' }).collect()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", one_line(&self.name))?;
        if let Some(position) = &self.position {
            write!(f, "{}:{}:", position.line, position.column)?;
        }
        write!(f, " error: {}", one_line(&self.message))?;
        if let Some(position) = &self.position {
            write!(f, "\n    {}\n    {}^", position.excerpt, position.indent())?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n    help: {}", one_line(help))?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

/// Replaces what a terminal would obey instead of show; tabs are kept.
fn printable(characters: impl Iterator<Item = char>) -> impl Iterator<Item = char> {
    characters.map(|character| match character {
        '\t' => '\t',
        other if other.is_control() => char::REPLACEMENT_CHARACTER,
        other => other,
    })
}

fn one_line(text: &str) -> String {
    let flat = text.chars().map(|c| if c == '\n' { ' ' } else { c });
    printable(flat).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(source: &str, offset: usize) -> String {
        Diagnostic {
            name: "a.ts".to_owned(),
            position: Some(Position::at(source, offset)),
            message: "wrong".to_owned(),
            help: None,
        }
        .to_string()
    }

    #[test]
    fn points_below_the_character() {
        let expected = "a.ts:2:4: error: wrong\n    \täbc\n    \t  ^";
        assert_eq!(shown("x\n\täbc\ny", 6), expected);
    }

    #[test]
    fn survives_any_offset() {
        let source = "ä\r\n\u{1F600}\n";
        for offset in 0..source.len() + 3 {
            shown(source, offset);
        }
    }

    #[test]
    fn shows_a_window_of_a_long_line() {
        let text = shown(&"x".repeat(10_000), 5_000);
        assert!(text.starts_with("a.ts:1:5001: "));
        assert!(text.len() < 400, "{text}");
    }

    #[test]
    fn keeps_escape_sequences_from_the_terminal() {
        assert!(!shown("\u{1b}[2J", 0).contains('\u{1b}'));
        let sly = Diagnostic::whole_file("a\u{1b}", "b\u{1b}\nc");
        assert!(!sly.to_string().contains(['\u{1b}', '\n']));
    }

    #[test]
    fn counts_what_it_does_not_show() {
        let many = (0..60).map(|_| OxcDiagnostic::error("wrong"));
        let shown = Diagnostic::from_oxc("a.ts", "", many);
        assert_eq!(shown.len(), MAX_SHOWN + 1);
        assert_eq!(shown[MAX_SHOWN].message, "10 more errors are not shown");
    }
}
