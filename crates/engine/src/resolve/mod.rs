//! From a request to a plan. The last place where anything is decided.

mod code;
mod guard;
mod layout;
mod paths;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

pub(crate) use self::{guard::Watch, layout::Layout};
use crate::{
    BackendName, BoxPlan, Command, Container, Error, Identity, Limits, Link, Mount, Plan, Program,
    Request, WorkspaceMode,
    backend::{Engine, default_image},
    toolchain::Toolchains,
};

/// What every native box of this machine has in its root: the system and the toolchains.
#[derive(Clone)]
pub(crate) struct BaseRoot {
    pub(crate) mounts: Vec<Mount>,
    pub(crate) links: Vec<Link>,
}

impl BaseRoot {
    /// From what was found of the machine.
    pub(crate) fn new(toolchains: &Toolchains) -> BaseRoot {
        let system = toolchains.system();
        let mounts = system.paths.iter().chain(toolchains.mounts()).map(Mount::system).collect();
        let link = |(path, target): &(PathBuf, PathBuf)| Link {
            path: path.clone(),
            target: target.clone(),
        };
        BaseRoot { mounts, links: system.links.iter().map(link).collect() }
    }
}

/// What of the machine a plan depends on.
pub(crate) struct Machine<'a> {
    /// The root of native boxes.
    pub(crate) base: &'a BaseRoot,
    /// The toolchains found.
    pub(crate) toolchains: &'a Toolchains,
    /// The engine that makes the boxes, where they are containers.
    pub(crate) engine: Option<&'a Engine>,
    /// Where fumehood keeps what it may forget.
    pub(crate) cache: &'a Path,
}

/// Resolves a request.
pub(crate) fn resolve(request: &Request, machine: &Machine<'_>) -> Result<Plan, Error> {
    check_strings(request)?;
    let backend = request.backend.unwrap_or(BackendName::Native);
    check_image(request, backend)?;
    let layout = Layout::new(backend);
    let mut plan = match &request.program {
        Program::Command { argv } => {
            if argv.first().is_none_or(String::is_empty) {
                return Err(Error::EmptyCommand);
            }
            let limits = Limits::default().with(&request.limits);
            let run = box_plan(request, machine, backend, &layout, argv.clone(), limits)?;
            Ok(Plan { backend, prepare: None, compile: None, run })
        }
        Program::Code { .. } => code::resolve(request, machine, backend, &layout),
    }?;
    if let Some(engine) = machine.engine {
        let compile = plan.compile.as_mut().map(|compile| &mut compile.in_box);
        for in_box in compile.into_iter().chain([&mut plan.run]) {
            in_box.identity = engine.identity(&in_box.mounts);
        }
    }
    Ok(plan)
}

/// Images and runtimes are for backends that have them.
fn check_image(request: &Request, backend: BackendName) -> Result<(), Error> {
    let unusable = |option: &str| Error::Unavailable {
        backend,
        reason: format!("it has no use for --{option}"),
        remedy: format!("leave out --{option}, or add --backend docker or --backend podman"),
    };
    match (&request.image, &request.runtime) {
        _ if backend.uses_images() => Ok(()),
        (Some(_), _) => Err(unusable("image")),
        (None, Some(_)) => Err(unusable("runtime")),
        (None, None) => Ok(()),
    }
}

/// The container of a request's boxes, where they are containers.
fn container(request: &Request, backend: BackendName, language: Option<&str>) -> Option<Container> {
    backend.uses_images().then(|| Container {
        image: request.image.clone().unwrap_or_else(|| default_image(language)),
        runtime: request.runtime.clone(),
    })
}

