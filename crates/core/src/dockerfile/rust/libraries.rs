//! Libraries of the system that crates link, read from `Cargo.lock`.

use toml::Table;

use super::super::{
    base::{Base, Packages},
    files::line_with,
    part::Part,
};

/// Crates that link a library of the system: what building and running need.
const LINKING: &[(&str, Packages, Packages)] = &[
    (
        "openssl-sys",
        Packages {
            debian: &["libssl-dev", "pkg-config"],
            alpine: &["openssl-dev", "openssl-libs-static", "pkgconf"],
        },
        Packages { debian: &["openssl"], alpine: &[] },
    ),
    (
        "pq-sys",
        Packages { debian: &["libpq-dev"], alpine: &["libpq-dev"] },
        Packages { debian: &["libpq5"], alpine: &["libpq"] },
    ),
    (
        "mysqlclient-sys",
        Packages {
            debian: &["default-libmysqlclient-dev", "pkg-config"],
            alpine: &["mariadb-dev"],
        },
        Packages { debian: &["libmariadb3"], alpine: &["mariadb-connector-c"] },
    ),
    (
        "rdkafka-sys",
        Packages { debian: &["cmake", "g++", "make"], alpine: &["cmake", "build-base"] },
        Packages { debian: &["libstdc++6"], alpine: &["libstdc++"] },
    ),
    (
        "librocksdb-sys",
        Packages {
            debian: &["clang", "g++", "libclang-dev", "make"],
            alpine: &["build-base", "clang-dev"],
        },
        Packages { debian: &["libstdc++6"], alpine: &["libstdc++"] },
    ),
    (
        "tikv-jemalloc-sys",
        Packages { debian: &["make"], alpine: &["build-base"] },
        Packages { debian: &[], alpine: &[] },
    ),
];

/// Crates that bring their C code with them and only need a compiler.
const BRINGING: &[&str] = &[
    "aws-lc-sys",
    "blake3",
    "bzip2-sys",
    "libgit2-sys",
    "libsqlite3-sys",
    "libssh2-sys",
    "libz-sys",
    "lz4-sys",
    "lzma-sys",
    "psm",
    "ring",
    "zstd-sys",
];

/// Crates whose names end like those of libraries, and that link nothing here.
const HARMLESS: &[&str] = &[
    "android_log-sys",
    "block-sys",
    "core-foundation-sys",
    "fsevent-sys",
    "hermit-sys",
    "inotify-sys",
    "jni-sys",
    "js-sys",
    "kqueue-sys",
    "linux-raw-sys",
    "mach-sys",
    "ndk-sys",
    "security-framework-sys",
    "system-configuration-sys",
    "wasi-sys",
    "web-sys",
    "windows-sys",
];

/// Crates that need the compiler of protocol buffers.
const PROTOBUF: &[&str] = &["prost-build", "tonic-build"];

/// Without a lockfile: crates that bring others.
const IMPLIED: &[(&str, &str)] = &[
    ("openssl", "openssl-sys"),
    ("native-tls", "openssl-sys"),
    ("git2", "openssl-sys"),
    ("rdkafka", "rdkafka-sys"),
    ("rocksdb", "librocksdb-sys"),
];

/// Crates that matter, with the place that names them.
pub(super) struct Libraries {
    found: Vec<(String, String)>,
}

impl Libraries {
    pub fn read(part: &Part) -> Libraries {
        let found = match part.text("Cargo.lock") {
            Some(lock) => of_lock(part, lock),
            None => of_manifest(part),
        };
        Libraries { found }
    }

    fn has(&self, name: &str) -> bool {
        self.found.iter().any(|(found, _)| found == name)
    }

    fn linking(&self) -> impl Iterator<Item = &'static (&'static str, Packages, Packages)> {
        // Vendored: the library is built with the program.
        let vendored = self.has("openssl-src");
        LINKING
            .iter()
            .filter(move |(name, ..)| self.has(name) && !(*name == "openssl-sys" && vendored))
    }

    /// Why Debian is needed, if it is.
    pub fn glibc(&self) -> Option<String> {
        let place = |name: &str| self.found.iter().find(|(found, _)| found == name);
        if let Some((name, ..)) = self.linking().next() {
            let (_, place) = place(name)?;
            return Some(format!("{name} ({place}) links a library of the system"));
        }
        let unknown = self.found.iter().find(|(name, _)| {
            let known = LINKING.iter().any(|(known, ..)| known == name)
                || BRINGING.contains(&name.as_str())
                || HARMLESS.contains(&name.as_str());
            name.ends_with("-sys") && !known
        });
        let (name, place) = unknown?;
        Some(format!("{name} ({place}) may link a library of the system"))
    }

    pub fn build_packages(&self, base: Base) -> Vec<&'static str> {
        let mut packages: Vec<&str> =
            self.linking().flat_map(|(_, build, _)| build.of(base)).copied().collect();
        let compiles = BRINGING.iter().any(|name| self.has(name)) || self.has("openssl-src");
        let protobuf = PROTOBUF.iter().any(|name| self.has(name));
        match base {
            Base::Alpine => {
                packages.push(if compiles { "build-base" } else { "musl-dev" });
                packages.extend(self.has("openssl-src").then_some("perl"));
                packages.extend(protobuf.then_some("protobuf-dev"));
            }
            Base::Debian => {
                packages.extend(self.has("openssl-src").then_some("make"));
                packages.extend(protobuf.then_some("protobuf-compiler"));
            }
        }
        packages
    }

    pub fn runtime_packages(&self, base: Base) -> Vec<&'static str> {
        self.linking().flat_map(|(.., run)| run.of(base)).copied().collect()
    }
}

fn of_lock(part: &Part, lock: &str) -> Vec<(String, String)> {
    let names = lock.lines().enumerate().filter_map(|(index, line)| {
        let name = line.strip_prefix("name = \"")?.strip_suffix('"')?;
        Some((name.to_owned(), format!("{}:{}", part.shown("Cargo.lock"), index + 1)))
    });
    names.collect()
}

fn of_manifest(part: &Part) -> Vec<(String, String)> {
    let text = part.text("Cargo.toml").unwrap_or("");
    let manifest: Table = text.parse().unwrap_or_default();
    let sections = ["dependencies", "build-dependencies"];
    let tables = sections.iter().filter_map(|section| manifest.get(*section)?.as_table());
    let mut found = Vec::new();
    for name in tables.flat_map(|table| table.keys()) {
        let line = line_with(text, &format!("{name} =")).unwrap_or(1);
        let place = format!("{}:{line}", part.shown("Cargo.toml"));
        let implied = IMPLIED.iter().filter(|(known, _)| known == name);
        found.extend(implied.map(|(_, library)| ((*library).to_owned(), place.clone())));
        found.push((name.clone(), place));
    }
    found
}
