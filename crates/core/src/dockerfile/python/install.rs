//! How the dependencies get into the virtual environment: uv, Poetry, Pipenv or pip.

use super::{
    super::{
        part::Part,
        recipe::{Steps, run},
    },
    dependencies::requirement_files,
};
use crate::language::Version;

const PIP_CACHE: &str = "target=/root/.cache/pip";
const MAKE_VENV: &str = "RUN python -m venv /opt/venv";
const IN_VENV: &str = "ENV VIRTUAL_ENV=/opt/venv PATH=/opt/venv/bin:$PATH";

/// The steps of the build stage; `None` if there is nothing to install.
pub(super) fn steps(part: &Part, version: &Version) -> Option<Steps> {
    let begin = Steps::new().step("WORKDIR /app");
    if part.has("uv.lock") {
        return Some(begin.then(uv(part)));
    }
    if part.has("poetry.lock") {
        return Some(begin.then(poetry(part)));
    }
    if part.has("Pipfile.lock") {
        return Some(begin.then(pipenv(part)));
    }
    if part.has("requirements.txt") {
        let files = requirement_files(part);
        // A requirement such as `-e .` is the project itself.
        let local = |line: &str| line == "." || line.starts_with("-e ") || line.starts_with("./");
        let needs_sources = files
            .iter()
            .filter_map(|file| part.text(file))
            .any(|text| text.lines().any(|line| local(line.trim())));
        let copies = if needs_sources { vec![part.copy_all()] } else { part.copy(&files) };
        let install = begin
            .step(MAKE_VENV)
            .step(IN_VENV)
            .steps(copies)
            .step(run(&[PIP_CACHE], "pip install -r requirements.txt"));
        return Some(install);
    }
    let installable = part.has("setup.py") || part.has("setup.cfg") || is_project(part);
    installable.then(|| {
        begin
            .note("Without a lockfile every build may get other versions.")
            .step(MAKE_VENV)
            .step(IN_VENV)
            .then(ahead(part, version))
            .step(part.copy_all())
            .step(run(&[PIP_CACHE], "pip install ."))
    })
}

/// True if the build stage installs the project itself, with its scripts.
pub(super) fn installs_project(part: &Part) -> bool {
    if part.has("uv.lock") {
        return is_package(part);
    }
    if part.has("poetry.lock") {
        return is_package(part) && has_scripts(part);
    }
    !part.has("Pipfile.lock") && !part.has("requirements.txt")
}

fn is_project(part: &Part) -> bool {
    part.text("pyproject.toml").is_some_and(|text| text.contains("[project]"))
}

/// The dependencies of `pyproject.toml` in a layer of their own. Python reads TOML since 3.11.
fn ahead(part: &Part, version: &Version) -> Steps {
    let table: toml::Table =
        part.text("pyproject.toml").and_then(|text| text.parse().ok()).unwrap_or_default();
    let listed = table.get("project").and_then(|project| project.get("dependencies")?.as_array());
    if version.numbers() < &[3, 11] || listed.is_none_or(|listed| listed.is_empty()) {
        return Steps::new();
    }
    let list = r#"python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"], sep="\n")' > /tmp/requirements.txt"#;
    let command = format!("{list} \\\n    && pip install -r /tmp/requirements.txt");
    Steps::new().steps(part.copy(&["pyproject.toml".to_owned()])).step(run(&[PIP_CACHE], &command))
}

/// True if the project itself can be installed, not only its dependencies.
fn is_package(part: &Part) -> bool {
    part.text("pyproject.toml").is_some_and(|text| text.contains("[build-system]"))
}

fn uv(part: &Part) -> Steps {
    let cache = "target=/root/.cache/uv";
    let mut steps = Steps::new()
        .step(run(&[PIP_CACHE], "pip install uv"))
        .step(
            "ENV UV_PROJECT_ENVIRONMENT=/opt/venv UV_LINK_MODE=copy \\\n    UV_COMPILE_BYTECODE=1 UV_PYTHON_DOWNLOADS=never",
        )
        .steps(part.copy(&["pyproject.toml".to_owned(), "uv.lock".to_owned()]))
        .step(run(&[cache], "uv sync --frozen --no-dev --no-install-project"));
    if is_package(part) {
        steps = steps
            .step(part.copy_all())
            .step(run(&[cache], "uv sync --frozen --no-dev --no-editable"));
    }
    steps
}

fn poetry(part: &Part) -> Steps {
    let mut steps = Steps::new()
        .step(run(&[PIP_CACHE], &format!("pip install {}", poetry_release(part))))
        .step(MAKE_VENV)
        .step(IN_VENV)
        .steps(part.copy(&["pyproject.toml".to_owned(), "poetry.lock".to_owned()]))
        .step(run(
            &["target=/root/.cache/pypoetry"],
            "poetry install --no-interaction --only main --no-root",
        ));
    if is_package(part) && has_scripts(part) {
        steps = steps.step(part.copy_all()).step(run(&[PIP_CACHE], "pip install --no-deps ."));
    }
    steps
}

fn has_scripts(part: &Part) -> bool {
    part.text("pyproject.toml").is_some_and(|text| {
        text.contains("[tool.poetry.scripts]") || text.contains("[project.scripts]")
    })
}

/// The release of Poetry that wrote the lockfile, which names it in its first line.
fn poetry_release(part: &Part) -> String {
    let first = part.text("poetry.lock").unwrap_or("").lines().next().unwrap_or("");
    let mut words = first.split_whitespace().skip_while(|word| *word != "Poetry").skip(1);
    let is_version = |word: &&str| word.chars().all(|c| c.is_ascii_digit() || c == '.');
    match words.next().filter(is_version) {
        Some(version) => format!("poetry=={version}"),
        None => "poetry".to_owned(),
    }
}

fn pipenv(part: &Part) -> Steps {
    Steps::new()
        .step(run(&[PIP_CACHE], "pip install pipenv"))
        .step(MAKE_VENV)
        .steps(part.copy(&["Pipfile".to_owned(), "Pipfile.lock".to_owned()]))
        .step(run(
            &[PIP_CACHE],
            "pipenv requirements > /tmp/requirements.txt && /opt/venv/bin/pip install -r /tmp/requirements.txt",
        ))
}
