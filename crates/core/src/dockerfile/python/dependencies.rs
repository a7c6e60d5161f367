//! What a Python project depends on, as it is written down, and what that asks of the base.

use super::{
    super::{
        base::{Base, Packages},
        files::line_with,
        part::Part,
    },
    MANIFESTS,
};

/// Wheels that are made for glibc first, and for musl late or never.
const GLIBC: &[&str] = &[
    "catboost",
    "dask",
    "faiss-cpu",
    "gensim",
    "geopandas",
    "h5py",
    "jax",
    "jaxlib",
    "keras",
    "lightgbm",
    "llvmlite",
    "matplotlib",
    "numba",
    "numpy",
    "onnxruntime",
    "opencv-python",
    "opencv-python-headless",
    "pandas",
    "playwright",
    "polars",
    "pyarrow",
    "pyodbc",
    "scikit-image",
    "scikit-learn",
    "scipy",
    "shapely",
    "spacy",
    "statsmodels",
    "tensorflow",
    "tokenizers",
    "torch",
    "torchaudio",
    "torchvision",
    "transformers",
    "xgboost",
];

/// Code that has no wheels and is compiled: what that needs, and what is needed to run.
const COMPILED: &[(&str, Packages, Packages)] = &[
    (
        "psycopg2",
        Packages { debian: &["libpq-dev"], alpine: &["build-base", "libpq-dev"] },
        Packages { debian: &["libpq5"], alpine: &["libpq"] },
    ),
    (
        "mysqlclient",
        Packages {
            debian: &["default-libmysqlclient-dev", "pkg-config"],
            alpine: &["build-base", "mariadb-dev", "pkgconf"],
        },
        Packages { debian: &["libmariadb3"], alpine: &["mariadb-connector-c"] },
    ),
    (
        "uwsgi",
        Packages { debian: &[], alpine: &["build-base", "linux-headers"] },
        Packages { debian: &[], alpine: &[] },
    ),
    (
        "pyaudio",
        Packages { debian: &["portaudio19-dev"], alpine: &["build-base", "portaudio-dev"] },
        Packages { debian: &["libportaudio2"], alpine: &["portaudio"] },
    ),
];

/// Pure Python, or with wheels for musl as well.
const EVERYWHERE: &[&str] = &[
    "aiofiles",
    "aiohttp",
    "alembic",
    "anyio",
    "attrs",
    "beautifulsoup4",
    "blinker",
    "boto3",
    "celery",
    "certifi",
    "cffi",
    "charset-normalizer",
    "click",
    "cryptography",
    "django",
    "django-cors-headers",
    "django-environ",
    "django-filter",
    "djangorestframework",
    "email-validator",
    "fastapi",
    "flask",
    "flask-cors",
    "flask-login",
    "flask-migrate",
    "flask-sqlalchemy",
    "gunicorn",
    "h11",
    "httpcore",
    "httptools",
    "httpx",
    "hypercorn",
    "idna",
    "itsdangerous",
    "jinja2",
    "jsonschema",
    "loguru",
    "mako",
    "markdown",
    "markupsafe",
    "orjson",
    "packaging",
    "passlib",
    "pydantic",
    "pydantic-settings",
    "pyjwt",
    "pymongo",
    "pymysql",
    "python-dateutil",
    "python-dotenv",
    "python-jose",
    "python-multipart",
    "pytz",
    "pyyaml",
    "redis",
    "requests",
    "rich",
    "sentry-sdk",
    "six",
    "sniffio",
    "sqlalchemy",
    "sqlmodel",
    "starlette",
    "structlog",
    "tabulate",
    "tenacity",
    "toml",
    "tomli",
    "tqdm",
    "typer",
    "typing-extensions",
    "tzdata",
    "urllib3",
    "uvicorn",
    "uvloop",
    "waitress",
    "websockets",
    "werkzeug",
    "whitenoise",
];

/// One line that names a package.
struct Dependency {
    name: String,
    place: String,
}

/// All of them.
pub(super) struct Dependencies(Vec<Dependency>);

