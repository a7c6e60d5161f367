//! Lines of bounded length from a client, and the `id` of a line that was too long to be kept.

use std::io::{self, BufRead};

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A whole line, without its end.
    Whole(Vec<u8>),
    /// A line that was too long, and the text of its top-level `id`, if it had one.
    TooLong(Option<String>),
    /// There is no more.
    End,
}

/// Reads one line. However long it is, no more than `most` bytes are held.
pub(super) fn read_line(source: &mut impl BufRead, most: usize) -> io::Result<Line> {
    let mut line = Vec::new();
    let mut scan: Option<IdScan> = None;
    loop {
        let piece = match source.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            piece => piece?,
        };
        if piece.is_empty() {
            // What has no end was never finished.
            return Ok(Line::End);
        }
        let end = piece.iter().position(|byte| *byte == b'\n');
        let taken = &piece[..end.unwrap_or(piece.len())];
        match &mut scan {
            Some(scan) => scan.feed(taken),
            None if line.len() + taken.len() > most => {
                let mut begun = IdScan::default();
                begun.feed(&line);
                begun.feed(taken);
                line = Vec::new();
                scan = Some(begun);
            }
            None => line.extend_from_slice(taken),
        }
        let used = end.map_or(piece.len(), |end| end + 1);
        source.consume(used);
        if end.is_some() {
            return Ok(match scan {
                Some(scan) => Line::TooLong(scan.id()),
                None => Line::Whole(line),
            });
        }
    }
}

/// Looks for the value of the key `id` at the top of an object, piece by piece, without keeping
/// what it reads.
#[derive(Default)]
struct IdScan {
    depth: usize,
    in_text: bool,
    escaped: bool,
    /// The text that is being read at the top, as far as it may be `id`.
    text: Vec<u8>,
    /// Whether the last thing at the top was the key.
    key_seen: bool,
    /// The value, while it is being read.
    value: Option<Vec<u8>>,
    done: bool,
}

const MOST_ID: usize = 128;

impl IdScan {
    fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if !self.done {
                self.take(*byte);
            }
        }
    }

    fn take(&mut self, byte: u8) {
        if self.in_text {
            let ends = byte == b'"' && !self.escaped;
            self.escaped = byte == b'\\' && !self.escaped;
            match &mut self.value {
                Some(value) => value.push(byte),
                None if self.depth == 1 && !ends && self.text.len() <= 2 => self.text.push(byte),
                None => {}
            }
            self.in_text = !ends;
            self.bound();
            return;
        }
        match byte {
            b'"' => {
                self.in_text = true;
                self.text.clear();
                if let Some(value) = &mut self.value {
                    value.push(byte);
                }
            }
            b'{' | b'[' => {
                self.depth += 1;
                // An object is no id.
                self.value = None;
            }
            b':' if self.depth == 1 && self.value.is_none() => {
                self.key_seen = self.text == b"id";
                if self.key_seen {
                    self.value = Some(Vec::new());
                }
                self.text.clear();
            }
            b',' | b'}' | b']' => {
                if self.depth == 1 && self.value.is_some() {
                    self.done = true;
                    return;
                }
                if byte != b',' {
                    self.depth = self.depth.saturating_sub(1);
                }
                self.text.clear();
            }
            byte => {
                if let Some(value) = &mut self.value {
                    value.push(byte);
                }
            }
        }
        self.bound();
    }

    fn bound(&mut self) {
        if self.value.as_ref().is_some_and(|value| value.len() > MOST_ID) {
            self.value = None;
            self.done = true;
        }
    }

    fn id(self) -> Option<String> {
        let text = String::from_utf8(self.value.filter(|_| self.done)?).ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn lines(text: &str, most: usize) -> Vec<Line> {
        // Small pieces, so that everything is cut somewhere.
        let mut source = BufReader::with_capacity(3, text.as_bytes());
        let mut lines = Vec::new();
        loop {
            match read_line(&mut source, most).unwrap() {
                Line::End => return lines,
                line => lines.push(line),
            }
        }
    }

    #[test]
    fn lines_are_bounded() {
        let long = "x".repeat(100);
        let read = lines(&format!("short\n{long}\n\nlast\nunfinished"), 10);
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(read, [whole("short"), Line::TooLong(None), whole(""), whole("last")]);
    }

    #[test]
    fn the_id_of_a_long_line_is_found() {
        let fill = "y".repeat(50);
        for (line, id) in [
            (format!(r#"{{"id":7,"code":"{fill}"}}"#), Some("7")),
            (format!(r#"{{"code":"{fill}","id": "a-1" }}"#), Some("\"a-1\"")),
            (format!(r#"{{"params":{{"id":1,"code":"{fill}"}},"id":2}}"#), Some("2")),
            (format!(r#"{{"params":"\"id\":1,{fill}","id":3}}"#), Some("3")),
            (format!(r#"{{"x":"id","y":5,"code":"{fill}"}}"#), None),
            (format!(r#"{{"idx":5,"code":"{fill}"}}"#), None),
            (format!(r#"{{"id":{{"a":1}},"code":"{fill}"}}"#), None),
            (format!(r#"[{{"id":5,"code":"{fill}"}}]"#), None),
            (fill.clone(), None),
        ] {
            let found = lines(&format!("{line}\n"), 10);
            assert_eq!(found, [Line::TooLong(id.map(str::to_owned))], "{line}");
        }
    }
}
