//! One direction, once nothing is held back any more.

use std::{
    io,
    sync::atomic::{AtomicU64, Ordering},
};

use fumehood_core::egress::Reason;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use super::{ends::MaybeTcp, meter::Meter};

const SMALL: usize = 8 * 1024;
const LARGE: usize = 64 * 1024;
/// Whoever moves more than this gets pipes, so that small connections need no descriptors for them.
#[cfg(target_os = "linux")]
const SPLICE_AFTER: u64 = 128 * 1024;

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
    mut from: impl AsyncRead + MaybeTcp + Unpin,
    mut to: impl AsyncWrite + MaybeTcp + Unpin,
    count: &AtomicU64,
    meter: &Meter,
    mut see: impl FnMut(&[u8]),
) -> Result<(), End> {
    let mut buffer = vec![0; SMALL];
    #[cfg(target_os = "linux")]
    let mut moved = 0;
    loop {
        #[cfg(target_os = "linux")]
        if moved >= SPLICE_AFTER
            && !meter.is_limited()
            && let (Some(one), Some(other)) = (from.tcp(), to.tcp())
        {
            // Without a pipe, for want of descriptors, copying goes on.
            if let Some(pipe) = super::splice::Pipe::new() {
                drop(buffer);
                pipe.run(one, other, count).await?;
                break;
            }
            moved = 0;
        }
        let piece = buffer.len().min(meter.piece());
        let read = from.read(&mut buffer[..piece]).await.map_err(End::of_reading)?;
        if read == 0 {
            break;
        }
        see(&buffer[..read]);
        pass(&mut to, &buffer[..read], count, meter).await?;
        #[cfg(target_os = "linux")]
        {
            moved += read as u64;
        }
        if read == buffer.len() && read < LARGE {
            buffer.resize(read * 2, 0);
        }
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
