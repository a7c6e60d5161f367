//! The root of a native box: the host's own system directories, read-only, and a choice of /etc.

use std::{fs, path::Path};

use crate::{Link, Mount, toolchain::SYSTEM_DIRECTORIES};

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

/// Mounts and links of the system part.
pub(super) fn system() -> (Vec<Mount>, Vec<Link>) {
    let mut mounts = Vec::new();
    let mut links = Vec::new();
    for directory in SYSTEM_DIRECTORIES {
        place(Path::new(directory), &mut mounts, &mut links);
    }
    let etc = Path::new("/etc");
    for name in CONFIGURATION {
        place(&etc.join(name), &mut mounts, &mut links);
    }
    for entry in fs::read_dir(etc).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if CONFIGURATION_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
            place(&entry.path(), &mut mounts, &mut links);
        }
    }
    mounts.sort_by(|a, b| a.target.cmp(&b.target));
    links.sort_by(|a, b| a.path.cmp(&b.path));
    (mounts, links)
}

/// A link stays a link, what is there is mounted, what is missing is left out.
fn place(path: &Path, mounts: &mut Vec<Mount>, links: &mut Vec<Link>) {
    let Ok(found) = fs::symlink_metadata(path) else { return };
    if found.is_symlink() {
        if let Ok(target) = fs::read_link(path) {
            links.push(Link { path: path.to_owned(), target });
        }
    } else if found.is_dir() || found.is_file() {
        mounts.push(Mount::system(path));
    }
}
