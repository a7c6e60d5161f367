//! What can be said about a container engine: where it is, and what its boxes hold.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use super::{
    Kind, ValueError,
    names::{name, plain_name},
    written::Scalar,
};
use crate::{Access, Bytes};

/// The network that an engine gives to a box: always none, since egress is lent by the supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineNetwork {
    /// Nothing but the loopback interface.
    None,
}

impl EngineNetwork {
    const WORD: &'static str = "none";
}

impl fmt::Display for EngineNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EngineNetwork::WORD)
    }
}

impl FromStr for EngineNetwork {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<EngineNetwork, ValueError> {
        match given {
            EngineNetwork::WORD => Ok(EngineNetwork::None),
            _ => Err(ValueError::EngineNetwork { given: given.to_owned() }),
        }
    }
}

impl Scalar for EngineNetwork {
    const KIND: Kind = Kind::Word(&[EngineNetwork::WORD]);
}

name! {
    /// Where an engine listens.
    EngineHost,
    Kind::Text {
        what: "an address",
        pattern: "^(unix:///|(tcp|http|https)://[^/])",
    }
}

impl FromStr for EngineHost {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<EngineHost, ValueError> {
        let is_address = given.strip_prefix("unix://").is_some_and(|path| path.starts_with('/'))
            || ["tcp://", "http://", "https://"].iter().any(|scheme| {
                given.strip_prefix(scheme).is_some_and(|rest| !rest.starts_with(['/', ':']))
                    && given.len() > scheme.len()
            });
        let odd = given.chars().any(|c| c.is_control() || c.is_whitespace());
        if is_address && !odd {
            return Ok(EngineHost(given.to_owned()));
        }
        Err(ValueError::Form {
            given: given.to_owned(),
            what: "the address of an engine",
            reason: "it begins with unix:///, tcp://, http:// or https:// and has no spaces",
            example: "unix:///var/run/docker.sock",
        })
    }
}

name! {
    /// The name of an OCI runtime that the engine knows.
    RuntimeName,
    Kind::Text { what: "a runtime", pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$" }
}

impl FromStr for RuntimeName {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<RuntimeName, ValueError> {
        plain_name(given, "._-").map(|()| RuntimeName(given.to_owned())).map_err(|reason| {
            let (what, example) = ("the name of a runtime", "runsc");
            ValueError::Form { given: given.to_owned(), what, reason, example }
        })
    }
}

/// A directory in memory: `/path:size`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tmpfs {
    /// The path inside the box.
    pub path: PathBuf,
    /// How much fits.
    pub size: Bytes,
}

impl fmt::Display for Tmpfs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.size)
    }
}

impl FromStr for Tmpfs {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<Tmpfs, ValueError> {
        let wrong = |reason| ValueError::Form {
            given: given.to_owned(),
            what: "a directory in memory",
            reason,
            example: "/cache:64m",
        };
        let (path, size) = given.rsplit_once(':').ok_or_else(|| wrong("its size is missing"))?;
        Ok(Tmpfs { path: inside(path).map_err(wrong)?, size: size.parse()? })
    }
}

impl Scalar for Tmpfs {
    const KIND: Kind = Kind::Text { what: "`/path:size`", pattern: "^/.*:[^:/]+$" };
}

/// A directory or file of the host in the box: `SOURCE:TARGET[:ro]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// The path on the host.
    pub source: PathBuf,
    /// The path inside the box.
    pub target: PathBuf,
    /// Whether it can be written.
    pub access: Access,
}

impl fmt::Display for Volume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.source.display(), self.target.display())?;
        match self.access {
            Access::ReadOnly => f.write_str(":ro"),
            Access::ReadWrite => Ok(()),
        }
    }
}

impl FromStr for Volume {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<Volume, ValueError> {
        let wrong = |reason| ValueError::Form {
            given: given.to_owned(),
            what: "a volume",
            reason,
            example: "/srv/data:/data:ro",
        };
        let (paths, access) = match given.strip_suffix(":ro") {
            Some(paths) => (paths, Access::ReadOnly),
            None => (given, Access::ReadWrite),
        };
        // The last `:/`: a source may have a drive letter.
        let Some(colon) = paths.rfind(":/") else {
            return Err(wrong("it has no `:` before an absolute path inside the box"));
        };
        let source = Path::new(&paths[..colon]);
        if !source.is_absolute() {
            return Err(wrong("the path on the host is not absolute"));
        }
        // Engines separate with it, too. The second character is that of a drive.
        if paths[..colon].chars().skip(2).any(|c| c == ':') {
            return Err(wrong("the path on the host has a `:` in it"));
        }
        let target = inside(&paths[colon + 1..]).map_err(wrong)?;
        Ok(Volume { source: source.to_owned(), target, access })
    }
}

impl Scalar for Volume {
    const KIND: Kind =
        Kind::Text { what: "`SOURCE:TARGET` or `SOURCE:TARGET:ro`", pattern: "^.+:/.+$" };
}

/// A path inside a box. One with `..` in it could mean another place than it says.
fn inside(path: &str) -> Result<PathBuf, &'static str> {
    let odd = |part: &str| matches!(part, "." | "..");
    match path {
        _ if !path.starts_with('/') => Err("the path inside the box is not absolute"),
        "/" => Err("the path inside the box is its root"),
        _ if path.split('/').any(odd) => Err("the path inside the box has `.` or `..` in it"),
        _ if path.contains([':', ',', '\0']) => {
            Err("the path inside the box has a `:` or `,` in it")
        }
        _ => Ok(PathBuf::from(path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_shown_the_same() {
        for text in ["/srv/data:/data", "/srv/a b:/data:ro"] {
            assert_eq!(text.parse::<Volume>().unwrap().to_string(), text);
        }
        assert_eq!("/cache:64m".parse::<Tmpfs>().unwrap().to_string(), "/cache:64MiB");
        for text in ["unix:///run/docker.sock", "tcp://127.0.0.1:2375", "https://engine:2376"] {
            assert_eq!(text.parse::<EngineHost>().unwrap().as_str(), text);
        }
    }

    #[test]
    fn wrong_forms_are_refused_with_the_reason() {
        for (text, words) in [
            ("data:/data", "the path on the host is not absolute"),
            ("/data", "no `:` before an absolute path"),
            ("/a:data", "no `:` before an absolute path"),
            ("/a:/data:rw", "inside the box has a `:`"),
            ("/a:/", "is its root"),
            ("/srv/a:b:/data", "the path on the host has a `:`"),
            ("/a:/b/../../etc", "`.` or `..`"),
        ] {
            let error = text.parse::<Volume>().unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
        for text in ["/cache", "cache:1m", "/:1m", "/a/../b:1m", "/cache:"] {
            assert!(text.parse::<Tmpfs>().is_err(), "{text}");
        }
        for text in ["", "docker", "unix://x", "tcp://", "tcp:///", "ssh://x", "tcp://a b"] {
            assert!(text.parse::<EngineHost>().is_err(), "{text}");
        }
        assert!("runsc --debug".parse::<RuntimeName>().is_err());
    }

    #[test]
    fn no_box_gets_a_network_of_its_engine() {
        assert_eq!("none".parse(), Ok(EngineNetwork::None));
        for text in ["host", "bridge", "container:x", ""] {
            let error = text.parse::<EngineNetwork>().unwrap_err();
            assert!(error.to_string().contains("never has a network"), "{text}");
            assert!(error.hint().unwrap().contains("write `none`"));
        }
    }
}
