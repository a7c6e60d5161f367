//! What is wrong with a text, shown where it stands.

use std::{fmt, sync::Arc};

use super::{Origin, Place};

/// Something wrong: what, where, and what to do about it.
///
/// Its display is the whole report: the message, the line with a caret under the place, the hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    message: String,
    shown: Vec<Shown>,
    hint: Option<String>,
}

/// A place that belongs to a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Shown {
    origin: Origin,
    line: Option<String>,
    label: String,
}

impl Problem {
    /// A problem at a place of a text.
    pub fn new(
        name: &Arc<str>,
        text: &str,
        place: Place,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Problem {
        Problem { message: message.into(), shown: Vec::new(), hint: None }
            .and_at(name, text, place, label)
    }

    /// A problem with something that has no lines.
    pub fn of(origin: Origin, message: impl Into<String>) -> Problem {
        let shown = Shown { origin, line: None, label: String::new() };
        Problem { message: message.into(), shown: vec![shown], hint: None }
    }

    /// A second place that belongs to it, such as the line of a ceiling.
    #[must_use]
    pub fn and_at(
        mut self,
        name: &Arc<str>,
        text: &str,
        place: Place,
        label: impl Into<String>,
    ) -> Problem {
        // What is missing at the end is missed on a line that is not there.
        let line = text.lines().nth(place.line.saturating_sub(1) as usize).or(Some(""));
        self.shown.push(Shown {
            origin: Origin::at(name, place),
            line: line.map(str::to_owned),
            label: label.into(),
        });
        self
    }

    /// A second place that has no lines.
    #[must_use]
    pub fn and_of(mut self, origin: Origin) -> Problem {
        self.shown.push(Shown { origin, line: None, label: String::new() });
        self
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }

    /// The one sentence.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Where it is.
    pub fn origin(&self) -> Option<&Origin> {
        self.shown.first().map(|shown| &shown.origin)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let digits =
            |shown: &Shown| shown.origin.place.map_or(0, |place| place.line.to_string().len());
        let margin = self.shown.iter().map(digits).max().unwrap_or(0).max(1);
        for Shown { origin, line, label } in &self.shown {
            let (Some(place), Some(line)) = (origin.place, line) else {
                write!(f, "\n{:margin$}--> {}", "", origin.name)?;
                continue;
            };
            write!(f, "\n{:margin$}--> {}:{}:{}", "", origin.name, place.line, place.column)?;
            write!(f, "\n{:margin$} |", "")?;
            write!(f, "\n{:>margin$} | {}", place.line, visible(line))?;
            // What stands before the caret is as wide as what stands before the place.
            let before: String = line
                .chars()
                .take(place.column.saturating_sub(1) as usize)
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            let carets = "^".repeat(place.width.min(120) as usize);
            write!(f, "\n{:margin$} | {before}{carets}", "")?;
            if !label.is_empty() {
                write!(f, " {label}")?;
            }
        }
        match &self.hint {
            Some(hint) => write!(f, "\n{:margin$} = help: {hint}", ""),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Problem {}

/// A line as it can be shown on a terminal: one column per character, nothing that acts.
fn visible(line: &str) -> String {
    line.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_shows_the_line_and_a_caret() {
        let text = "version: 1\nfs:\n  dney: []\n";
        let problem = Problem::new(
            &"p.yaml".into(),
            text,
            Place::new(3, 3, 4),
            "unknown key `dney` in `fs`",
            "no such key",
        )
        .hint("did you mean `deny`?");
        assert_eq!(
            problem.to_string(),
            "unknown key `dney` in `fs`\n --> p.yaml:3:3\n  |\n3 |   dney: []\n  |   ^^^^ no such key\n  = help: did you mean `deny`?"
        );
    }

    #[test]
    fn what_acts_on_a_terminal_is_not_shown() {
        let problem = Problem::new(&"p".into(), "a\u{1b}[31m: 1", Place::new(1, 1, 1), "bad", "");
        assert!(!problem.to_string().contains('\u{1b}'));
    }
}
