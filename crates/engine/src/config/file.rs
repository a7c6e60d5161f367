//! Reading one configuration file, whatever lies under its name.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _},
    path::Path,
};

use super::ConfigError;

/// Larger than any configuration that somebody wrote.
const MOST_BYTES: u64 = 1 << 20;

/// The content of a file. It may be a link, since people keep their files elsewhere; what it leads
/// to has to be a regular file.
pub fn read(path: &Path) -> Result<String, ConfigError> {
    let unreadable = |error: io::Error| ConfigError::unreadable(path, &error);
    let file = open(path).map_err(unreadable)?;
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(ConfigError::NotAFile { path: path.to_owned() });
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(ConfigError::TooLarge { path: path.to_owned(), most: MOST_BYTES });
    }
    String::from_utf8(bytes).map_err(|_| ConfigError::NotText { path: path.to_owned() })
}

/// Without waiting for somebody to write into a pipe.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}
