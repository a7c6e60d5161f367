//! Digests that cannot be guessed by trying.
//!
//! The digest of a short secret is no secret: whoever has it tries all short texts. So values are
//! digested together with a random salt that belongs to one ledger and is never recorded. Equal
//! values in one ledger can still be recognised as equal, which is what a digest is for.

use std::fmt;

use crate::Digest;

/// The secret of one ledger.
#[derive(Clone, PartialEq, Eq)]
pub struct Salt([u8; Salt::BYTES]);

impl Salt {
    /// How long it is.
    pub const BYTES: usize = 32;

    /// A salt of these bytes, which must come from a source that nobody can predict.
    pub fn new(bytes: [u8; Salt::BYTES]) -> Salt {
        Salt(bytes)
    }

    /// The digest of a value under this salt. `role` says what the value is, so that the same text
    /// in two roles has two digests.
    pub fn seal(&self, role: &str, value: &[u8]) -> Digest {
        // Twice, as in HMAC: the inner digest is never seen.
        let inner = Digest::of_parts([&self.0[..], role.as_bytes(), value]);
        Digest::of_parts([&self.0[..], inner.as_str().as_bytes()])
    }
}

impl fmt::Debug for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Salt(secret)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_depends_on_salt_role_and_value() {
        let (one, two) = (Salt::new([1; 32]), Salt::new([2; 32]));
        let digests = [
            one.seal("code", b"x"),
            two.seal("code", b"x"),
            one.seal("stdin", b"x"),
            one.seal("code", b"y"),
            Digest::of(b"x"),
        ];
        for (index, digest) in digests.iter().enumerate() {
            assert!(!digests[..index].contains(digest));
        }
        assert_eq!(one.seal("code", b"x"), digests[0]);
        assert_eq!(format!("{one:?}"), "Salt(secret)");
    }
}
