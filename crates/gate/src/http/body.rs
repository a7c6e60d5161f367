//! Where the body of a request ends. What servers are known to disagree about is refused.

use fumehood_core::egress::Reason;

use super::head::all;

/// The longest line with the size of a chunk, and all trailers together.
const MOST_LINE: usize = 4096;

/// How the end is found, and how far that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// So many bytes are left.
    Length(u64),
    /// The size of a chunk comes next.
    ChunkSize,
    /// So many bytes of a chunk are left, with the line end behind it.
    Chunk(u64),
    /// Lines behind the last chunk, so many bytes of them so far.
    Trailers(usize),
}

impl Framing {
    /// Nothing if the headers could be read in two ways.
    pub(super) fn of(fields: &[(&str, &str)], is_new: bool) -> Option<Framing> {
        let mut lengths = all(fields, "content-length");
        let mut codings = all(fields, "transfer-encoding");
        match (lengths.next(), codings.next()) {
            (None, None) => Some(Framing::Length(0)),
            (Some(length), None) => {
                let digits = !length.is_empty() && length.bytes().all(|b| b.is_ascii_digit());
                let one = lengths.next().is_none();
                length.parse().ok().filter(|_| digits && one).map(Framing::Length)
            }
            (None, Some(coding)) => {
                let one = codings.next().is_none() && coding.eq_ignore_ascii_case("chunked");
                (one && is_new).then_some(Framing::ChunkSize)
            }
            (Some(_), Some(_)) => None,
        }
    }

    pub(super) fn is_done(self) -> bool {
        self == Framing::Length(0)
    }

    /// How many of the bytes belong to the body and may go on.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<usize, Reason> {
        let mut taken = 0;
        while !self.is_done() {
            let rest = &bytes[taken..];
            match self {
                Framing::Length(left) | Framing::Chunk(left) => {
                    let now = usize::try_from(*left).unwrap_or(usize::MAX).min(rest.len());
                    // The two bytes behind a chunk are a line end, and nothing else.
                    if matches!(self, Framing::Chunk(_)) {
                        self.check_line_end(&rest[..now])?;
                    }
                    taken += now;
                    self.advance(now as u64);
                    if now == rest.len() && !matches!(self, Framing::ChunkSize) {
                        return Ok(taken);
                    }
                }
                Framing::ChunkSize => {
                    let Some(line) = line(rest, MOST_LINE)? else { return Ok(taken) };
                    let size = chunk_size(line).ok_or(Reason::HttpMalformed)?;
                    taken += line.len() + 2;
                    *self = match size {
                        0 => Framing::Trailers(0),
                        size => Framing::Chunk(size + 2),
                    };
                }
                Framing::Trailers(so_far) => {
                    let Some(line) = line(rest, MOST_LINE - *so_far)? else { return Ok(taken) };
                    taken += line.len() + 2;
                    *self = match line.len() {
                        0 => Framing::Length(0),
                        length => Framing::Trailers((*so_far + length + 2).min(MOST_LINE)),
                    };
                }
            }
        }
        Ok(taken)
    }

    fn advance(&mut self, by: u64) {
        *self = match *self {
            Framing::Length(left) => Framing::Length(left - by),
            Framing::Chunk(left) if left == by => Framing::ChunkSize,
            Framing::Chunk(left) => Framing::Chunk(left - by),
            other => other,
        };
    }

    fn check_line_end(self, bytes: &[u8]) -> Result<(), Reason> {
        let Framing::Chunk(left) = self else { return Ok(()) };
        let sound = bytes
            .iter()
            .zip(0u64..)
            .skip_while(|(_, at)| left - at > 2)
            .all(|(byte, at)| *byte == if left - at == 2 { b'\r' } else { b'\n' });
        if sound { Ok(()) } else { Err(Reason::HttpMalformed) }
    }
}

/// The next line without its end, if it is there.
fn line(bytes: &[u8], most: usize) -> Result<Option<&[u8]>, Reason> {
    let Some(end) = bytes.iter().position(|b| *b == b'\n') else {
        return if bytes.len() > most { Err(Reason::HttpTooLarge) } else { Ok(None) };
    };
    match bytes[..end].split_last() {
        Some((b'\r', line)) if !line.contains(&b'\r') && line.len() <= most => Ok(Some(line)),
        _ => Err(Reason::HttpMalformed),
    }
}

/// The size in a line such as `1a` or `1a;name=value`.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let digits = line.split(|b| *b == b';').next()?;
    let sound = (1..=15).contains(&digits.len()) && digits.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(digits).ok().filter(|_| sound)?;
    u64::from_str_radix(text, 16).ok()
}
