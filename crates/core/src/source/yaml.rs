//! YAML, and with it JSON, into a tree. Only what configuration needs: one document, no anchors, no
//! tags, no key twice.

use std::{collections::HashMap, sync::Arc};

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span};

use super::{Entry, Key, Node, Place, Problem, Value};

/// Deeper than anything that makes sense, and shallow enough for every stack.
pub(super) const MOST_DEPTH: usize = 32;
/// Larger than any file that people write by hand.
pub(super) const MOST_BYTES: usize = 1 << 20;

/// Reads a text. The name is that of the file, for messages.
pub fn read_yaml(name: &Arc<str>, text: &str) -> Result<Node, Problem> {
    let mut reader = Reader { name, text, parser: Parser::new_from_str(text) };
    if text.len() > MOST_BYTES {
        return Err(reader.problem(Place::new(1, 1, 1), "the file is larger than 1 MiB", ""));
    }
    loop {
        let (event, span) = reader.next()?;
        match event {
            Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
            // Nothing but comments: a section without keys.
            Event::StreamEnd | Event::DocumentEnd => {
                return Ok(Node { place: place(span), value: Value::Map(Vec::new()) });
            }
            event => {
                let node = reader.node(event, span, 0)?;
                return reader.nothing_more().map(|()| node);
            }
        }
    }
}

struct Reader<'a> {
    name: &'a Arc<str>,
    text: &'a str,
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
}

impl<'a> Reader<'a> {
    fn problem(&self, place: Place, message: &str, label: &str) -> Problem {
        Problem::new(self.name, self.text, place, message, label)
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), Problem> {
        match self.parser.next() {
            Some(Ok(next)) => Ok(next),
            Some(Err(error)) => Err(self.scan_problem(&error)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn scan_problem(&self, error: &ScanError) -> Problem {
        let marker = error.marker();
        let mut place = Place::new(marker.line() as u32, marker.col() as u32 + 1, 1);
        // What is missing at the end of the text is missed behind its last line.
        if let Some(last) = self.text.trim_end().lines().enumerate().last()
            && place.line as usize > last.0 + 1
        {
            place = Place::new(last.0 as u32 + 1, last.1.chars().count() as u32 + 1, 1);
        }
        self.problem(place, &format!("this is not YAML: {}", error.info()), "")
            .hint("texts with special characters want quotes; indentation wants spaces, not tabs")
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, Problem> {
        let place = place(span);
        if depth > MOST_DEPTH {
            return Err(self.problem(place, "this is nested too deeply", "more than 32 levels"));
        }
        let value = match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse(place, anchor, tag.is_some())?;
                let quoted = style != ScalarStyle::Plain;
                Value::Scalar { text: text.into_owned(), quoted }
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse(place, anchor, tag.is_some())?;
                self.list(depth)?
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse(place, anchor, tag.is_some())?;
                self.map(depth)?
            }
            _ => {
                return Err(self
                    .problem(place, "aliases are not understood here", "")
                    .hint("write the value itself"));
            }
        };
        Ok(Node { place, value })
    }

    fn refuse(&self, place: Place, anchor: usize, tag: bool) -> Result<(), Problem> {
        let (message, hint) = match (anchor, tag) {
            (0, false) => return Ok(()),
            (0, true) => ("tags are not understood here", "leave out what begins with `!`"),
            _ => ("anchors are not understood here", "write the value in each place"),
        };
        Err(self.problem(place, message, "").hint(hint))
    }

    fn list(&mut self, depth: usize) -> Result<Value, Problem> {
        let mut nodes = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Value::List(nodes)),
                (event, span) => nodes.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Value, Problem> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut seen: HashMap<String, Place> = HashMap::new();
        loop {
            let (event, span) = self.next()?;
            let key = match event {
                Event::MappingEnd => return Ok(Value::Map(entries)),
                Event::Scalar(text, _, 0, None) => {
                    Key { text: text.into_owned(), place: place(span) }
                }
                _ => {
                    let message = "a key must be a plain text";
                    return Err(self.problem(place(span), message, "this is something else"));
                }
            };
            if let Some(first) = seen.insert(key.text.clone(), key.place) {
                let message = format!("the key `{}` is there twice", key.text);
                return Err(self
                    .problem(key.place, &message, "again here")
                    .and_at(self.name, self.text, first, "first here")
                    .hint("keep one of them"));
            }
            let (event, span) = self.next()?;
            let value = self.node(event, span, depth + 1)?;
            entries.push(Entry { key, value });
        }
    }

    fn nothing_more(&mut self) -> Result<(), Problem> {
        loop {
            match self.next()? {
                (Event::StreamEnd, _) => return Ok(()),
                (Event::DocumentEnd | Event::Nothing, _) => {}
                (_, span) => {
                    return Err(self
                        .problem(place(span), "there is a second document in the file", "")
                        .hint("one file, one document: remove this and what follows"));
                }
            }
        }
    }
}

fn place(span: Span) -> Place {
    let width = match span.end.line() == span.start.line() {
        true => span.end.index().saturating_sub(span.start.index()),
        false => 1,
    };
    Place::new(span.start.line().max(1) as u32, span.start.col() as u32 + 1, width as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Node, Problem> {
        read_yaml(&"t.yaml".into(), text)
    }

    #[test]
    fn values_know_their_places() {
        let node = read("a: 1\nb:\n  - \"x\"\n  - ü: y\n").unwrap();
        let Value::Map(entries) = &node.value else { panic!() };
        assert_eq!(entries[0].key.place, Place::new(1, 1, 1));
        assert_eq!(entries[0].value.place, Place::new(1, 4, 1));
        let Value::List(items) = &entries[1].value.value else { panic!() };
        assert_eq!(items[0].place, Place::new(3, 5, 3));
        assert_eq!(items[0].value, Value::Scalar { text: "x".into(), quoted: true });
        let Value::Map(inner) = &items[1].value else { panic!() };
        assert_eq!(inner[0].value.place, Place::new(4, 8, 1));
    }

    #[test]
    fn json_is_read_too() {
        let node = read("{\"a\": {\"b\": [1, true, \"c\"]}}").unwrap();
        assert!(matches!(node.value, Value::Map(ref entries) if entries[0].key.text == "a"));
    }

    #[test]
    fn an_empty_file_is_an_empty_section() {
        for text in ["", "\n", "# nothing\n", "---\n"] {
            let node = read(text).unwrap();
            assert!(node.is_nothing() || node.value == Value::Map(Vec::new()), "{text:?}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused_with_its_place() {
        for (text, words) in [
            ("a: 1\nb: 2\na: 3\n", "there twice"),
            ("a: &x 1\nb: *x\n", "anchors"),
            ("a: !!int 1\n", "tags"),
            ("a: 1\n---\nb: 2\n", "second document"),
            ("a: [1\n", "not YAML"),
            ("? [a]\n: b\n", "plain text"),
            ("a: \"x\n", "not YAML"),
        ] {
            let problem = read(text).unwrap_err();
            assert!(problem.message().contains(words), "{text:?}: {problem}");
            assert!(problem.origin().unwrap().place.is_some(), "{text:?}");
        }
        let deep = "[".repeat(100) + &"]".repeat(100);
        assert!(read(&deep).unwrap_err().message().contains("nested too deeply"));
    }
}
