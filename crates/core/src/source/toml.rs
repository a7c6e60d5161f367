//! TOML into the same tree that YAML becomes. The tree is in the order of the text.

use std::{ops::Range, sync::Arc};

use toml::{
    Spanned,
    de::{DeInteger, DeTable, DeValue},
};

use super::{
    Entry, Key, Node, Place, Problem, Value,
    yaml::{MOST_BYTES, MOST_DEPTH},
};

/// Reads a text. The name is that of the file, for messages. Dates become texts.
pub fn read_toml(name: &Arc<str>, text: &str) -> Result<Node, Problem> {
    if text.len() > MOST_BYTES {
        let place = Place::new(1, 1, 1);
        return Err(Problem::new(name, text, place, "the file is larger than 1 MiB", ""));
    }
    let table = DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or_default();
        let place = Place::of_bytes(text, span.start, span.end);
        let message = format!("this is not TOML: {}", error.message());
        let hint = match error.message().contains("duplicate") {
            true => "keep one of them",
            false => "texts want quotes, for example `image = \"python:3.12\"`",
        };
        Problem::new(name, text, place, message, "").hint(hint)
    })?;
    let mut reader = Reader { name, text, places: Places::new(text) };
    let value = reader.map(table.into_inner(), 0)?;
    Ok(Node { place: Place::new(1, 1, 1), value })
}

struct Reader<'a> {
    name: &'a Arc<str>,
    text: &'a str,
    places: Places<'a>,
}

impl Reader<'_> {
    fn node(&mut self, value: Spanned<DeValue<'_>>, depth: usize) -> Result<Node, Problem> {
        let place = self.places.of(value.span());
        if depth > MOST_DEPTH {
            let message = "this is nested too deeply";
            return Err(Problem::new(self.name, self.text, place, message, "more than 32 levels"));
        }
        let plain = |text: String| Value::Scalar { text, quoted: false };
        let value = match value.into_inner() {
            DeValue::String(text) => Value::Scalar { text: text.into_owned(), quoted: true },
            DeValue::Datetime(date) => Value::Scalar { text: date.to_string(), quoted: true },
            DeValue::Integer(number) => plain(decimal(&number)),
            DeValue::Float(number) => plain(number.as_str().to_owned()),
            DeValue::Boolean(flag) => plain(flag.to_string()),
            DeValue::Array(values) => Value::List(
                values
                    .into_iter()
                    .map(|value| self.node(value, depth + 1))
                    .collect::<Result<_, _>>()?,
            ),
            DeValue::Table(table) => self.map(table, depth)?,
        };
        Ok(Node { place, value })
    }

    fn map(&mut self, table: DeTable<'_>, depth: usize) -> Result<Value, Problem> {
        let mut pairs: Vec<_> = table.into_iter().collect();
        pairs.sort_by_key(|(key, _)| key.span().start);
        let entries = pairs.into_iter().map(|(key, value)| {
            let place = self.places.of(key.span());
            let key = Key { text: key.into_inner().into_owned(), place };
            Ok(Entry { key, value: self.node(value, depth + 1)? })
        });
        Ok(Value::Map(entries.collect::<Result<_, _>>()?))
    }
}

/// A number as everybody else writes it, whichever base it was written in.
fn decimal(number: &DeInteger<'_>) -> String {
    match i128::from_str_radix(number.as_str(), number.radix()) {
        Ok(value) => value.to_string(),
        Err(_) => number.to_string(),
    }
}

/// Places of byte ranges. It remembers where it was, so that a long line full of values is not
/// counted from its beginning for each of them.
struct Places<'a> {
    text: &'a str,
    line_starts: Vec<usize>,
    /// A byte and its column, counted from zero.
    last: (usize, usize),
}

