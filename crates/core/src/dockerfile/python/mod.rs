//! Python: dependencies in a virtual environment that a build stage makes and the last one takes.

mod command;
mod dependencies;
mod install;

use self::dependencies::Dependencies;
use super::{
    base::{Base, Choice, Wish, install as install_packages},
    files::line_with,
    part::Part,
    recipe::{Recipe, Role, Runtime, Stage, Steps},
    releases::PYTHON,
    version::{Mention, Pin, only_line, tool_versions},
};

/// Files that only a Python project has.
const MANIFESTS: &[&str] =
    &["pyproject.toml", "requirements.txt", "setup.py", "setup.cfg", "Pipfile"];

/// True if this is the root of a Python project.
pub(super) fn is_here(part: &Part) -> bool {
    MANIFESTS.iter().any(|name| part.has(name)) || part.has("manage.py")
}

/// True if there is nothing but a file that other tools read as well.
pub(super) fn is_only_tools(part: &Part) -> bool {
    let manifests = part.present(MANIFESTS);
    let project = part
        .text("pyproject.toml")
        .is_some_and(|text| text.contains("[project]") || text.contains("[tool.poetry]"));
    manifests == ["pyproject.toml"] && !project
}

/// What to make of it.
pub(super) fn recipe(part: &Part, wish: Option<&Wish>) -> Recipe {
    let pin = pin(part);
    let dependencies = Dependencies::read(part);
    let otherwise = match dependencies.is_empty() {
        true => "there are no dependencies",
        false => "all dependencies have wheels for musl or need none",
    };
    let base = Choice::make(wish, dependencies.glibc(), otherwise);
    let image = |full: bool| image(&pin, base.base, full);
    let compiles = dependencies.compiles();

    let mut runtime = Runtime {
        image: image(false),
        notes: Vec::new(),
        packages: dependencies.runtime_packages(base.base),
        variables: vec![("PYTHONUNBUFFERED", "1".to_owned())],
        contents: Steps::new(),
        port: command::port(part, &dependencies),
        command: command::guess(part, &dependencies),
    };
    let mut stages = Vec::new();
    match install::steps(part, &pin.version) {
        None => {
            runtime.contents = Steps::new().step(part.copy_all());
        }
        Some(steps) => {
            let name = part.stage("build");
            let packages = dependencies.build_packages(base.base, part);
            let begin = Steps::new().steps(install_packages(base.base, &packages));
            let venv = format!("COPY --from={name} /opt/venv/ /opt/venv/");
            runtime.contents = Steps::new().step(venv);
            // An installed script needs nothing beside the environment.
            if !(install::installs_project(part) && command::is_script(part, &dependencies)) {
                runtime.contents = runtime.contents.step(part.copy_all());
            }
            runtime.variables.push(("PATH", "/opt/venv/bin:$PATH".to_owned()));
            let image = image(compiles);
            stages.push(Stage { name, image, notes: Vec::new(), steps: begin.then(steps) });
        }
    }
    Recipe {
        language: "Python",
        pin,
        base,
        role: Role::Program,
        stages,
        runtime,
        ignored: vec![
            "**/__pycache__",
            "**/*.pyc",
            "**/.venv",
            "**/venv",
            "**/.pytest_cache",
            "**/.mypy_cache",
            "**/.ruff_cache",
            "**/*.egg-info",
            "**/.tox",
        ],
        carries_assets: false,
    }
}

/// The image: `full` has a compiler and the headers of common libraries.
fn image(pin: &Pin, base: Base, full: bool) -> String {
    let version = &pin.version;
    // Only some patch releases have an image per Debian; all have one without its name.
    let release = PYTHON.debian(version).filter(|_| version.numbers().len() == 2);
    match (base, release, full) {
        (Base::Alpine, ..) => format!("python:{version}-alpine"),
        (Base::Debian, Some(release), true) => format!("python:{version}-{release}"),
        (Base::Debian, Some(release), false) => format!("python:{version}-slim-{release}"),
        (Base::Debian, None, true) => format!("python:{version}"),
        (Base::Debian, None, false) => format!("python:{version}-slim"),
    }
}

fn pin(part: &Part) -> Pin {
    let file = |mention: Option<Mention>| {
        let mention = mention?;
        let version = mention.says.trim_start_matches("cpython-").trim_start_matches("python-");
        Some(mention.pin(version.parse().ok()?))
    };
    file(only_line(part, ".python-version"))
        .or_else(|| file(only_line(part, "runtime.txt")))
        .or_else(|| file(tool_versions(part, "python")))
        .or_else(|| written(part, "pyproject.toml", "requires-python"))
        .or_else(|| poetry(part))
        .or_else(|| written(part, "Pipfile", "python_full_version"))
        .or_else(|| written(part, "Pipfile", "python_version"))
        .or_else(|| written(part, "setup.cfg", "python_requires"))
        .or_else(|| written(part, "setup.py", "python_requires"))
        .unwrap_or_else(|| Pin::default_of(&PYTHON))
        .at_most_numbers(3)
}

/// A line `key = "range"`, with or without quotes.
fn written(part: &Part, file: &str, key: &str) -> Option<Pin> {
    let text = part.text(file)?;
    let (index, line) = text.lines().enumerate().find(|(_, line)| {
        let rest = line.trim_start().strip_prefix(key);
        rest.is_some_and(|rest| rest.trim_start().starts_with('='))
    })?;
    let says = line.split_once('=')?.1;
    let quoted = |quote: char| says.split(quote).nth(1);
    let says = quoted('"').or_else(|| quoted('\'')).unwrap_or(says).trim().to_owned();
    Mention { path: part.shown(file), line: index + 1, says }.pin_range(&PYTHON)
}

/// `python` among the dependencies of Poetry.
fn poetry(part: &Part) -> Option<Pin> {
    let text = part.text("pyproject.toml")?;
    let table: toml::Table = text.parse().ok()?;
    let says = table.get("tool")?.get("poetry")?.get("dependencies")?.get("python")?.as_str()?;
    let start = line_with(text, "[tool.poetry.dependencies]")?;
    let lines = text.lines().enumerate().skip(start);
    let (index, _) = lines.into_iter().find(|(_, line)| line.trim_start().starts_with("python"))?;
    let mention =
        Mention { path: part.shown("pyproject.toml"), line: index + 1, says: says.to_owned() };
    mention.pin_range(&PYTHON)
}
