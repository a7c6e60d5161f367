//! Writing to this process's own standard output and error.
//!
//! The supervisor of the box lives in the same thread, so a reader that does not read must never
//! hold it up: what does not fit at once is written by another thread.

use std::io::{self, Write as _};

use fumehood::StreamName;

/// A line on standard error, marked as fumehood's own. Where even that cannot be written there is
/// nobody left to tell.
pub fn line_for_people(sentence: &str) {
    let _ = writeln!(io::stderr(), "fumehood: {}", fumehood::escape_controls(sentence));
}

/// A line on standard output, for the case in which nothing else will be written there.
pub fn line_for_programs(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// Writes all of these bytes, while everything else in this thread goes on.
pub async fn write(stream: StreamName, bytes: &[u8]) -> io::Result<()> {
    let rest = system::write_what_fits(stream, bytes)?;
    if rest.is_empty() {
        return Ok(());
    }
    let rest = rest.to_vec();
    match tokio::task::spawn_blocking(move || system::write_all(stream, &rest)).await {
        Ok(written) => written,
        Err(gone) => Err(io::Error::other(gone)),
    }
}

#[cfg(unix)]
mod system {
    //! With `poll`: what fits is written at once.

    use std::{
        io,
        os::fd::{AsFd as _, BorrowedFd},
    };

    use fumehood::StreamName;
    use rustix::{
        event::{PollFd, PollFlags, Timespec, poll},
        io::Errno,
    };

    /// A pipe that can be written at all takes this much without blocking.
    const SURE_TO_FIT: usize = 4096;

    /// Writes as long as nothing blocks; gives what is left.
    pub fn write_what_fits(stream: StreamName, bytes: &[u8]) -> io::Result<&[u8]> {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        on_descriptor(stream, |descriptor| write_while_ready(descriptor, bytes, Some(&now)))
    }

    /// Writes everything, however long it takes. Waits in `poll`, since whoever shares this
    /// descriptor may have made it non-blocking.
    pub fn write_all(stream: StreamName, bytes: &[u8]) -> io::Result<()> {
        on_descriptor(stream, |descriptor| write_while_ready(descriptor, bytes, None))?;
        Ok(())
    }

    fn on_descriptor<T>(stream: StreamName, act: impl FnOnce(BorrowedFd<'_>) -> T) -> T {
        match stream {
            StreamName::Stdout => act(io::stdout().as_fd()),
            StreamName::Stderr => act(io::stderr().as_fd()),
        }
    }

    pub fn write_while_ready<'a>(
        descriptor: BorrowedFd<'_>,
        mut bytes: &'a [u8],
        patience: Option<&Timespec>,
    ) -> io::Result<&'a [u8]> {
        while !bytes.is_empty() {
            let mut asked = [PollFd::from_borrowed_fd(descriptor, PollFlags::OUT)];
            match poll(&mut asked, patience) {
                Ok(0) => break,
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            match rustix::io::write(descriptor, &bytes[..bytes.len().min(SURE_TO_FIT)]) {
                Ok(written) => bytes = &bytes[written..],
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(bytes)
    }
}

#[cfg(not(unix))]
mod system {
    //! Without `poll` nothing is sure to fit.

    use std::io::{self, Write as _};

    use fumehood::StreamName;

    pub fn write_what_fits(_: StreamName, bytes: &[u8]) -> io::Result<&[u8]> {
        Ok(bytes)
    }

    pub fn write_all(stream: StreamName, bytes: &[u8]) -> io::Result<()> {
        match stream {
            StreamName::Stdout => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(bytes)?;
                stdout.flush()
            }
            StreamName::Stderr => io::stderr().lock().write_all(bytes),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{io::Read as _, os::fd::AsFd as _};

    use rustix::event::Timespec;

    use super::{system::write_while_ready, *};

    const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

    #[test]
    fn a_full_pipe_is_left_alone_and_nothing_is_lost() {
        let (mut reader, writer) = io::pipe().unwrap();
        let bytes: Vec<u8> = (0..1_000_000u32).map(|n| n as u8).collect();
        let rest = write_while_ready(writer.as_fd(), &bytes, Some(&NOW)).unwrap().to_vec();
        assert!(!rest.is_empty(), "a pipe does not hold a million bytes");
        drop(writer);
        let mut read = Vec::new();
        reader.read_to_end(&mut read).unwrap();
        read.extend(rest);
        assert!(read == bytes);
    }

    #[test]
    fn a_reader_that_is_gone_is_a_broken_pipe() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let error = write_while_ready(writer.as_fd(), b"x", Some(&NOW)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
