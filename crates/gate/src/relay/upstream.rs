//! The direction out of the box, while what is said is still looked at.

use std::time::Duration;

use fumehood_core::egress::Reason;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{
    Job,
    pump::{End, pass, pump},
};

/// After this much silence harmless beginnings go on.
const QUIET: Duration = Duration::from_millis(200);
/// What was begun must be whole after this time.
pub(crate) const WHOLE: Duration = Duration::from_secs(10);

pub(super) async fn upstream(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    job: Job<'_>,
    mut server: watch::Receiver<Option<bool>>,
) -> Result<(), End> {
    let Job { first, mut inspector, counts, meter } = job;
    let count = &counts.sent;
    pass(&mut to, &first, count, meter).await?;
    let mut buffer = vec![0; 8 * 1024];
    let mut out = Vec::new();
    let mut begun = None;
    while !inspector.is_open() {
        // A head that has begun must end; silence between requests may last.
        begun = inspector.is_waiting().then(|| begun.unwrap_or_else(Instant::now));
        let late = begun.map(|begun| begun + WHOLE);
        let quiet = Instant::now() + QUIET;
        let wake = late.map_or(quiet, |late| late.min(quiet));
        tokio::select! {
            read = from.read(&mut buffer) => match read.map_err(End::of_reading)? {
                0 => {
                    if inspector.awaits_server() {
                        let upgraded = said_yes(&mut server).await;
                        inspector.server_said(upgraded, &mut out)?;
                    }
                    inspector.end(&mut out)?;
                    pass(&mut to, &out, count, meter).await?;
                    return to.shutdown().await.map_err(End::of_writing);
                }
                read => inspector.push(&buffer[..read], &mut out)?,
            },
            upgraded = said_yes(&mut server), if inspector.awaits_server() => {
                inspector.server_said(upgraded, &mut out)?;
            }
            () = sleep_until(wake), if begun.is_some() => {
                if late.is_some_and(|late| Instant::now() >= late) {
                    return Err(Reason::FirstBytesTimeout.into());
                }
                inspector.quiet(&mut out);
            }
        }
        pass(&mut to, &out, count, meter).await?;
        out.clear();
    }
    drop(buffer);
    pump(from, to, count, meter, |_| {}).await
}

/// What the server says, once it does. If it never will, it has not said yes.
async fn said_yes(server: &mut watch::Receiver<Option<bool>>) -> bool {
    server.wait_for(Option::is_some).await.is_ok_and(|said| *said == Some(true))
}

/// Whether the first answer of a server of HTTP is that it no longer speaks HTTP.
#[derive(Debug, Default)]
pub(super) struct StatusLine {
    seen: Vec<u8>,
}

impl StatusLine {
    const LENGTH: usize = "HTTP/1.1 101".len();

    /// The answer, at the moment when enough is there.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Option<bool> {
        if self.seen.len() == Self::LENGTH {
            return None;
        }
        let missing = Self::LENGTH - self.seen.len();
        self.seen.extend_from_slice(&bytes[..missing.min(bytes.len())]);
        (self.seen.len() == Self::LENGTH)
            .then(|| self.seen.starts_with(b"HTTP/1.") && self.seen.ends_with(b" 101"))
    }
}
