//! A greeting of TLS 1.2 that is good enough for an answer, be it an alert.

/// The greeting, for a server of this name.
pub(crate) fn client_hello(name: Option<&str>) -> Vec<u8> {
    let mut extensions = Vec::new();
    if let Some(name) = name {
        let entry = [&[0][..], &prefixed(name.as_bytes())].concat();
        extension(&mut extensions, 0, &prefixed(&entry));
    }
    // Curves, the form of points, and how signatures are made.
    extension(&mut extensions, 10, &prefixed(&[0, 29, 0, 23, 0, 24]));
    extension(&mut extensions, 11, &[1, 0]);
    extension(&mut extensions, 13, &prefixed(&[4, 3, 8, 4, 4, 1, 5, 3, 8, 5, 5, 1]));
    let suites = [0xc0, 0x2b, 0xc0, 0x2f, 0xc0, 0x2c, 0xc0, 0x30, 0xcc, 0xa9, 0xcc, 0xa8];
    let body = [
        &[3, 3][..],
        // Nothing is ever encrypted, so nothing needs to be random.
        &[7; 32],
        &[0],
        &prefixed(&suites),
        &[1, 0],
        &prefixed(&extensions),
    ]
    .concat();
    let handshake = [&[1, 0][..], &prefixed(&body)].concat();
    [&[22, 3, 1][..], &prefixed(&handshake)].concat()
}

fn extension(all: &mut Vec<u8>, kind: u8, content: &[u8]) {
    all.extend([0, kind]);
    all.extend(prefixed(content));
}

/// The bytes behind their number. Names are at most 253 long, so it always fits.
fn prefixed(bytes: &[u8]) -> Vec<u8> {
    let length = (bytes.len() as u16).to_be_bytes();
    [&length[..], bytes].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_right() {
        let hello = client_hello(Some("a.example"));
        assert_eq!(usize::from(u16::from_be_bytes([hello[3], hello[4]])), hello.len() - 5);
        assert_eq!(usize::from(u16::from_be_bytes([hello[7], hello[8]])), hello.len() - 9);
        assert!(hello.windows(9).any(|nine| nine == b"a.example"));
        assert!(client_hello(None).len() < hello.len());
    }
}
