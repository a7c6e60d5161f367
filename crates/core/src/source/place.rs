//! Where something stands.

use std::{fmt, sync::Arc};

use serde::{Serialize, Serializer};

/// A place in a text, counted from one as people and editors do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
    /// How many characters of the line belong to it; at least one.
    pub width: u32,
}

impl Place {
    /// A place in a line.
    pub fn new(line: u32, column: u32, width: u32) -> Place {
        Place { line, column, width: width.max(1) }
    }

    /// The place of a range of bytes in a text. What goes beyond the first line is left out.
    pub fn of_bytes(text: &str, start: usize, end: usize) -> Place {
        let start = text.floor_char_boundary(start.min(text.len()));
        let before = &text[..start];
        let line = before.matches('\n').count() as u32 + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() as u32 + 1;
        let end = text.floor_char_boundary(end.clamp(start, text.len()));
        let width = text[start..end].split('\n').next().unwrap_or_default().chars().count();
        Place::new(line, column, width as u32)
    }
}

/// A place in a named text: where a value came from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The file, or what stands for one: `built-in profile default`, `--memory`.
    pub name: Arc<str>,
    /// The place in it; absent for what has no lines.
    pub place: Option<Place>,
}

impl Origin {
    /// Something without lines: a flag, a variable.
    pub fn named(name: impl Into<Arc<str>>) -> Origin {
        Origin { name: name.into(), place: None }
    }

    /// A place in a file.
    pub fn at(name: &Arc<str>, place: Place) -> Origin {
        Origin { name: Arc::clone(name), place: Some(place) }
    }
}

/// `sandbox.policy.yaml:12`, or the name alone.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some(place) => write!(f, "{}:{}", self.name, place.line),
            None => f.write_str(&self.name),
        }
    }
}

/// As text: that is how people look for it.
impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_lines_and_columns() {
        let text = "a = 1\nßb = \"x\ny\"\n";
        assert_eq!(Place::of_bytes(text, 0, 1), Place::new(1, 1, 1));
        assert_eq!(Place::of_bytes(text, 8, 9), Place::new(2, 2, 1));
        assert_eq!(Place::of_bytes(text, 12, 17), Place::new(2, 6, 2), "only the first line");
        assert_eq!(Place::of_bytes(text, 7, 7), Place::new(2, 1, 1), "inside a character");
        assert_eq!(Place::of_bytes(text, 99, 100), Place::new(4, 1, 1));
    }
}
