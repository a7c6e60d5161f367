//! Why an archive is not unpacked.

use std::{io, path::PathBuf};

use rustix::io::Errno;

use crate::escape_controls;

/// Why an archive is not unpacked. Nothing of it is left anywhere.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The file cannot be read.
    #[error("the archive {} cannot be read ({reason}): check the path", path.display())]
    Unreadable {
        /// The archive.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// The file is no archive that we know.
    #[error("{} is neither a directory nor a tar, tar.gz or zip archive: give one of these", path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
    },
    /// The file is too large to be looked at.
    #[error("the archive {} is larger than {most} bytes: unpack it yourself and give the directory", path.display())]
    TooLarge {
        /// The archive.
        path: PathBuf,
        /// The most it may be.
        most: u64,
    },
    /// Somebody wrote to the archive meanwhile.
    #[error("the archive {} changed while it was read: try again when it is complete", path.display())]
    Changed {
        /// The archive.
        path: PathBuf,
    },
    /// The archive as a whole cannot be unpacked.
    #[error("the archive {} is refused: it {refusal}", path.display())]
    Whole {
        /// The archive.
        path: PathBuf,
        /// Why.
        refusal: Refusal,
    },
    /// One of its entries cannot be unpacked, so none is.
    #[error("the archive {} is refused: its entry `{}` {refusal}", path.display(), escape_controls(.entry))]
    Entry {
        /// The archive.
        path: PathBuf,
        /// The name of the entry.
        entry: String,
        /// Why.
        refusal: Refusal,
    },
}

/// What is wrong with an entry, or with an archive as a whole. Completes the sentence "it …".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It begins at the root.
    #[error("has an absolute path")]
    Absolute,
    /// It leads upwards.
    #[error("has `..` in its path")]
    Upwards,
    /// It is called nothing.
    #[error("has no name")]
    Nameless,
    /// Its name is not fit for a terminal or a system call.
    #[error("has a NUL or control character in its name or target")]
    Control,
    /// Its path is too long.
    #[error("has a path longer than {most} bytes, or a name longer than 255")]
    LongPath {
        /// The most there may be.
        most: usize,
    },
    /// Too many directories above one another.
    #[error("lies more than {most} directories deep")]
    Deep {
        /// The most there may be.
        most: usize,
    },
    /// The same path was there before.
    #[error("is there twice")]
    Twice,
    /// A part of its path is no directory of the archive.
    #[error("has a path that goes through a link or a file")]
    Through,
    /// A device, a pipe or something else that is neither file, directory nor link.
    #[error("is a {kind}")]
    Special {
        /// What it is.
        kind: &'static str,
    },
    /// A symbolic link out of the archive.
    #[error("is a link that leads outside")]
    LinkOut,
    /// A symbolic link that never arrives.
    #[error("is a link that leads in a circle")]
    LinkCircle,
    /// A hard link to something else than a file that came before.
    #[error("is a hard link to something that is no file unpacked before it")]
    HardLink,
    /// It needs a password.
    #[error("is encrypted")]
    Encrypted,
    /// An unknown way to compress.
    #[error("is compressed in a way that is not supported (use deflate)")]
    Method,
    /// Two readers would see two different things.
    #[error("says two different things about itself ({detail})")]
    Ambiguous {
        /// About what.
        detail: &'static str,
    },
    /// Too large.
    #[error("is larger than {most} bytes")]
    Large {
        /// The most there may be.
        most: u64,
    },
    /// Everything together is too large.
    #[error("brings the content to more than {most} bytes")]
    Total {
        /// The most there may be.
        most: u64,
    },
    /// Too many entries.
    #[error("is one of more than {most} entries")]
    Many {
        /// The most there may be.
        most: u64,
    },
    /// Names that fill the memory.
    #[error("brings all names together to more than {most} bytes")]
    Names {
        /// The most there may be.
        most: u64,
    },
    /// A bomb.
    #[error("unpacks to more than {most} times its size")]
    Ratio {
        /// The most there may be.
        most: u64,
    },
    /// It cannot be read to its end.
    #[error("is damaged ({reason})")]
    Damaged {
        /// What the reader said.
        reason: String,
    },
    /// It could not be written.
    #[error("could not be written ({reason})")]
    Unwritable {
        /// The system's reason.
        reason: String,
    },
}

impl Refusal {
    /// From an error of reading, which may carry a refusal of ours through a reader that is not.
    pub(super) fn of_reading(error: &io::Error) -> Refusal {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<Refusal>()) {
            Some(refusal) => refusal.clone(),
            None => Refusal::Damaged { reason: escape_controls(&error.to_string()).into_owned() },
        }
    }

    pub(super) fn of_writing(error: Errno) -> Refusal {
        Refusal::Unwritable { reason: io::Error::from(error).to_string() }
    }
}

/// A refusal and the entry it is about, if it is about one.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) entry: Option<String>,
    pub(super) refusal: Refusal,
}

impl Refused {
    pub(super) fn whole(refusal: Refusal) -> Refused {
        Refused { entry: None, refusal }
    }

    pub(super) fn entry(name: &[u8], refusal: Refusal) -> Refused {
        const SHOWN: usize = 200;
        let mut entry = String::from_utf8_lossy(name).into_owned();
        if let Some((cut, _)) = entry.char_indices().nth(SHOWN) {
            entry.truncate(cut);
            entry.push('…');
        }
        Refused { entry: Some(entry), refusal }
    }
}
