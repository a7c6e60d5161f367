//! An amount of memory or disk.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{LimitError, split_number};

const WHAT: &str = "a size";
const EXAMPLE: &str = "512m";
const UNITS: &str =
    "b, k, kb, KiB, m, mb, MiB, g, gb, GiB, t, tb, TiB (each 1024 of the one before)";

/// A number of bytes. Reads `512m`, `256mb`, `1g`, `2gb`, `1t`, `64KiB`; a bare number is bytes.
///
/// ```
/// use fumehood_core::Bytes;
/// assert_eq!("64KiB".parse::<Bytes>().unwrap().get(), 65_536);
/// assert_eq!("1.5g".parse::<Bytes>().unwrap().to_string(), "1536MiB");
/// assert!("banana".parse::<Bytes>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Bytes(u64);

impl Bytes {
    /// Exactly this many bytes.
    pub const fn new(bytes: u64) -> Bytes {
        Bytes(bytes)
    }

    /// This many mebibytes.
    pub const fn mib(mebibytes: u32) -> Bytes {
        Bytes((mebibytes as u64) << 20)
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl FromStr for Bytes {
    type Err = LimitError;

    fn from_str(given: &str) -> Result<Self, LimitError> {
        let (number, unit) = split_number(given, WHAT, EXAMPLE)?;
        let shift = match unit.to_ascii_lowercase().as_str() {
            "" | "b" => 0,
            "k" | "kb" | "kib" => 10,
            "m" | "mb" | "mib" => 20,
            "g" | "gb" | "gib" => 30,
            "t" | "tb" | "tib" => 40,
            _ => {
                return Err(LimitError::UnknownUnit {
                    given: given.to_owned(),
                    unit: unit.to_owned(),
                    units: UNITS,
                });
            }
        };
        let bytes = number * (1u64 << shift) as f64;
        if bytes < 1.0 {
            return Err(LimitError::TooSmall {
                given: given.to_owned(),
                what: "size",
                least: "1 byte",
            });
        }
        if bytes > (1u64 << 53) as f64 {
            return Err(LimitError::TooLarge {
                given: given.to_owned(),
                what: "size",
                most: "8192t",
            });
        }
        Ok(Bytes(bytes as u64))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
        for (name, shift) in units {
            if self.0 != 0 && self.0.trailing_zeros() >= shift {
                return write!(f, "{}{name}", self.0 >> shift);
            }
        }
        write!(f, "{}", self.0)
    }
}

impl TryFrom<String> for Bytes {
    type Error = LimitError;

    fn try_from(text: String) -> Result<Self, LimitError> {
        text.parse()
    }
}

impl From<Bytes> for String {
    fn from(bytes: Bytes) -> String {
        bytes.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_are_read_in_every_spelling() {
        for (text, bytes) in [
            ("1", 1),
            ("512m", 512 << 20),
            ("256mb", 256 << 20),
            ("1g", 1 << 30),
            ("2gb", 2 << 30),
            ("1t", 1 << 40),
            ("64KiB", 64 << 10),
            ("0.5k", 512),
            (" 8 MB ", 8 << 20),
        ] {
            assert_eq!(text.parse::<Bytes>().map(Bytes::get), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn errors_are_exact() {
        for (text, message) in [
            ("", "a size is empty: write for example 512m"),
            (
                "banana",
                "`banana` is not a size: it does not start with a number; write for example 512m",
            ),
            ("-1m", "`-1m` is negative, and a size cannot be: write for example 512m"),
            ("0", "`0` is too small: the least size is 1 byte"),
            ("9999999t", "`9999999t` is too large: the most size is 8192t"),
            ("1.", "`1.` is not a size: it does not start with a number; write for example 512m"),
        ] {
            assert_eq!(text.parse::<Bytes>().unwrap_err().to_string(), message);
        }
        let error = "5q".parse::<Bytes>().unwrap_err().to_string();
        assert!(error.starts_with("`5q`: unknown unit `q`; the units are b, k"), "{error}");
    }

    proptest! {
        #[test]
        fn what_is_shown_can_be_read_back(bytes in 1u64..1 << 53) {
            prop_assert_eq!(Bytes(bytes).to_string().parse(), Ok(Bytes(bytes)));
        }

        #[test]
        fn no_text_panics(text in ".*") {
            let _ = text.parse::<Bytes>();
        }
    }
}