impl<'a> Places<'a> {
    fn new(text: &'a str) -> Places<'a> {
        let after_newlines = text.match_indices('\n').map(|(index, _)| index + 1);
        Places { text, line_starts: [0].into_iter().chain(after_newlines).collect(), last: (0, 0) }
    }

    fn of(&mut self, range: Range<usize>) -> Place {
        let start = self.text.floor_char_boundary(range.start.min(self.text.len()));
        let line = self.line_starts.partition_point(|line_start| *line_start <= start);
        let line_start = self.line_starts[line - 1];
        let (from, column) = match self.last {
            (byte, column) if (line_start..=start).contains(&byte) => (byte, column),
            _ => (line_start, 0),
        };
        let column = column + self.text[from..start].chars().count();
        self.last = (start, column);
        let width = Place::of_bytes(&self.text[start..], 0, range.end.saturating_sub(start)).width;
        Place::new(line as u32, column as u32 + 1, width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Node, Problem> {
        read_toml(&"t.toml".into(), text)
    }

    fn entries(node: &Node) -> &[Entry] {
        match &node.value {
            Value::Map(entries) => entries,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn values_know_their_places() {
        let node = read("b = 1\n[a]\nx = [\"ü\", 2]\ny.z = true # yes\n").unwrap();
        let [b, a] = entries(&node) else { panic!("{node:?}") };
        assert_eq!((b.key.text.as_str(), b.key.place), ("b", Place::new(1, 1, 1)), "text order");
        assert_eq!(b.value.place, Place::new(1, 5, 1));
        assert_eq!(a.key.place, Place::new(2, 2, 1));
        let [x, y] = entries(&a.value) else { panic!("{a:?}") };
        assert_eq!(x.value.place, Place::new(3, 5, 8));
        let Value::List(items) = &x.value.value else { panic!("{x:?}") };
        assert_eq!(items[0].value, Value::Scalar { text: "ü".into(), quoted: true });
        assert_eq!(items[1].place, Place::new(3, 11, 1));
        let z = &entries(&y.value)[0];
        assert_eq!((z.key.place, z.value.place), (Place::new(4, 3, 1), Place::new(4, 7, 4)));
    }

    #[test]
    fn places_agree_with_a_plain_count() {
        let text = "ä = { b = [1, \"ö\"], c = 2 }\n[x.p]\nk = 1\n[y.p]\nk = 1\n[x.q]\nk = \"ß\"\n";
        let mut places = Places::new(text);
        for start in (0..text.len()).chain((0..text.len()).rev()) {
            let counted = Place::of_bytes(text, start, start + 3);
            assert_eq!(places.of(start..start + 3), counted, "at {start}");
        }
    }

    #[test]
    fn numbers_and_dates_are_texts_like_any_other() {
        let node = read("a = 0x10\nb = 1_000\nc = 0.5\nd = 2024-01-02\ne = -3\n").unwrap();
        let texts: Vec<_> = entries(&node)
            .iter()
            .map(|entry| match &entry.value.value {
                Value::Scalar { text, quoted } => (text.as_str(), *quoted),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(
            texts,
            [("16", false), ("1000", false), ("0.5", false), ("2024-01-02", true), ("-3", false)]
        );
    }

    #[test]
    fn an_empty_file_is_an_empty_section() {
        for text in ["", "\n", "# nothing\n"] {
            assert_eq!(read(text).unwrap().value, Value::Map(Vec::new()), "{text:?}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused_with_its_place() {
        for (text, line, column) in [
            ("a = 1\na = 2\n", 2, 1),
            ("a = 1\nb = [1,\n", 2, 8),
            ("a = x\n", 1, 5),
            ("[a]\nb = \"x\n", 2, 7),
            ("a 1\n", 1, 3),
        ] {
            let problem = read(text).unwrap_err();
            assert!(problem.message().starts_with("this is not TOML: "), "{problem}");
            let place = problem.origin().unwrap().place.unwrap();
            assert_eq!((place.line, place.column), (line, column), "{text:?}: {problem}");
        }
    }

    #[test]
    fn depth_and_size_have_an_end() {
        for depth in [40, 100, 100_000] {
            let deep = format!("a = {}{}", "[".repeat(depth), "]".repeat(depth));
            assert!(read(&deep).is_err(), "{depth}");
        }
        assert!(read(&format!("a = {}{}", "[".repeat(30), "]".repeat(30))).is_ok());
        let large = "#".repeat(MOST_BYTES + 1);
        assert!(read(&large).unwrap_err().message().contains("larger than 1 MiB"));
    }

    #[test]
    fn a_long_line_is_not_counted_again_for_each_value() {
        let line = format!("a = [{}]", "1,".repeat(100_000));
        let started = std::time::Instant::now();
        let node = read(&line).unwrap();
        let Value::List(items) = &entries(&node)[0].value.value else { panic!() };
        assert_eq!(items[99_999].place, Place::new(1, 6 + 2 * 99_999, 1));
        assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
    }
}
