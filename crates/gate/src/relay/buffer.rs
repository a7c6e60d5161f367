//! Memory of one direction: little for whoever says little, much for the few that move much.
//!
//! Large pieces are what makes bulk fast: each wakes everybody once. Pipes and `splice` would save
//! the copies, and were measured to be slower: passing pages on cost both ends more than a copy.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};

const SMALL: usize = 8 * 1024;
const LARGE: usize = 64 * 1024;
const HUGE: usize = 1024 * 1024;
/// How many may be huge at once, in the whole process.
const MOST_HUGE: usize = 32;
/// After this much silence a huge one is given back.
const SILENCE: Duration = Duration::from_secs(1);

static ROOM: Semaphore = Semaphore::const_new(MOST_HUGE);

/// Grows as long as it is filled to the brim.
pub(super) struct Buffer {
    bytes: Vec<u8>,
    huge: Option<SemaphorePermit<'static>>,
}

impl Buffer {
    pub(super) fn new() -> Buffer {
        Buffer { bytes: vec![0; SMALL], huge: None }
    }

    /// Reads what there is, but not more than this. Nothing is the end.
    pub(super) async fn fill(
        &mut self,
        from: &mut (impl AsyncRead + Unpin),
        most: usize,
    ) -> io::Result<&[u8]> {
        if self.huge.is_some() {
            let piece = self.bytes.len().min(most);
            match timeout(SILENCE, from.read(&mut self.bytes[..piece])).await {
                Ok(read) => return Ok(&self.bytes[..read?]),
                Err(_) => *self = Buffer::new(),
            }
        }
        let piece = self.bytes.len().min(most);
        let read = from.read(&mut self.bytes[..piece]).await?;
        if read == self.bytes.len() {
            self.grow();
        }
        Ok(&self.bytes[..read])
    }

    /// What was read stays.
    fn grow(&mut self) {
        let size = self.bytes.len();
        if size < LARGE {
            self.bytes.resize(size * 2, 0);
        } else if let Ok(permit) = ROOM.try_acquire() {
            self.huge = Some(permit);
            self.bytes.resize(HUGE, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_grows_with_what_comes_and_shrinks_in_silence() {
        let (mut near, mut far) = tokio::io::duplex(4 * HUGE);
        tokio::io::AsyncWriteExt::write_all(&mut far, &vec![7; 3 * HUGE]).await.unwrap();
        let mut buffer = Buffer::new();
        let mut sizes = Vec::new();
        let mut all = 0;
        while all < 3 * HUGE {
            let read = buffer.fill(&mut near, usize::MAX).await.unwrap();
            assert!(read.iter().all(|byte| *byte == 7));
            sizes.push(read.len());
            all += read.len();
        }
        assert_eq!(sizes[..5], [SMALL, 2 * SMALL, 4 * SMALL, LARGE, HUGE]);
        assert!(buffer.huge.is_some());
        let later = async {
            tokio::time::sleep(SILENCE * 2).await;
            tokio::io::AsyncWriteExt::write_all(&mut far, b"word").await.unwrap();
        };
        let (read, ()) = tokio::join!(buffer.fill(&mut near, usize::MAX), later);
        assert_eq!(read.unwrap(), b"word");
        assert!(buffer.huge.is_none() && buffer.bytes.len() == SMALL);
        drop(far);
        assert!(buffer.fill(&mut near, usize::MAX).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_rate_holds_for_every_size() {
        let (mut near, mut far) = tokio::io::duplex(HUGE);
        tokio::io::AsyncWriteExt::write_all(&mut far, &[7; 2000]).await.unwrap();
        let mut buffer = Buffer::new();
        assert_eq!(buffer.fill(&mut near, 512).await.unwrap().len(), 512);
    }
}
