//! One direction, once nothing is held back any more.

use std::{
    io,
    sync::atomic::{AtomicU64, Ordering},
};

use fumehood_core::egress::Reason;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

use super::{buffer::Buffer, meter::Meter};

/// Why a direction ended before its time.
#[derive(Debug)]
pub(crate) enum End {
    /// It is not allowed.
    Refused(Reason),
    /// Whoever was read from has broken the connection off.
    Reset,
    /// Whoever was written to is gone. What it said before may still be under way.
    Gone,
}

impl End {
    pub(super) fn of_reading(_: io::Error) -> End {
        End::Reset
    }

    pub(super) fn of_writing(_: io::Error) -> End {
        End::Gone
    }
}

impl From<Reason> for End {
    fn from(reason: Reason) -> End {
        End::Refused(reason)
    }
}

/// Moves bytes until the first end says no more, and then tells the second. `see` is shown the
/// first bytes.
pub(super) async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    count: &AtomicU64,
    meter: &Meter,
    mut see: impl FnMut(&[u8]),
) -> Result<(), End> {
    let mut buffer = Buffer::new();
    loop {
        let read = buffer.fill(&mut from, meter.piece()).await.map_err(End::of_reading)?;
        if read.is_empty() {
            break;
        }
        see(read);
        pass(&mut to, read, count, meter).await?;
    }
    to.shutdown().await.map_err(End::of_writing)?;
    Ok(())
}

/// Writes bytes and counts them.
pub(super) async fn pass(
    to: &mut (impl AsyncWrite + Unpin),
    bytes: &[u8],
    count: &AtomicU64,
    meter: &Meter,
) -> Result<(), End> {
    for piece in bytes.chunks(meter.piece()) {
        meter.spend(piece.len()).await?;
        to.write_all(piece).await.map_err(End::of_writing)?;
        count.fetch_add(piece.len() as u64, Ordering::Relaxed);
    }
    to.flush().await.map_err(End::of_writing)
}
