//! Whether bytes are the beginning of a request.

/// The longest method that is taken for one.
const MOST_METHOD: usize = 256;
/// The longest line that is waited for.
const MOST_LINE: usize = 8 * 1024;

const METHODS: &[&[u8]] =
    &[b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"CONNECT", b"OPTIONS", b"TRACE", b"PATCH"];

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// A request.
    Yes,
    /// Something else.
    No,
    /// It could become one. No server acts on so little, so these bytes may pass.
    Maybe,
}

/// Servers skip empty lines before a request, so these are skipped too; the request is then
/// refused by whoever reads it. Plain HTTP/2 (`PRI * HTTP/2.0`) is something else.
pub(crate) fn looks_like_http(bytes: &[u8]) -> Look {
    let begin = bytes.iter().position(|b| !matches!(b, b'\r' | b'\n')).unwrap_or(bytes.len());
    let bytes = &bytes[begin..];
    let Some(end) = bytes.iter().position(|b| !is_token(*b)) else {
        return if bytes.len() > MOST_METHOD { Look::No } else { Look::Maybe };
    };
    let (method, rest) = (&bytes[..end], &bytes[end..]);
    if method.is_empty() || method.len() > MOST_METHOD || !matches!(rest[0], b' ' | b'\t') {
        return Look::No;
    }
    if METHODS.iter().any(|known| known.eq_ignore_ascii_case(method)) {
        return Look::Yes;
    }
    // Servers are lenient about several spaces.
    let target = rest.iter().position(|b| !matches!(b, b' ' | b'\t')).unwrap_or(rest.len());
    let target = &rest[target..];
    match target.first() {
        None => Look::Maybe,
        Some(b'*') if method == b"PRI" => Look::No,
        Some(b'/' | b'*') => Look::Yes,
        // `MAIL FROM:…` of another protocol, or `PROPFIND http://…`: the end of the line says it.
        Some(b) if b.is_ascii_alphabetic() => match target.iter().position(|b| *b == b'\n') {
            None if target.len() > MOST_LINE => Look::No,
            None => Look::Maybe,
            Some(end) if names_http(&target[..end]) => Look::Yes,
            Some(_) => Look::No,
        },
        Some(_) => Look::No,
    }
}

fn names_http(line: &[u8]) -> bool {
    line.windows(5).any(|five| five.eq_ignore_ascii_case(b"HTTP/"))
}

/// What methods and names of headers consist of.
pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
