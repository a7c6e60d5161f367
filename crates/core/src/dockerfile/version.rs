//! Where a version came from, and the smaller files that pin one.

use std::fmt;

use super::{
    part::Part,
    range,
    releases::{NODE_LTS, Releases, version},
};
use crate::language::Version;

/// A version and the words that led to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pin {
    /// As far as it is pinned: `1.22` or `1.22.3`.
    pub version: Version,
    /// Who says so.
    pub source: Source,
}

/// Who says which version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A line of a file.
    File {
        /// The file, from the root of the project.
        path: String,
        /// Counted from 1.
        line: usize,
        /// The words there.
        says: String,
        /// Why the version is not just these words.
        but: Option<String>,
    },
    /// Nobody.
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::File { path, line, says, but } => {
                write!(f, "`{says}` in {path}:{line}")?;
                but.iter().try_for_each(|but| write!(f, "; {but}"))
            }
            Source::Default => f.write_str("the project pins no version; this is a stable one"),
        }
    }
}

/// A line of a file that names a version or a range.
#[derive(Clone, Debug)]
pub(super) struct Mention {
    pub path: String,
    pub line: usize,
    pub says: String,
}

impl Mention {
    /// A pin to exactly these words.
    pub fn pin(&self, version: Version) -> Pin {
        self.pin_but(version, None)
    }

    /// A pin that differs from the words, with the reason.
    pub fn pin_but(&self, version: Version, but: Option<String>) -> Pin {
        let Mention { path, line, says } = self.clone();
        Pin { version, source: Source::File { path, line, says, but } }
    }

    /// The release that a range leads to.
    pub fn pin_range(&self, releases: &Releases) -> Option<Pin> {
        Some(self.pin(range::choose(&self.says, releases)?))
    }
}

impl Pin {
    /// Where nothing is pinned.
    pub fn default_of(releases: &Releases) -> Pin {
        Pin { version: releases.default_version(), source: Source::Default }
    }

    /// At least this version, with the reason in the comment.
    pub fn at_least(mut self, least: &[u32], reason: &str) -> Pin {
        if self.version.numbers() < least
            && let Source::File { but, .. } = &mut self.source
        {
            *but = Some(reason.to_owned());
            self.version = version(least);
        }
        self
    }

    /// No more than this many numbers.
    pub fn at_most_numbers(mut self, most: usize) -> Pin {
        let numbers = self.version.numbers();
        self.version = version(&numbers[..numbers.len().min(most)]);
        self
    }
}

/// The first line of a file that is neither empty nor a comment. Such a file also counts for the
/// directories below it.
pub(super) fn only_line(part: &Part, name: &str) -> Option<Mention> {
    let (path, text) = part.text_around(name)?;
    let meaning = |line: &str| line.split('#').next().unwrap_or("").trim().to_owned();
    let lines = text.lines().map(meaning).enumerate();
    let (index, says) = lines.into_iter().find(|(_, line)| !line.is_empty())?;
    Some(Mention { path, line: index + 1, says })
}

/// The version of a tool in `.tool-versions`, a file of several version managers.
pub(super) fn tool_versions(part: &Part, tool: &str) -> Option<Mention> {
    let (path, text) = part.text_around(".tool-versions")?;
    text.lines().enumerate().find_map(|(index, line)| {
        let mut words = line.split('#').next()?.split_whitespace();
        let (found, says) = (words.next()?, words.next()?);
        let mention = || Mention { path: path.clone(), line: index + 1, says: says.into() };
        (found == tool).then(mention)
    })
}

/// What `.nvmrc` may say: a version, `lts/*`, `lts/iron`, `node`.
pub(super) fn node_alias(says: &str, releases: &Releases) -> Option<Version> {
    let says = says.trim().to_lowercase();
    match says.strip_prefix("lts/").unwrap_or(&says) {
        "*" | "lts" | "node" | "stable" | "latest" | "current" => Some(releases.default_version()),
        name => match NODE_LTS.iter().find(|(known, _)| *known == name) {
            Some((_, major)) => Some(Version::new(*major, &[])),
            None => range::choose(name, releases),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            Files,
            releases::{NODE, RUST},
        },
        *,
    };

    #[test]
    fn names_of_node_releases() {
        let alias = |says: &str| node_alias(says, &NODE).map(|version| version.to_string());
        for (says, expected) in [
            ("lts/*", "24"),
            ("lts/iron", "20"),
            ("lts/Hydrogen", "18"),
            ("node", "24"),
            ("v20.11.1", "20.11.1"),
            ("20", "20"),
        ] {
            assert_eq!(alias(says).as_deref(), Some(expected), "{says}");
        }
        assert_eq!(alias("system"), None);
    }

    #[test]
    fn files_of_version_managers() {
        let mut files = Files::new();
        files.insert("a/.tool-versions", "# tools\nnodejs 20.1.0\npython 3.11.4 # this\n");
        files.insert("a/.nvmrc", "\n# pinned\n 20 # iron\n");
        let part = Part::alone(&files, "a/b/c");
        let python = tool_versions(&part, "python").unwrap();
        assert_eq!((python.line, python.says.as_str()), (3, "3.11.4"));
        assert!(tool_versions(&part, "golang").is_none());
        let nvmrc = only_line(&part, ".nvmrc").unwrap();
        let words = (nvmrc.path.as_str(), nvmrc.line, nvmrc.says.as_str());
        assert_eq!(words, ("a/.nvmrc", 3, "20"));
    }

    #[test]
    fn a_floor_lifts_a_pin_and_says_why() {
        let mention = Mention { path: "Cargo.toml".into(), line: 4, says: "1.60".into() };
        let lifted = mention.pin(Version::new(1, &[60])).at_least(&[1, 78], "Cargo.lock is newer");
        assert_eq!(lifted.version.to_string(), "1.78");
        assert_eq!(lifted.source.to_string(), "`1.60` in Cargo.toml:4; Cargo.lock is newer");
        let default = Pin::default_of(&RUST);
        assert_eq!(default.clone().at_least(&[1, 78], "").version, default.version);
    }
}
