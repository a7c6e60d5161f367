//! Content digests: SHA-256, shown as hexadecimal.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The SHA-256 of some content.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest::of_parts([bytes])
    }

    /// The digest of several parts. Lengths are mixed in, so that moving a byte from one part to
    /// its neighbour gives another digest.
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Digest {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Digest::shown(hasher)
    }

    fn shown(hasher: Sha256) -> Digest {
        let mut hex = String::with_capacity(64);
        for byte in hasher.finalize() {
            for nibble in [byte >> 4, byte & 15] {
                hex.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
            }
        }
        Digest(hex)
    }

    /// Sixty-four hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The digest of content that arrives in pieces: the plain SHA-256 of all of them together.
#[derive(Clone, Debug, Default)]
pub struct DigestBuilder(Sha256);

impl DigestBuilder {
    /// Adds a piece.
    pub fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// The digest of everything added.
    pub fn finish(self) -> Digest {
        Digest::shown(self.0)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({})", &self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(Digest::of_parts([&b"ab"[..], b"c"]), Digest::of_parts([&b"a"[..], b"bc"]));
        assert_eq!(Digest::of(b"x").as_str().len(), 64);
    }

    #[test]
    fn pieces_run_together() {
        let mut pieces = DigestBuilder::default();
        pieces.update(b"a");
        pieces.update(b"bc");
        assert_eq!(
            pieces.finish().as_str(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
