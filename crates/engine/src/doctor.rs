//! What this machine can give: layer by layer, language by language, each with a remedy.

use serde::Serialize;

use crate::{
    BackendName, Error, Layer, Outcome, Request, Sandbox, Strength,
    language::Registry,
    toolchain::{Toolchain, Toolchains},
};

/// How one layer would be applied here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LayerHealth {
    /// The layer.
    pub layer: Layer,
    /// How far it holds.
    pub strength: Strength,
    /// By what means, or why not.
    pub detail: String,
    /// What to type or change to get more, where something can be done.
    pub remedy: Option<String>,
}

/// Whether a language can be run here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LanguageHealth {
    /// Its name.
    pub language: String,
    /// Its name for people.
    pub title: String,
    /// True if a toolchain was found.
    pub works: bool,
    /// Version and place, or what was looked for.
    pub detail: String,
    /// What to type to get it.
    pub remedy: Option<String>,
}

impl LanguageHealth {
    /// Further names, and file endings.
    pub fn names(&self) -> (&'static [String], &'static [String]) {
        match Registry::builtin().find(&self.language) {
            Ok(language) => (&language.aliases, &language.extensions),
            Err(_) => (&[], &[]),
        }
    }

    /// The language with all its names, as programs read it.
    pub fn listing(&self) -> serde_json::Value {
        let (aliases, extensions) = self.names();
        serde_json::json!({
            "name": self.language,
            "title": self.title,
            "aliases": aliases,
            "extensions": extensions,
            "works": self.works,
            "detail": self.detail,
            "remedy": self.remedy,
        })
    }
}

/// Whether a backend can open a box here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BackendHealth {
    /// The backend.
    pub backend: BackendName,
    /// True if a box was opened and closed.
    pub works: bool,
    /// What it is, or why it does not work.
    pub detail: String,
    /// What to do about it.
    pub remedy: Option<String>,
}

/// Everything `doctor` looks at. Layers are read off a real box that was opened for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Examination {
    /// True if the default backend works.
    pub healthy: bool,
    /// Kernel release and the user.
    pub machine: String,
    /// Every backend.
    pub backends: Vec<BackendHealth>,
    /// Every layer of the native backend.
    pub layers: Vec<LayerHealth>,
    /// Every language.
    pub languages: Vec<LanguageHealth>,
}

/// Opens a box on every backend and reads its report; looks at every toolchain.
pub(crate) async fn examine(
    sandbox: &Sandbox,
    toolchains: &Toolchains,
    refresh: bool,
) -> Examination {
    let mut backends = Vec::new();
    let mut layers = Vec::new();
    for backend in BackendName::ALL {
        let (outcome, description) = first_box(sandbox, *backend, refresh).await;
        let (works, detail, remedy) = match &outcome {
            Ok(outcome) if outcome.success => (true, description, None),
            Ok(outcome) => {
                let detail = format!("a first box ended with status {}", outcome.status);
                let again = format!("run `fumehood exec --backend {backend} --json -- /bin/true`");
                (false, detail, Some(again))
            }
            Err(Error::Engine { problem, .. }) => {
                (false, problem.to_string(), Some(problem.remedy()))
            }
            Err(error) => (false, error.to_string(), Some(remedy_for(error))),
        };
        if *backend == BackendName::Native {
            layers = Layer::ALL.iter().map(|layer| layer_health(*layer, &outcome)).collect();
        }
        backends.push(BackendHealth { backend: *backend, works, detail, remedy });
    }
    Examination {
        healthy: backends
            .iter()
            .any(|health| health.backend == BackendName::Native && health.works),
        machine: machine(),
        backends,
        layers,
        languages: languages(toolchains),
    }
}

