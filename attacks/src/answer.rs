//! What an attempt got, in words that the other side understands.

use std::{fmt::Display, fs::OpenOptions, io, path::Path};

use crate::sys;

/// Prints what one attempt got. At once, since the next attempt may be the last thing we do.
pub(crate) fn tell(label: &str, answer: impl Display) {
    sys::write_line(&format!("{label} {answer}"));
}

/// `done`, or the name of the error.
pub(crate) fn word<T>(result: Result<T, i32>) -> String {
    match result {
        Ok(_) => "done".to_owned(),
        Err(errno) => name(errno),
    }
}

/// The same for what the standard library did.
pub(crate) fn io_word<T>(result: io::Result<T>) -> String {
    word(result.map_err(|error| errno_of(&error)))
}

/// The number of an error; `EIO` where it has none.
pub(crate) fn errno_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => libc::ETIMEDOUT,
        io::ErrorKind::UnexpectedEof => libc::ECONNRESET,
        _ => libc::EIO,
    })
}

/// Opens a file for writing and changes nothing in it.
pub(crate) fn open_for_writing(path: impl AsRef<Path>) -> String {
    io_word(OpenOptions::new().write(true).open(path))
}

/// The name of an error number.
fn name(errno: i32) -> String {
    let known = NAMES.iter().find(|(number, _)| *number == errno);
    known.map_or_else(|| format!("E{errno}"), |(_, name)| (*name).to_owned())
}

macro_rules! names {
    ($($name:ident)*) => { &[$((libc::$name, stringify!($name)),)*] };
}

const NAMES: &[(i32, &str)] = names! {
    EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD EAGAIN ENOMEM EACCES EFAULT
    ENOTBLK EBUSY EEXIST EXDEV ENODEV ENOTDIR EISDIR EINVAL ENFILE EMFILE ENOTTY ETXTBSY EFBIG
    ENOSPC ESPIPE EROFS EMLINK EPIPE EDOM ERANGE ENAMETOOLONG ENOSYS ENOTEMPTY ELOOP EUSERS
    ENOTSOCK EPROTOTYPE EPROTONOSUPPORT ESOCKTNOSUPPORT EOPNOTSUPP EAFNOSUPPORT EADDRINUSE
    EADDRNOTAVAIL ENETDOWN ENETUNREACH ECONNABORTED ECONNRESET ENOTCONN ETIMEDOUT ECONNREFUSED
    EHOSTUNREACH EDQUOT ENOKEY EKEYREJECTED EOVERFLOW
};
