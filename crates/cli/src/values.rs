//! What stands after `--mount`, `--volume`, `--dataset`, `--workspace`, `--env`, `--stdin` and
//! `--override`, and hosts that are asked about.

use std::{convert::Infallible, path::PathBuf, str::FromStr};

use fumehood::{
    Dataset, Mount, NameError, VolumeMount, Workspace, WorkspaceMode, policy::PolicyText,
};

/// A policy that somebody wrote behind `--override`. What it says is for the policy's own reader.
pub fn override_text(text: &str) -> Result<PolicyText, Infallible> {
    Ok(PolicyText { name: "--override".to_owned(), text: text.to_owned() })
}

/// Why a value cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// Not of the form `SOURCE:TARGET`.
    #[error("`{given}` is not a mount: write SOURCE:TARGET, and :rw behind it to make it writable")]
    Mount {
        /// The text as given.
        given: String,
    },
    /// Not of the form `NAME:/path`.
    #[error("`{given}` is not a volume with its place: write NAME:/path")]
    Volume {
        /// The text as given.
        given: String,
    },
    /// Not of the form `NAME=PATH`.
    #[error("`{given}` is not a data set: write NAME=PATH, and find it at /datasets/NAME")]
    Dataset {
        /// The text as given.
        given: String,
    },
    /// The name of a volume or data set is not one.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Only the workspace can be an overlay.
    #[error("`{given}` cannot be an overlay: only --workspace can, mount it with :ro or :rw")]
    OverlayMount {
        /// The text as given.
        given: String,
    },
    /// No directory before the colon.
    #[error("`{given}` names no directory: write DIR, DIR:ro, DIR:rw, DIR:overlay or none")]
    Workspace {
        /// The text as given.
        given: String,
    },
    /// No name before the equals sign.
    #[error("`{given}` is not a variable: write NAME=VALUE, or NAME to pass on your own")]
    Variable {
        /// The text as given.
        given: String,
    },
    /// A host with a port that is none.
    #[error(
        "`{given}` is not a host with a port: write HOST or HOST:PORT, and [ADDRESS]:PORT for IPv6"
    )]
    Host {
        /// The text as given.
        given: String,
    },
    /// `@` with nothing behind it.
    #[error("`@` names no file: write --stdin @FILE")]
    StdinFile,
}

/// `HOST[:PORT]`; the port is 443 unless said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostArg {
    pub host: String,
    pub port: u16,
}

impl FromStr for HostArg {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<HostArg, ValueError> {
        let (host, port) = match given.rsplit_once(':') {
            // An IPv6 address has colons of its own.
            Some((host, _)) if host.contains(':') && !host.ends_with(']') => (given, None),
            Some((host, port)) if !given.ends_with(']') => (host, Some(port)),
            _ => (given, None),
        };
        let port = port.map_or(Ok(443), |port| {
            port.parse().map_err(|_| ValueError::Host { given: given.to_owned() })
        })?;
        Ok(HostArg { host: host.to_owned(), port })
    }
}

/// `SOURCE:TARGET[:ro|rw]`; read-only unless said otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountArg(pub Mount);

impl FromStr for MountArg {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<MountArg, ValueError> {
        let (paths, mode) = split_mode(given);
        match paths.rsplit_once(':') {
            Some((source, target)) if !source.is_empty() && !target.is_empty() => {
                Ok(MountArg(match mode {
                    Some(WorkspaceMode::Overlay) => {
                        return Err(ValueError::OverlayMount { given: given.to_owned() });
                    }
                    Some(WorkspaceMode::ReadWrite) => Mount::read_write(source, target),
                    Some(WorkspaceMode::ReadOnly) | None => Mount::read_only(source, target),
                }))
            }
            _ => Err(ValueError::Mount { given: given.to_owned() }),
        }
    }
}

/// `NAME:/path`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeArg(pub VolumeMount);

impl FromStr for VolumeArg {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<VolumeArg, ValueError> {
        match given.split_once(':') {
            Some((name, target)) if target.starts_with('/') => {
                Ok(VolumeArg(VolumeMount { name: name.parse()?, target: target.into() }))
            }
            _ => Err(ValueError::Volume { given: given.to_owned() }),
        }
    }
}

/// `NAME=PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatasetArg(pub Dataset);

impl FromStr for DatasetArg {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<DatasetArg, ValueError> {
        match given.split_once('=') {
            Some((name, path)) if !path.is_empty() => {
                Ok(DatasetArg(Dataset { name: name.parse()?, path: path.into() }))
            }
            _ => Err(ValueError::Dataset { given: given.to_owned() }),
        }
    }
}

/// `DIR[:ro|rw|overlay]`, as the policy says if there is no mode, or `none`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceArg(pub Option<Workspace>);

impl FromStr for WorkspaceArg {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<WorkspaceArg, ValueError> {
        if given == "none" {
            return Ok(WorkspaceArg(None));
        }
        match split_mode(given) {
            ("", _) => Err(ValueError::Workspace { given: given.to_owned() }),
            (directory, mode) => {
                Ok(WorkspaceArg(Some(Workspace { directory: PathBuf::from(directory), mode })))
            }
        }
    }
}