/// Opens a box on a backend, and says what the backend is.
async fn first_box(
    sandbox: &Sandbox,
    backend: BackendName,
    refresh: bool,
) -> (Result<Outcome, Error>, String) {
    let mut request = Request::command(["/bin/true"]).backend(backend);
    let examined = match backend {
        BackendName::Native => Ok("Linux namespaces, cgroups, seccomp and Landlock".to_owned()),
        BackendName::Local => Ok("no isolation; only when asked for".to_owned()),
        BackendName::Docker | BackendName::Podman => {
            sandbox.inner.engine(backend).examine(refresh).await.map(|(description, image)| {
                request.image = Some(image);
                description
            })
        }
    };
    match examined {
        Ok(description) => (sandbox.run(request).await, description),
        Err(error) => (Err(error), String::new()),
    }
}

fn machine() -> String {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let user = rustix::process::geteuid().as_raw();
    let who = if user == 0 { "root".to_owned() } else { format!("user {user}") };
    format!("Linux {}, {who}", release.trim())
}

fn layer_health(layer: Layer, outcome: &Result<Outcome, Error>) -> LayerHealth {
    let report = outcome.as_ref().ok().and_then(|outcome| outcome.enforced.get(layer));
    let (strength, detail) = match report {
        Some(report) => (report.strength, report.detail.clone()),
        None => (Strength::Off, "no box could be opened".to_owned()),
    };
    let remedy = (strength != Strength::Full).then(|| layer_remedy(layer).to_owned());
    LayerHealth { layer, strength, detail, remedy }
}

/// What helps where a layer is weaker than it could be.
fn layer_remedy(layer: Layer) -> &'static str {
    match layer {
        Layer::Memory | Layer::Pids | Layer::Cpu => {
            "run as root, or on a cgroup v2 host let systemd delegate: \
             `systemd-run --user --scope -p Delegate=yes fumehood …`"
        }
        Layer::Landlock => "boot Linux 5.13 or later with `lsm=landlock,…`",
        Layer::Nesting => "make /proc/sys writable for the container that runs fumehood",
        _ => "see the native backend above",
    }
}

/// What helps when no box can be opened at all.
fn remedy_for(error: &Error) -> String {
    let message = error.to_string();
    let setting = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    if message.contains("namespace") {
        if setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").trim() == "1" {
            return "AppArmor forbids user namespaces to ordinary users: type \
                    `sysctl kernel.apparmor_restrict_unprivileged_userns=0` as root"
                .to_owned();
        }
        if setting("/proc/sys/kernel/unprivileged_userns_clone").trim() == "0" {
            return "type `sysctl kernel.unprivileged_userns_clone=1` as root".to_owned();
        }
        if setting("/proc/sys/user/max_user_namespaces").trim() == "0" {
            return "type `sysctl user.max_user_namespaces=15000` as root".to_owned();
        }
        return "in a container, start it with `--security-opt seccomp=unconfined \
                --security-opt apparmor=unconfined`; else run as root"
            .to_owned();
    }
    "run `fumehood exec -v -- /bin/true` as root to see whether it is a matter of permission"
        .to_owned()
}

fn languages(toolchains: &Toolchains) -> Vec<LanguageHealth> {
    let title = |name: &str| {
        Registry::builtin().find(name).map_or_else(|_| name.to_owned(), |found| found.title.clone())
    };
    toolchains
        .all()
        .map(|result| match result {
            Ok(toolchain) => LanguageHealth {
                language: toolchain.language.clone(),
                title: title(&toolchain.language),
                works: true,
                detail: format!("{} in {}", toolchain.version, main_program(toolchain)),
                remedy: None,
            },
            Err(missing) => LanguageHealth {
                language: missing.language.clone(),
                title: title(&missing.language),
                works: false,
                detail: missing.to_string(),
                remedy: Some(missing.install.to_string()),
            },
        })
        .collect()
}

/// The program that a language is known by.
fn main_program(toolchain: &Toolchain) -> String {
    Registry::builtin()
        .find(&toolchain.language)
        .ok()
        .and_then(|language| toolchain.programs.get(&language.toolchain.main))
        .map_or_else(String::new, |path| path.display().to_string())
}
