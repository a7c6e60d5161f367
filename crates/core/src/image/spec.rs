//! One image, as its data file says.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Digest;

/// Changes whenever an image would come out different although its data did not change.
const EDITION: &str = "1";

/// Where programs are in every image.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// One image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageSpec {
    /// Its name, as on the command line.
    pub name: String,
    /// What is in it, for people.
    pub description: String,
    /// The languages that run in it.
    pub languages: Vec<String>,
    /// Debian packages, besides the smallest system.
    pub packages: Vec<String>,
    /// The time that everything in it is said to be of, in seconds since 1970. Nothing in an image
    /// is newer, so that the same content is the same image whenever it is made.
    pub epoch: u64,
    /// The release of Debian; absent for that of the machine on which it is made.
    #[serde(default)]
    pub suite: Option<String>,
    /// Variables of its programs.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

/// Why a file is not that of an image.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageSpecError {
    /// It cannot be read.
    #[error("images/{file}.toml cannot be read: {reason}")]
    Syntax {
        /// The file.
        file: String,
        /// What is wrong, and where.
        reason: String,
    },
    /// It names another image.
    #[error("images/{file}.toml is about `{name}`: give both the same name")]
    Name {
        /// The file.
        file: String,
        /// The name in it.
        name: String,
    },
    /// A word could mean something else to the program that it is given to.
    #[error(
        "images/{file}.toml: `{word}` is no {what}: use lower case letters, digits, and . + - between them"
    )]
    Word {
        /// The file.
        file: String,
        /// The word.
        word: String,
        /// What it should be.
        what: &'static str,
    },
}

impl ImageSpec {
    /// Reads the file of an image.
    pub fn parse(file: &str, text: &str) -> Result<ImageSpec, ImageSpecError> {
        let spec: ImageSpec = toml::from_str(text).map_err(|error| ImageSpecError::Syntax {
            file: file.to_owned(),
            reason: error.to_string().trim().to_owned(),
        })?;
        if spec.name != file {
            return Err(ImageSpecError::Name { file: file.to_owned(), name: spec.name });
        }
        let words = spec.packages.iter().map(|word| (word, "package"));
        for (word, what) in words.chain(spec.suite.iter().map(|suite| (suite, "release"))) {
            if !is_plain(word) {
                return Err(ImageSpecError::Word { file: file.into(), word: word.clone(), what });
            }
        }
        Ok(spec)
    }

    /// All variables of the image.
    pub fn environment(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::from([("PATH".to_owned(), PATH.to_owned())]);
        all.extend(self.env.clone());
        all
    }

    /// What tells this image from what it was when its data was different. The versions of packages
    /// are not part of it: they are known only when it is made.
    pub fn inputs(&self, suite: &str, architecture: &str) -> Digest {
        let mut parts = vec![EDITION.to_owned(), suite.to_owned(), architecture.to_owned()];
        parts.push(self.name.clone());
        parts.push(self.epoch.to_string());
        parts.push(self.packages.join(" "));
        parts.extend(self.environment().into_iter().map(|(name, value)| format!("{name}={value}")));
        Digest::of_parts(parts.iter().map(String::as_bytes))
    }
}

/// Neither an option nor a list nor a pattern.
fn is_plain(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && word
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '+' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name = 'x'\ndescription = 'd'\nlanguages = []\nepoch = 5\n";

    fn parse(rest: &str) -> Result<ImageSpec, ImageSpecError> {
        ImageSpec::parse("x", &format!("{TEXT}{rest}"))
    }

    #[test]
    fn words_that_mean_something_to_a_program_are_refused() {
        assert!(parse("packages = ['g++', 'libc6-dev', 'python3.11']").is_ok());
        for bad in ["--option", "a,b", "a b", "", "?essential", "A"] {
            let refused = parse(&format!("packages = ['{bad}']")).unwrap_err();
            assert!(refused.to_string().contains(&format!("`{bad}` is no package")), "{refused}");
        }
        assert!(parse("packages = []\nsuite = '-x'").is_err());
    }

    #[test]
    fn a_file_that_is_wrong_is_named() {
        let message = |text: &str| ImageSpec::parse("x", text).unwrap_err().to_string();
        assert!(message("name = 3").starts_with("images/x.toml cannot be read"));
        assert!(message(&format!("{TEXT}packages = []\ncolour = 1")).contains("colour"));
        let other = TEXT.replace("'x'", "'y'");
        assert_eq!(
            message(&format!("{other}packages = []")),
            "images/x.toml is about `y`: give both the same name"
        );
    }

    #[test]
    fn whatever_makes_another_image_gives_another_digest() {
        let spec = parse("packages = ['a', 'b']").unwrap();
        let digest = spec.inputs("one", "amd64");
        assert_eq!(digest, spec.inputs("one", "amd64"));
        let change = |change: fn(&mut ImageSpec)| {
            let mut other = spec.clone();
            change(&mut other);
            other.inputs("one", "amd64")
        };
        for other in [
            spec.inputs("two", "amd64"),
            spec.inputs("one", "arm64"),
            change(|spec| spec.packages = vec!["a".into()]),
            change(|spec| spec.epoch = 6),
            change(|spec| drop(spec.env.insert("A".into(), "b".into()))),
        ] {
            assert_ne!(other, digest);
        }
        assert_eq!(change(|spec| spec.description = "other words".into()), digest);
    }

    #[test]
    fn every_image_says_where_programs_are() {
        let spec = parse("packages = []\nenv.A = 'b'").unwrap();
        assert_eq!(spec.environment()["A"], "b");
        assert!(spec.environment()["PATH"].contains("/usr/bin"));
    }
}
