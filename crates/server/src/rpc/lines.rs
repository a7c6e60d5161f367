//! Lines of a byte stream, each bounded: what is longer is skipped without being kept.

use std::{
    io::{self, BufRead},
    thread,
};

use tokio::sync::mpsc;

/// What stands between two newlines.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// The whole line, without its end.
    Whole(Vec<u8>),
    /// More than may be in a line.
    TooLong,
}

/// Reads the next line; `None` at the end. A last line without an end counts.
pub(super) fn next(source: &mut impl BufRead, most: usize) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let mut too_long = false;
    let mut seen = false;
    loop {
        let piece = match source.fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if piece.is_empty() {
            break;
        }
        seen = true;
        let (taken, ended) = match piece.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end, true),
            None => (piece.len(), false),
        };
        if !too_long && line.len() + taken <= most {
            line.extend_from_slice(&piece[..taken]);
        } else {
            too_long = true;
            line = Vec::new();
        }
        source.consume(taken + usize::from(ended));
        if ended {
            break;
        }
    }
    Ok(match (seen, too_long) {
        (false, _) => None,
        (true, true) => Some(Line::TooLong),
        (true, false) => Some(Line::Whole(line)),
    })
}

/// Reads in a thread of its own until the end. It is never joined: nothing can end such a read.
pub(super) fn read_all(
    mut source: impl BufRead + Send + 'static,
    most: usize,
) -> io::Result<mpsc::Receiver<Line>> {
    let (sender, receiver) = mpsc::channel(4);
    thread::Builder::new().name("rpc-input".to_owned()).spawn(move || {
        // What can no longer be read has ended.
        while let Ok(Some(line)) = next(&mut source, most) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    })?;
    Ok(receiver)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn all(text: &[u8], most: usize) -> Vec<Line> {
        // A small buffer, so that lines come in pieces.
        let mut source = BufReader::with_capacity(3, text);
        std::iter::from_fn(|| next(&mut source, most).unwrap()).collect()
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_the_next_one_is_read() {
        let lines = all(b"one\n12345678\nfour\n123456", 5);
        assert_eq!(lines, [whole("one"), Line::TooLong, whole("four"), Line::TooLong]);
        assert_eq!(all(b"12345\n", 5), [whole("12345")]);
    }

    #[test]
    fn the_last_line_needs_no_end() {
        assert_eq!(all(b"a\n\nb", 9), [whole("a"), whole(""), whole("b")]);
        assert_eq!(all(b"", 9), []);
    }
}
