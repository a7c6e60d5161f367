//! What a Python project runs: Django, an ASGI or WSGI application, a script, a module or a file.

use super::{
    super::{files::plain_name, part::Part, recipe::Command},
    dependencies::Dependencies,
};

/// The port that servers of Python usually take.
const PORT: u16 = 8000;

/// Files that are started where nothing else is found.
const ENTRIES: &[&str] =
    &["main.py", "app.py", "run.py", "server.py", "src/main.py", "app/main.py"];

/// The port, if it is a server.
pub(super) fn port(part: &Part, dependencies: &Dependencies) -> Option<u16> {
    serve(part, dependencies).map(|_| PORT)
}

/// True if it is a script that the project installs.
pub(super) fn is_script(part: &Part, dependencies: &Dependencies) -> bool {
    serve(part, dependencies).is_none() && script(part).is_some()
}

/// The command.
pub(super) fn guess(part: &Part, dependencies: &Dependencies) -> Command {
    serve(part, dependencies)
        .or_else(|| script(part))
        .or_else(|| module(part))
        .or_else(|| file(part))
        .unwrap_or_else(|| Command::Unknown {
            because: "no application, script or main.py was found".to_owned(),
        })
}

fn serve(part: &Part, dependencies: &Dependencies) -> Option<Command> {
    let address = format!("0.0.0.0:{PORT}");
    if part.has("manage.py") {
        let settings = django_project(part);
        return Some(match settings.filter(|_| dependencies.has("gunicorn")) {
            Some(project) => Command::start(
                &["gunicorn", "--bind", &address, &format!("{project}.wsgi:application")],
                "manage.py and gunicorn are there",
            ),
            None => Command::start(
                &["python", "manage.py", "runserver", &address],
                "manage.py is there; for production add gunicorn to the dependencies",
            ),
        });
    }
    if let Some((module, name, path)) = application(part, "FastAPI(")
        && dependencies.has("uvicorn")
    {
        let target = format!("{module}:{name}");
        let port = PORT.to_string();
        let arguments = ["uvicorn", &target, "--host", "0.0.0.0", "--port", &port];
        return Some(Command::start(&arguments, format!("the application in {path}")));
    }
    let (module, name, path) = application(part, "Flask(")?;
    let because = format!("the application in {path}");
    Some(match dependencies.has("gunicorn") {
        true => {
            let target = format!("{module}:{name}");
            Command::start(&["gunicorn", "--bind", &address, &target], because)
        }
        false => {
            let port = PORT.to_string();
            let arguments =
                ["flask", "--app", &module, "run", "--host", "0.0.0.0", "--port", &port];
            let advice = "for production add gunicorn to the dependencies";
            Command::start(&arguments, format!("{because}; {advice}"))
        }
    })
}

/// The package of the settings, from `DJANGO_SETTINGS_MODULE` in manage.py.
fn django_project(part: &Part) -> Option<String> {
    let text = part.text("manage.py")?;
    let line = text.lines().find(|line| line.contains("DJANGO_SETTINGS_MODULE"))?;
    let quoted = line.split(['"', '\'']).find(|word| word.contains(".settings"))?;
    let project = quoted.split(".settings").next()?;
    plain_name(project).map(str::to_owned)
}

/// The module, the variable and the file of an application object at the top level of a file.
fn application(part: &Part, constructor: &str) -> Option<(String, String, String)> {
    let sources = part.all().filter(|(path, _)| path.ends_with(".py") && !path.contains("test"));
    for (path, text) in sources {
        let made = text.lines().find_map(|line| {
            let (name, value) = line.split_once('=')?;
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let name = name.split(':').next()?.trim_end();
            let found = value.trim_start().starts_with(constructor) && name.chars().all(is_name);
            (found && !name.is_empty()).then_some(name)
        });
        if let Some(name) = made {
            let module = path.trim_end_matches(".py").trim_end_matches("/__init__");
            let module = module.replace('/', ".");
            return Some((module, name.to_owned(), part.shown(path)));
        }
    }
    None
}

/// The first of the scripts that the project installs.
fn script(part: &Part) -> Option<Command> {
    let table: toml::Table = part.text("pyproject.toml")?.parse().ok()?;
    let project = || table.get("project")?.get("scripts")?.as_table();
    let poetry = || table.get("tool")?.get("poetry")?.get("scripts")?.as_table();
    let name = project().or_else(poetry)?.keys().find_map(|name| plain_name(name))?;
    Some(Command::start(&[name], format!("a script of {}", part.shown("pyproject.toml"))))
}

fn module(part: &Part) -> Option<Command> {
    let main = part.all().map(|(path, _)| path).find(|path| path.ends_with("/__main__.py"))?;
    let module = main.trim_end_matches("/__main__.py");
    let module = module.strip_prefix("src/").unwrap_or(module).replace('/', ".");
    Some(Command::start(&["python", "-m", &module], format!("{} is there", part.shown(main))))
}

fn file(part: &Part) -> Option<Command> {
    let name = ENTRIES.iter().find(|name| part.has(name))?;
    Some(Command::start(&["python", name], format!("{} is there", part.shown(name))))
}
