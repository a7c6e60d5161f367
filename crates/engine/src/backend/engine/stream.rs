//! The control channel of a container: the engine's attach stream, taken apart into what init says
//! and joined to an ordinary socket, which is all that the rest of the program knows.

use std::{future::poll_fn, io, pin::Pin};

use bollard::container::{AttachContainerResults, LogOutput};
use futures_core::Stream;
use tokio::{
    io::{AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
};

/// How much is carried at once.
const PIECE: usize = 64 << 10;

type Output = Pin<Box<dyn Stream<Item = Result<LogOutput, bollard::errors::Error>> + Send>>;
type Input = Pin<Box<dyn AsyncWrite + Send>>;

/// Joins an attach stream to a socket, after these first bytes. When either side ends, so does the
/// other.
pub(super) fn join(attached: AttachContainerResults, first: Vec<u8>) -> io::Result<UnixStream> {
    let AttachContainerResults { output, input } = attached;
    let (ours, theirs) = UnixStream::pair()?;
    let (reader, writer) = theirs.into_split();
    tokio::spawn(async move {
        // Both are dropped together, which closes the connection to the engine, and with it the
        // input of init.
        tokio::select! {
            () = carry_in(reader, input, first) => {}
            () = carry_out(output, writer) => {}
        }
    });
    Ok(ours)
}

/// What the supervisor says.
async fn carry_in(mut reader: OwnedReadHalf, mut input: Input, first: Vec<u8>) {
    let mut buffer = first;
    loop {
        if !buffer.is_empty()
            && (input.write_all(&buffer).await.is_err() || input.flush().await.is_err())
        {
            return;
        }
        buffer.resize(PIECE, 0);
        match reader.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(count) => buffer.truncate(count),
        }
    }
}

/// What init says. Its standard error is not part of the conversation.
async fn carry_out(mut output: Output, mut writer: OwnedWriteHalf) {
    while let Some(Ok(piece)) = poll_fn(|context| output.as_mut().poll_next(context)).await {
        match piece {
            LogOutput::StdOut { message } => {
                if writer.write_all(&message).await.is_err() {
                    return;
                }
            }
            LogOutput::StdErr { .. } | LogOutput::StdIn { .. } => {}
            // Not taken apart: this is not the stream that we asked for.
            LogOutput::Console { .. } => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll};

    use super::*;

    /// A stream of pieces that never ends by itself.
    struct Pieces(Vec<LogOutput>);

    impl Stream for Pieces {
        type Item = Result<LogOutput, bollard::errors::Error>;

        fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            match self.0.is_empty() {
                true => Poll::Pending,
                false => Poll::Ready(Some(Ok(self.0.remove(0)))),
            }
        }
    }

    fn attached(pieces: Vec<LogOutput>) -> (AttachContainerResults, UnixStream) {
        let (container, input) = UnixStream::pair().unwrap();
        (
            AttachContainerResults { output: Box::pin(Pieces(pieces)), input: Box::pin(input) },
            container,
        )
    }

    #[tokio::test]
    async fn only_what_init_says_comes_through() {
        let out = |text: &'static str| LogOutput::StdOut { message: text.into() };
        let err = LogOutput::StdErr { message: "noise".into() };
        let (attached, _container) = attached(vec![out("one "), err, out("two")]);
        let mut channel = join(attached, Vec::new()).unwrap();
        let mut heard = [0u8; 7];
        channel.read_exact(&mut heard).await.unwrap();
        assert_eq!(&heard, b"one two");
    }

    #[tokio::test]
    async fn what_was_said_arrives_even_if_we_leave_at_once() {
        let (attached, mut container) = attached(Vec::new());
        let mut channel = join(attached, b"first, ".to_vec()).unwrap();
        channel.write_all(b"then this").await.unwrap();
        drop(channel);
        let mut heard = String::new();
        container.read_to_string(&mut heard).await.unwrap();
        assert_eq!(heard, "first, then this");
    }
}