impl Dependencies {
    pub fn read(part: &Part) -> Dependencies {
        let mut found = Vec::new();
        let mut add = |file: &str, line: Option<usize>, requirement: &str| {
            if let Some(name) = package_name(requirement) {
                let place = format!("{}:{}", part.shown(file), line.unwrap_or(1));
                found.push(Dependency { name, place });
            }
        };
        for file in requirement_files(part) {
            for (index, line) in part.text(&file).unwrap_or("").lines().enumerate() {
                add(&file, Some(index + 1), line);
            }
        }
        let text = part.text("pyproject.toml").unwrap_or("");
        let table: toml::Table = text.parse().unwrap_or_default();
        let listed =
            table.get("project").and_then(|project| project.get("dependencies")?.as_array());
        for requirement in listed.into_iter().flatten().filter_map(|each| each.as_str()) {
            add("pyproject.toml", line_with(text, requirement), requirement);
        }
        let poetry =
            table.get("tool").and_then(|tool| tool.get("poetry")?.get("dependencies")?.as_table());
        for name in poetry.into_iter().flat_map(|table| table.keys()).filter(|key| *key != "python")
        {
            add("pyproject.toml", line_with(text, &format!("{name} =")), name);
        }
        let text = part.text("Pipfile").unwrap_or("");
        let table: toml::Table = text.parse().unwrap_or_default();
        let packages = table.get("packages").and_then(|packages| packages.as_table());
        for name in packages.into_iter().flat_map(|table| table.keys()) {
            add("Pipfile", line_with(text, &format!("{name} =")), name);
        }
        Dependencies(found)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|dependency| dependency.name == name)
    }

    /// Why Debian is needed, if it is: what surely needs it comes first.
    pub fn glibc(&self) -> Option<String> {
        let find = |wanted: &dyn Fn(&str) -> bool| self.0.iter().find(|each| wanted(&each.name));
        let compiled = |name: &str| COMPILED.iter().any(|(known, ..)| *known == name);
        if let Some(Dependency { name, place }) = find(&|name| GLIBC.contains(&name)) {
            return Some(format!("the wheels of {name} ({place}) are made for glibc"));
        }
        if let Some(Dependency { name, place }) = find(&compiled) {
            return Some(format!("{name} ({place}) is compiled, best against glibc"));
        }
        let Dependency { name, place } = find(&|name| !EVERYWHERE.contains(&name))?;
        Some(format!("{name} ({place}) may bring compiled code, whose wheels are made for glibc"))
    }

    fn compiled(&self) -> impl Iterator<Item = &'static (&'static str, Packages, Packages)> {
        COMPILED.iter().filter(|(name, ..)| self.has(name))
    }

    /// True if a compiler is needed.
    pub fn compiles(&self) -> bool {
        self.compiled().next().is_some()
    }

    pub fn build_packages(&self, base: Base, part: &Part) -> Vec<&'static str> {
        let mut packages: Vec<&str> =
            self.compiled().flat_map(|(_, build, _)| build.of(base)).copied().collect();
        // Whoever wants Alpine all the same may have to compile.
        packages.extend((base == Base::Alpine && self.glibc().is_some()).then_some("build-base"));
        let manifests = [MANIFESTS, &["uv.lock", "poetry.lock", "Pipfile.lock"]].concat();
        let mut texts = manifests.iter().filter_map(|name| part.text(name));
        packages.extend(texts.any(|text| text.contains("git+")).then_some("git"));
        packages
    }

    pub fn runtime_packages(&self, base: Base) -> Vec<&'static str> {
        self.compiled().flat_map(|(.., run)| run.of(base)).copied().collect()
    }
}

/// `requirements.txt` and the files that it takes in with `-r` and `-c`.
pub(super) fn requirement_files(part: &Part) -> Vec<String> {
    let mut files = part.present(&["requirements.txt"]);
    let mut next = 0;
    while let Some(file) = files.get(next).cloned() {
        next += 1;
        let directory = file.rsplit_once('/').map_or("", |(directory, _)| directory);
        for line in part.text(&file).unwrap_or("").lines() {
            let options = ["-r ", "--requirement ", "-c ", "--constraint "];
            let Some(named) = options.iter().find_map(|option| line.trim().strip_prefix(option))
            else {
                continue;
            };
            let named = named.trim().trim_start_matches("./");
            let path = if directory.is_empty() {
                named.to_owned()
            } else {
                format!("{directory}/{named}")
            };
            if part.has(&path) && !files.contains(&path) {
                files.push(path);
            }
        }
    }
    files
}

/// The name in a requirement such as `Uvicorn[standard]>=0.2 ; python_version < "4"`, in the form
/// in which names are compared.
fn package_name(requirement: &str) -> Option<String> {
    let requirement = requirement.trim();
    let end = requirement.find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c)));
    let name = &requirement[..end.unwrap_or(requirement.len())];
    let usable = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    usable.then(|| name.to_lowercase().replace(['_', '.'], "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_requirements() {
        for (requirement, name) in [
            ("Flask==2.0", Some("flask")),
            ("uvicorn[standard]>=0.2", Some("uvicorn")),
            ("typing_extensions ; python_version < '3.8'", Some("typing-extensions")),
            ("# comment", None),
            ("-r other.txt", None),
            ("", None),
        ] {
            assert_eq!(package_name(requirement).as_deref(), name, "{requirement}");
        }
    }

    #[test]
    fn the_lists_are_sorted_and_apart() {
        assert!(GLIBC.is_sorted() && EVERYWHERE.is_sorted());
        assert!(GLIBC.iter().all(|name| !EVERYWHERE.contains(name)));
        assert!(COMPILED.iter().all(|(name, ..)| !EVERYWHERE.contains(name)));
    }
}
