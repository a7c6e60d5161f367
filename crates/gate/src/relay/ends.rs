//! The two kinds of connections that come from a box.

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadHalf, WriteHalf},
    net::{TcpStream, tcp},
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

/// Half of a connection that may be one of TCP.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub(crate) trait MaybeTcp {
    /// The socket, if it is one.
    fn tcp(&self) -> Option<&TcpStream>;
}

impl MaybeTcp for tcp::ReadHalf<'_> {
    fn tcp(&self) -> Option<&TcpStream> {
        Some(self.as_ref())
    }
}

impl MaybeTcp for tcp::WriteHalf<'_> {
    fn tcp(&self) -> Option<&TcpStream> {
        Some(self.as_ref())
    }
}

impl<T> MaybeTcp for ReadHalf<T> {
    fn tcp(&self) -> Option<&TcpStream> {
        None
    }
}

impl<T> MaybeTcp for WriteHalf<T> {
    fn tcp(&self) -> Option<&TcpStream> {
        None
    }
}
