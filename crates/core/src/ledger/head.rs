//! Where the ledger ends, kept beside it: the chain alone cannot show that its end was cut off.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::ChainHash;

/// The number and the hash of the last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The number of the last line; 0 for a ledger without lines.
    pub seq: u64,
    /// Its hash.
    pub hash: ChainHash,
}

impl Head {
    /// The head of a ledger without lines.
    pub const NOTHING: Head = Head { seq: 0, hash: ChainHash::NOTHING };

    /// How many bytes [`Head::to_bytes`] gives: always the same, so that one write replaces all.
    pub const BYTES: usize = 20 + 1 + ChainHash::TEXT_LENGTH + 1;

    /// The head as it stands in its file.
    pub fn to_bytes(self) -> Vec<u8> {
        format!("{self}\n").into_bytes()
    }
}

/// A text that is not a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not a number of 20 digits, a space, a hash and a newline")]
pub struct NotAHead;

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:020} {}", self.seq, self.hash)
    }
}

impl FromStr for Head {
    type Err = NotAHead;

    fn from_str(text: &str) -> Result<Head, NotAHead> {
        let line = text.strip_suffix('\n').ok_or(NotAHead)?;
        let (seq, hash) = line.split_once(' ').ok_or(NotAHead)?;
        if seq.len() != 20 || !seq.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(NotAHead);
        }
        let seq = seq.parse().map_err(|_| NotAHead)?;
        Ok(Head { seq, hash: hash.parse().map_err(|_| NotAHead)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_one_form_of_one_length() {
        for seq in [0, 7, u64::MAX] {
            let head = Head { seq, hash: ChainHash::of(b"x") };
            let bytes = head.to_bytes();
            assert_eq!(bytes.len(), Head::BYTES);
            let text = String::from_utf8(bytes).unwrap();
            assert_eq!(text.parse(), Ok(head));
            assert_eq!(text.trim_end().parse::<Head>(), Err(NotAHead));
        }
        assert_eq!("".parse::<Head>(), Err(NotAHead));
    }
}
