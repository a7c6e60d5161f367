//! Bytes in both directions, each with an end of its own, until both have ended.

mod buffer;
mod ends;
mod meter;
mod pump;
mod upstream;

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    sync::watch,
};

pub(crate) use self::{ends::BoxEnd, meter::Meter, pump::End, upstream::WHOLE};
use self::{
    pump::pump,
    upstream::{StatusLine, upstream},
};
use crate::{first_bytes::Inspector, records::Counts};

/// What is known when both ends are connected.
pub(crate) struct Job<'a> {
    /// Bytes of the box that have been read and may pass.
    pub(crate) first: Vec<u8>,
    /// Looks at what follows.
    pub(crate) inspector: Inspector,
    pub(crate) counts: &'a Counts,
    pub(crate) meter: &'a Meter,
}

/// Relays until both directions have ended, one of them breaks, or something is refused.
pub(crate) async fn relay(
    client: &mut BoxEnd,
    server: &mut TcpStream,
    job: Job<'_>,
) -> Result<(), End> {
    let (from_server, to_server) = server.split();
    match client {
        BoxEnd::Tcp(stream) => {
            let (from_box, to_box) = stream.split();
            both(from_box, to_box, from_server, to_server, job).await
        }
        BoxEnd::Any(stream) => {
            let (from_box, to_box) = tokio::io::split(stream);
            both(from_box, to_box, from_server, to_server, job).await
        }
    }
}

async fn both(
    from_box: impl AsyncRead + Unpin,
    to_box: impl AsyncWrite + Unpin,
    from_server: impl AsyncRead + Unpin,
    to_server: impl AsyncWrite + Unpin,
    job: Job<'_>,
) -> Result<(), End> {
    let (said, hears) = watch::channel(None);
    let mut status = StatusLine::default();
    let (counts, meter) = (job.counts, job.meter);
    let up = upstream(from_box, to_server, job, hears);
    let down = async {
        let ended = pump(from_server, to_box, &counts.received, meter, |bytes| {
            if let Some(upgraded) = status.push(bytes) {
                said.send_replace(Some(upgraded));
            }
        });
        ended.await?;
        // Whoever says no more has said all.
        said.send_if_modified(|said| said.is_none() && said.replace(false).is_none());
        Ok(())
    };
    tokio::try_join!(up, down).map(|_| ())
}
