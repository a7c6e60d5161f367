//! The root of a native box: the host's own system directories, read-only, and a choice of /etc.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{SYSTEM_DIRECTORIES, scout::Scout};

/// What of /etc programs need to run. Nothing here tells who uses the machine or holds a secret.
const CONFIGURATION: &[&str] = &[
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "debian_version",
    "fonts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "localtime",
    "magic",
    "mime.types",
    "nodejs",
    "os-release",
    "pki",
    "protocols",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
    "timezone",
    "xml",
];

/// Directories of /etc whose names carry a version.
const CONFIGURATION_PREFIXES: &[&str] = &["java-", "python3", "maven"];

/// What of the system a box sees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct System {
    /// Files and directories, the same inside and outside.
    pub paths: Vec<PathBuf>,
    /// Symbolic links and what they point to.
    pub links: Vec<(PathBuf, PathBuf)>,
}

impl System {
    /// Looks at the machine. What is found depends on three directories only, so that one look at
    /// those tells the next run that nothing changed.
    pub(super) fn find(scout: &mut Scout) -> System {
        let etc = Path::new("/etc");
        for directory in [Path::new("/"), etc, &etc.join("ssl")] {
            scout.note(directory);
        }
        let mut system = System::default();
        for directory in SYSTEM_DIRECTORIES {
            system.place(Path::new(directory));
        }
        for name in CONFIGURATION {
            system.place(&etc.join(name));
        }
        for entry in fs::read_dir(etc).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if CONFIGURATION_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
                system.place(&entry.path());
            }
        }
        system.paths.sort();
        system.links.sort();
        system
    }

    /// A link stays a link, what is there is mounted, what is missing is left out.
    fn place(&mut self, path: &Path) {
        let Ok(found) = fs::symlink_metadata(path) else { return };
        if found.is_symlink() {
            if let Ok(target) = fs::read_link(path) {
                self.links.push((path.to_owned(), target));
            }
        } else if found.is_dir() || found.is_file() {
            self.paths.push(path.to_owned());
        }
    }
}
