//! The hash that links one line of the ledger to the next.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A plain SHA-256, as `sha256sum` prints it: sixty-four lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ChainHash([u8; 32]);

impl ChainHash {
    /// What the first line of a ledger names as the line before it.
    pub const NOTHING: ChainHash = ChainHash([0; 32]);

    /// How many characters it has as text.
    pub const TEXT_LENGTH: usize = 64;

    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> ChainHash {
        ChainHash(Sha256::digest(bytes).into())
    }
}

/// A text that is not a hash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is not a hash of the ledger: give the 64 hexadecimal digits that `fumehood log head` prints"
)]
pub struct NotAHash {
    given: String,
}

impl FromStr for ChainHash {
    type Err = NotAHash;

    fn from_str(given: &str) -> Result<ChainHash, NotAHash> {
        let mut bytes = [0; 32];
        let text = given.as_bytes();
        let well_formed = text.len() == ChainHash::TEXT_LENGTH
            && bytes.iter_mut().zip(text.chunks_exact(2)).all(|(byte, pair)| {
                let value = nibble(pair[0]).zip(nibble(pair[1]));
                value.map(|(high, low)| *byte = high << 4 | low).is_some()
            });
        if !well_formed {
            return Err(NotAHash { given: given.chars().take(80).collect() });
        }
        Ok(ChainHash(bytes))
    }
}

/// Lower case only: a hash has one spelling, so that a changed letter never goes unnoticed.
fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // By hand: the formatter would take longer than the hash.
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = String::with_capacity(ChainHash::TEXT_LENGTH);
        for byte in self.0 {
            text.push(char::from(DIGITS[usize::from(byte >> 4)]));
            text.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
        f.write_str(&text)
    }
}

impl fmt::Debug for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChainHash({self})")
    }
}

impl TryFrom<String> for ChainHash {
    type Error = NotAHash;

    fn try_from(text: String) -> Result<ChainHash, NotAHash> {
        text.parse()
    }
}

impl From<ChainHash> for String {
    fn from(hash: ChainHash) -> String {
        hash.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_sha256sum_prints_and_has_one_spelling() {
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(ChainHash::of(b"abc").to_string(), text);
        assert_eq!(text.parse(), Ok(ChainHash::of(b"abc")));
        assert!(text.to_uppercase().parse::<ChainHash>().is_err());
        assert!(text[1..].parse::<ChainHash>().is_err());
    }
}
