//! Messages on a byte stream: a four-byte length, then the message.

use alloc::vec::Vec;

use super::{DecodeError, MAX_MESSAGE};

const PREFIX: usize = 4;

/// Appends one framed message.
pub fn append(out: &mut Vec<u8>, message: &[u8]) {
    out.extend_from_slice(&(message.len() as u32).to_le_bytes());
    out.extend_from_slice(message);
}

/// Cuts a byte stream into messages. Holds at most one message and what arrived behind it.
#[derive(Default)]
pub struct FrameDecoder {
    buffer: Vec<u8>,
    start: usize,
}

impl FrameDecoder {
    /// A decoder at the start of a stream.
    pub fn new() -> FrameDecoder {
        FrameDecoder::default()
    }

    /// Adds bytes that arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole message. `None` means that more bytes are needed.
    pub fn next_message(&mut self) -> Result<Option<&[u8]>, DecodeError> {
        let pending = &self.buffer[self.start..];
        let Some((prefix, rest)) = pending.split_first_chunk::<PREFIX>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*prefix) as usize;
        if length == 0 || length > MAX_MESSAGE {
            return Err(DecodeError::TooLong("frame"));
        }
        if rest.len() < length {
            return Ok(None);
        }
        let begin = self.start + PREFIX;
        self.start = begin + length;
        Ok(Some(&self.buffer[begin..begin + length]))
    }

    /// True if the stream may end here without cutting a message.
    pub fn is_at_boundary(&self) -> bool {
        self.start == self.buffer.len()
    }
}
