//! The encoding: little-endian integers, length-prefixed strings and lists.

use alloc::{string::String, vec::Vec};
use core::fmt;

use super::MAX_MESSAGE;

/// Why bytes are not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The message ends too early.
    Truncated,
    /// Bytes are left over.
    Trailing,
    /// A tag or enumeration value is not known.
    Unknown(&'static str),
    /// A length is beyond its bound.
    TooLong(&'static str),
    /// Text is not UTF-8, or holds a NUL.
    NotText,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::Truncated => f.write_str("message ends too early"),
            DecodeError::Trailing => f.write_str("bytes left over after the message"),
            DecodeError::Unknown(what) => write!(f, "unknown {what}"),
            DecodeError::TooLong(what) => write!(f, "{what} is too long"),
            DecodeError::NotText => f.write_str("text is not valid"),
        }
    }
}

impl core::error::Error for DecodeError {}

/// Bounds of strings and lists, checked before allocating.
const MAX_TEXT: usize = 256 << 10;
const MAX_ITEMS: usize = 16 << 10;

/// Collects an encoded message.
pub(super) struct Writer(pub(super) Vec<u8>);

impl Writer {
    pub(super) fn with_tag(tag: u8) -> Writer {
        Writer(Vec::from([tag]))
    }

    pub(super) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(super) fn u16(&mut self, value: u16) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn bool(&mut self, value: bool) {
        self.u8(u8::from(value));
    }

    pub(super) fn bytes(&mut self, value: &[u8]) {
        self.u32(value.len() as u32);
        self.0.extend_from_slice(value);
    }

    pub(super) fn text(&mut self, value: &str) {
        self.bytes(value.as_bytes());
    }

    pub(super) fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Writer, &T)) {
        self.u32(items.len() as u32);
        for item in items {
            each(self, item);
        }
    }
}

/// Takes an encoded message apart.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(message: &'a [u8]) -> Result<Reader<'a>, DecodeError> {
        if message.len() > MAX_MESSAGE {
            return Err(DecodeError::TooLong("message"));
        }
        Ok(Reader(message))
    }

    pub(super) fn finish<T>(self, value: T) -> Result<T, DecodeError> {
        if self.0.is_empty() { Ok(value) } else { Err(DecodeError::Trailing) }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(DecodeError::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (taken, rest) = self.0.split_first_chunk::<N>().ok_or(DecodeError::Truncated)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(super) fn u8(&mut self) -> Result<u8, DecodeError> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Result<u16, DecodeError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, DecodeError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, DecodeError> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn bool(&mut self) -> Result<bool, DecodeError> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(DecodeError::Unknown("truth value")),
        }
    }

    pub(super) fn bytes(&mut self, most: usize) -> Result<Vec<u8>, DecodeError> {
        let length = self.u32()? as usize;
        if length > most {
            return Err(DecodeError::TooLong("data"));
        }
        self.take(length).map(<[u8]>::to_vec)
    }

    /// Text that can become a path or an argument: UTF-8 without NUL.
    pub(super) fn text(&mut self) -> Result<String, DecodeError> {
        let bytes = self.bytes(MAX_TEXT)?;
        if bytes.contains(&0) {
            return Err(DecodeError::NotText);
        }
        String::from_utf8(bytes).map_err(|_| DecodeError::NotText)
    }

    pub(super) fn list<T>(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        let count = self.u32()? as usize;
        // Every item takes at least one byte: a count beyond that is a lie.
        if count > MAX_ITEMS || count > self.0.len() {
            return Err(DecodeError::TooLong("list"));
        }
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            items.push(each(self)?);
        }
        Ok(items)
    }
}
