//! Giving an image to the engine, and making sure that it is there.

use std::{
    convert::Infallible,
    future::poll_fn,
    io::{self, BufWriter, Write},
    path::Path,
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};

use bollard::query_parameters::{ImportImageOptions, RemoveImageOptions};
use bytes::Bytes;
use futures_core::Stream;
use tokio::sync::mpsc;

use super::{
    super::{ImageError, Images, Progress, Watcher},
    archive::Description,
};

/// How much is handed on at once, and how many pieces may wait.
const PIECE: usize = 256 << 10;
const WAITING: usize = 8;
/// How long an engine may take to store an image.
const PATIENCE: Duration = Duration::from_secs(900);
/// How often it is said how far it is.
const OFTEN: Duration = Duration::from_millis(200);

impl Images {
    /// Hands an image over. An image that had the name before and is nameless now is removed.
    pub(super) async fn import(
        &self,
        reference: &str,
        layer: &Path,
        description: &Description,
        watcher: Watcher<'_>,
    ) -> Result<(), ImageError> {
        let client = self.client().await?.with_timeout(PATIENCE);
        let before = client.inspect_image(reference).await.ok().and_then(|image| image.id);
        let failed = |error: &bollard::errors::Error| self.refused("store", reference, error);

        let total = layer.metadata().map_or(0, |layer| layer.len());
        let (sender, receiver) = mpsc::channel(WAITING);
        let (count, mut counted) = tokio::sync::watch::channel(0u64);
        let (tag, path) = (reference.to_owned(), layer.to_owned());
        let text = Description::clone(description);
        let writing = tokio::task::spawn_blocking(move || {
            let out = Sending { sender, count, sent: 0 };
            text.write(&tag, &path, BufWriter::with_capacity(PIECE, out))
        });
        let options = ImportImageOptions { quiet: true, ..ImportImageOptions::default() };
        {
            let mut answers = pin!(client.import_image_stream(options, Pieces(receiver), None));
            let mut often = tokio::time::interval(OFTEN);
            loop {
                tokio::select! {
                    answer = poll_fn(|context| answers.as_mut().poll_next(context)) => match answer {
                        Some(Ok(_)) => {}
                        Some(Err(error)) => return Err(failed(&error)),
                        None => break,
                    },
                    _ = often.tick() => {
                        let done = *counted.borrow_and_update();
                        let bytes = Some((done.min(total), total));
                        watcher(Progress { what: "storing the image".to_owned(), bytes });
                    }
                }
            }
        }
        let written = writing.await.unwrap_or_else(|error| Err(io::Error::other(error)));
        written.map_err(|error| ImageError::storage("read", layer, &error))?;

        let found = client.inspect_image(reference).await.map_err(|error| failed(&error))?;
        let id = found.id.unwrap_or_default();
        if let Some(before) = before.filter(|before| *before != id)
            && let Ok(image) = client.inspect_image(&before).await
            && image.repo_tags.unwrap_or_default().is_empty()
        {
            // A container may still use it; then `image prune` removes it later.
            let _ = client.remove_image(&before, None::<RemoveImageOptions>, None).await;
        }
        Ok(())
    }
}

/// Writes into a channel. When nobody listens any more it fails.
struct Sending {
    sender: mpsc::Sender<Bytes>,
    count: tokio::sync::watch::Sender<u64>,
    sent: u64,
}

impl Write for Sending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = Bytes::copy_from_slice(bytes);
        self.sender.blocking_send(piece).map_err(|_| io::ErrorKind::BrokenPipe)?;
        self.sent += bytes.len() as u64;
        self.count.send_replace(self.sent);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What comes out of it, as the library wants it.
struct Pieces(mpsc::Receiver<Bytes>);

impl Stream for Pieces {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|piece| piece.map(Ok))
    }
}