fn split_mode(given: &str) -> (&str, Option<WorkspaceMode>) {
    match given.rsplit_once(':') {
        Some((path, "ro")) => (path, Some(WorkspaceMode::ReadOnly)),
        Some((path, "overlay")) => (path, Some(WorkspaceMode::Overlay)),
        Some((path, "rw")) => (path, Some(WorkspaceMode::ReadWrite)),
        _ => (given, None),
    }
}

/// `NAME=VALUE`, or `NAME` for the caller's own value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvArg {
    /// The variable.
    pub name: String,
    /// Its value; absent, it is copied.
    pub value: Option<String>,
}

impl FromStr for EnvArg {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<EnvArg, ValueError> {
        let (name, value) = match given.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (given, None),
        };
        if name.is_empty() {
            return Err(ValueError::Variable { given: given.to_owned() });
        }
        Ok(EnvArg { name: name.to_owned(), value })
    }
}

/// Where the program's input comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StdinArg {
    /// `-`: whatever this process is given.
    Caller,
    /// `@FILE`.
    File(PathBuf),
    /// The text itself.
    Text(String),
}

impl FromStr for StdinArg {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<StdinArg, ValueError> {
        match given.strip_prefix('@') {
            Some("") => Err(ValueError::StdinFile),
            Some(path) => Ok(StdinArg::File(PathBuf::from(path))),
            None if given == "-" => Ok(StdinArg::Caller),
            None => Ok(StdinArg::Text(given.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_only_unless_said_otherwise() {
        let mount = |text: &str| text.parse::<MountArg>().map(|mount| mount.0);
        assert_eq!(mount("/a:/b"), Ok(Mount::read_only("/a", "/b")));
        assert_eq!(mount("/a:/b:ro"), Ok(Mount::read_only("/a", "/b")));
        assert_eq!(mount("data:/b:rw"), Ok(Mount::read_write("data", "/b")));
        assert_eq!(mount("/with:colon:/b"), Ok(Mount::read_only("/with:colon", "/b")));
        for bad in ["", "/a", "/a:", ":/b", "/a:ro", ":"] {
            assert_eq!(mount(bad), Err(ValueError::Mount { given: bad.to_owned() }), "{bad}");
        }
        assert!(matches!(mount("/a:/b:overlay"), Err(ValueError::OverlayMount { .. })));
    }

    #[test]
    fn volumes_and_data_sets_have_a_name() {
        let volume = "cache:/home/box/.cache:x".parse::<VolumeArg>().unwrap().0;
        assert_eq!(
            (volume.name.as_str(), volume.target.as_path()),
            ("cache", "/home/box/.cache:x".as_ref())
        );
        for bad in ["", "cache", "cache:", "cache:relative", "/a"] {
            let error = bad.parse::<VolumeArg>().unwrap_err();
            assert_eq!(error, ValueError::Volume { given: bad.to_owned() });
        }
        assert!(matches!("../x:/y".parse::<VolumeArg>(), Err(ValueError::Name(_))));
        let dataset = "iris=data/iris=1.csv".parse::<DatasetArg>().unwrap().0;
        assert_eq!(
            (dataset.name.as_str(), dataset.path.as_path()),
            ("iris", "data/iris=1.csv".as_ref())
        );
        for bad in ["", "iris", "iris="] {
            let error = bad.parse::<DatasetArg>().unwrap_err();
            assert_eq!(error, ValueError::Dataset { given: bad.to_owned() });
        }
        assert!(matches!("a/b=/c".parse::<DatasetArg>(), Err(ValueError::Name(_))));
    }

    #[test]
    fn workspaces_have_a_mode() {
        let workspace = |text: &str| text.parse::<WorkspaceArg>().map(|workspace| workspace.0);
        let expected = |directory: &str, mode| {
            Ok(Some(Workspace { directory: PathBuf::from(directory), mode }))
        };
        assert_eq!(workspace("."), expected(".", None));
        assert_eq!(workspace("src:ro"), expected("src", Some(WorkspaceMode::ReadOnly)));
        assert_eq!(workspace("src:rw"), expected("src", Some(WorkspaceMode::ReadWrite)));
        assert_eq!(workspace("a:b:overlay"), expected("a:b", Some(WorkspaceMode::Overlay)));
        assert_eq!(workspace("none"), Ok(None));
        assert_eq!(workspace("./none"), expected("./none", None));
        assert!(workspace("").is_err() && workspace(":ro").is_err());
    }

    #[test]
    fn variables_have_a_name() {
        let variable = |text: &str| text.parse::<EnvArg>().map(|env| (env.name, env.value));
        assert_eq!(variable("A=b=c"), Ok(("A".to_owned(), Some("b=c".to_owned()))));
        assert_eq!(variable("A="), Ok(("A".to_owned(), Some(String::new()))));
        assert_eq!(variable("A"), Ok(("A".to_owned(), None)));
        assert!(variable("=b").is_err() && variable("").is_err());
    }

    #[test]
    fn input_is_text_a_file_or_the_callers() {
        assert_eq!("".parse(), Ok(StdinArg::Text(String::new())));
        assert_eq!("2 3".parse(), Ok(StdinArg::Text("2 3".to_owned())));
        assert_eq!("@in.txt".parse(), Ok(StdinArg::File(PathBuf::from("in.txt"))));
        assert_eq!("-".parse(), Ok(StdinArg::Caller));
        assert_eq!("@".parse::<StdinArg>(), Err(ValueError::StdinFile));
    }
}
