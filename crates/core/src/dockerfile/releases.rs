//! The one table of releases: what is used where a project pins nothing, and which Debian the
//! official images of a release are made from. Edited last in November 2026.

use crate::language::Version;

/// Alpine of final stages that need nothing but a C library.
pub(super) const ALPINE: &str = "alpine:3.22";

/// What is known about the official image of a language.
#[derive(Debug)]
pub(super) struct Releases {
    /// Where nothing is pinned.
    pub default: &'static [u32],
    /// Releases with an image, oldest first: what a range can choose from.
    pub known: &'static [&'static [u32]],
    /// The oldest that an open range such as `>=3.6` leads to.
    pub oldest: &'static [u32],
    /// First releases with images of a Debian, newest Debian first.
    debian: &'static [(&'static str, &'static [u32])],
}

pub(super) const GO: Releases = Releases {
    default: &[1, 26],
    known: &[],
    oldest: &[1, 25],
    debian: &[("trixie", &[1, 26]), ("bookworm", &[1, 21]), ("bullseye", &[1, 16])],
};

pub(super) const NODE: Releases = Releases {
    default: &[24],
    known: &[&[14], &[16], &[18], &[20], &[22], &[24]],
    oldest: &[20],
    debian: &[("trixie", &[24]), ("bookworm", &[16]), ("bullseye", &[14])],
};

pub(super) const PYTHON: Releases = Releases {
    default: &[3, 13],
    known: &[&[3, 7], &[3, 8], &[3, 9], &[3, 10], &[3, 11], &[3, 12], &[3, 13], &[3, 14]],
    oldest: &[3, 10],
    debian: &[("trixie", &[3, 14]), ("bookworm", &[3, 8]), ("bullseye", &[3, 7])],
};

pub(super) const RUST: Releases = Releases {
    default: &[1, 95],
    known: &[],
    oldest: &[1, 95],
    debian: &[("trixie", &[1, 91]), ("bookworm", &[1, 71]), ("bullseye", &[1, 54])],
};

/// Only releases with long support have images of Maven and Gradle.
pub(super) const JAVA: Releases = Releases {
    default: &[21],
    known: &[&[8], &[11], &[17], &[21], &[25]],
    oldest: &[8],
    debian: &[],
};

/// Names that `.nvmrc` may give to releases of Node with long support.
pub(super) const NODE_LTS: &[(&str, u32)] = &[
    ("fermium", 14),
    ("gallium", 16),
    ("hydrogen", 18),
    ("iron", 20),
    ("jod", 22),
    ("krypton", 24),
];

impl Releases {
    /// The release where nothing is pinned.
    pub fn default_version(&self) -> Version {
        version(self.default)
    }

    /// The Debian from which images of this version were made from the first to the last. Older
    /// ones than the table knows have only images without the name of a Debian.
    pub fn debian(&self, version: &Version) -> Option<&'static str> {
        let found = self.debian.iter().find(|(_, first)| version.numbers() >= *first);
        found.map(|(name, _)| *name)
    }
}

/// A version from a row of the table.
pub(super) fn version(numbers: &[u32]) -> Version {
    match numbers {
        [first, rest @ ..] => Version::new(*first, rest),
        [] => Version::new(0, &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order() {
        for releases in [GO, NODE, PYTHON, RUST, JAVA] {
            assert!(releases.known.is_sorted(), "{releases:?}");
            assert!(releases.oldest <= releases.default, "{releases:?}");
            assert!(releases.debian.is_sorted_by_key(|(_, first)| std::cmp::Reverse(first)));
            let listed = releases.known.is_empty() || releases.known.contains(&releases.default);
            assert!(listed, "{releases:?}");
        }
    }

    #[test]
    fn old_releases_get_the_debian_of_their_time() {
        assert_eq!(GO.debian(&"1.22.3".parse().unwrap()), Some("bookworm"));
        assert_eq!(GO.debian(&"1.18".parse().unwrap()), Some("bullseye"));
        assert_eq!(GO.debian(&"1.9".parse().unwrap()), None);
        assert_eq!(NODE.debian(&"20.11.0".parse().unwrap()), Some("bookworm"));
    }
}