/// The box in which the request's program runs.
fn box_plan(
    request: &Request,
    machine: &Machine<'_>,
    backend: BackendName,
    layout: &Layout,
    argv: Vec<String>,
    limits: Limits,
) -> Result<BoxPlan, Error> {
    let mut plan = bare_box(machine, backend, layout, argv, limits);
    plan.container = container(request, backend, None);
    match &request.workspace {
        None => plan.mounts.push(Mount::scratch(&layout.workspace)),
        Some(workspace) => {
            let directory = paths::workspace(&workspace.directory)?;
            if backend == BackendName::Local {
                plan.command.cwd = directory;
            } else {
                plan.mounts.push(match workspace.mode {
                    WorkspaceMode::ReadOnly => Mount::read_only(directory, &layout.workspace),
                    WorkspaceMode::ReadWrite => Mount::read_write(directory, &layout.workspace),
                });
            }
        }
    }
    for mount in &request.mounts {
        let mount = paths::mount(mount)?;
        if backend == BackendName::Local {
            return Err(Error::Unavailable {
                backend,
                reason: "it cannot mount anything".into(),
                remedy: "leave out --mount, or use the native backend".into(),
            });
        }
        plan.mounts.push(mount);
    }
    plan.network = request.network;
    plan.command.env.extend(request.env.clone());
    Ok(plan)
}

/// A box with toolchains and nothing of the caller.
fn bare_box(
    machine: &Machine<'_>,
    backend: BackendName,
    layout: &Layout,
    argv: Vec<String>,
    limits: Limits,
) -> BoxPlan {
    let (mut mounts, links) = match backend {
        BackendName::Native => (machine.base.mounts.clone(), machine.base.links.clone()),
        _ => (Vec::new(), Vec::new()),
    };
    mounts.push(Mount::scratch(&layout.home));
    BoxPlan {
        container: None,
        mounts,
        links,
        files: Vec::new(),
        masked: Vec::new(),
        protected: Vec::new(),
        command: Command {
            argv,
            env: environment(machine, backend, layout),
            cwd: layout.workspace.clone(),
        },
        identity: Identity { uid: layout.uid, gid: layout.uid },
        limits,
        network: crate::Network::None,
        required: Vec::new(),
        without: Vec::new(),
    }
}

/// A clean environment: nothing of the caller's gets in unasked. What a container has of its image,
/// `PATH` above all, is left to the image.
fn environment(
    machine: &Machine<'_>,
    backend: BackendName,
    layout: &Layout,
) -> BTreeMap<String, String> {
    let mut env = if backend.uses_images() { BTreeMap::new() } else { of_toolchains(machine) };
    for (name, value) in [
        ("HOME", layout.home.display().to_string()),
        ("USER", "box".to_owned()),
        ("LOGNAME", "box".to_owned()),
        ("SHELL", "/bin/sh".to_owned()),
        ("TMPDIR", layout.tmp.display().to_string()),
        ("LANG", "C.UTF-8".to_owned()),
    ] {
        env.insert(name.to_owned(), value);
    }
    env
}

/// The variables of the host's toolchains, and where programs are found.
fn of_toolchains(machine: &Machine<'_>) -> BTreeMap<String, String> {
    let path: Vec<String> = machine
        .toolchains
        .path_dirs()
        .iter()
        .map(|directory| directory.display().to_string())
        .chain(
            ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]
                .map(str::to_owned),
        )
        .collect();
    let mut env = machine.toolchains.env().clone();
    env.insert("PATH".to_owned(), path.join(":"));
    env
}

/// Kernel interfaces end strings at a NUL and bound their length.
fn check_strings(request: &Request) -> Result<(), Error> {
    const MOST: usize = 128 << 10;
    let arguments = match &request.program {
        Program::Code { args, .. } => args,
        Program::Command { argv } => argv,
    };
    let check = |what: &'static str, text: &str| {
        let reason = match text {
            text if text.contains('\0') => "it holds a NUL byte",
            text if text.len() >= MOST => "it is longer than 128 KiB",
            _ => return Ok(()),
        };
        Err(Error::Unpassable { what, reason })
    };
    for argument in arguments {
        check("an argument", argument)?;
    }
    for (name, value) in &request.env {
        check("the name of a variable", name)?;
        check("the value of a variable", value)?;
        if name.is_empty() || name.contains('=') {
            return Err(Error::Unpassable {
                what: "the name of a variable",
                reason: "it is empty or holds `=`",
            });
        }
    }
    let total: usize = arguments.iter().map(String::len).sum::<usize>()
        + request.env.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
    if total > 6 * MOST {
        return Err(Error::Unpassable {
            what: "the command with its variables",
            reason: "together they are longer than 768 KiB",
        });
    }
    Ok(())
}
