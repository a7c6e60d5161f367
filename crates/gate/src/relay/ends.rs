//! The two kinds of connections that come from a box.

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

/// Something that can be read and written.
pub(crate) trait Both: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Both for T {}

/// The end that the box holds.
pub(crate) enum BoxEnd {
    /// A socket made in the box's namespace.
    Tcp(TcpStream),
    /// A stream that init carries.
    Any(Box<dyn Both>),
}

impl BoxEnd {
    /// Makes the end of a TCP connection a reset, which a program cannot take for a proper one.
    pub(crate) fn reset_on_close(&self) {
        if let BoxEnd::Tcp(stream) = self {
            // Without it the connection is closed, which refuses it too.
            let _ = stream.set_zero_linger();
        }
    }
}
