//! From socket to socket through a pipe, without copying the bytes into this program.

use std::{
    os::fd::OwnedFd,
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
use tokio::{io::Interest, net::TcpStream};

use super::pump::End;

/// What the kernel is asked for; it may give less to a user with many pipes.
const SIZE: usize = 512 * 1024;

/// A pipe. It is empty whenever the first socket is read, so that waiting is always for a socket.
pub(super) struct Pipe {
    read: OwnedFd,
    write: OwnedFd,
}

impl Pipe {
    pub(super) fn new() -> Option<Pipe> {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok()?;
        // A smaller one does it too.
        let _ = fcntl_setpipe_size(&write, SIZE);
        Some(Pipe { read, write })
    }

    /// Moves bytes until the first socket says no more.
    pub(super) async fn run(
        &self,
        from: &TcpStream,
        to: &TcpStream,
        count: &AtomicU64,
    ) -> Result<(), End> {
        let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
        loop {
            let fill = || Ok(splice(from, None, &self.write, None, SIZE, flags)?);
            let mut inside =
                from.async_io(Interest::READABLE, fill).await.map_err(End::of_reading)?;
            if inside == 0 {
                return Ok(());
            }
            while inside > 0 {
                let drain = || Ok(splice(&self.read, None, to, None, inside, flags)?);
                let moved =
                    to.async_io(Interest::WRITABLE, drain).await.map_err(End::of_writing)?;
                if moved == 0 {
                    return Err(End::Gone);
                }
                inside -= moved;
                count.fetch_add(moved as u64, Ordering::Relaxed);
            }
        }
    }
}
