//! From a request to a plan. The last place where anything is decided.

mod code;
mod egress;
mod git;
mod given;
mod guard;
mod layout;
mod obey;
mod paths;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

pub(crate) use self::{guard::Watch, layout::Layout};
use crate::{
    BackendName, BoxPlan, Command, Container, Error, Identity, LimitOverrides, Limits, Link, Mount,
    Plan, Program, Request,
    backend::{Engine, default_image},
    policy::{self, Policy},
    toolchain::Toolchains,
};

/// What every native box of this machine has in its root: the system and the toolchains.
#[derive(Clone, PartialEq)]
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
    /// Where fumehood keeps what it may not forget, if not where the environment says.
    pub(crate) state: Option<&'a Path>,
    /// Limits that hold where nobody says otherwise.
    pub(crate) limits: &'a LimitOverrides,
}

/// Resolves a request for a backend. The digest of the policy is left to whoever has time for it.
pub(crate) fn resolve(
    request: &Request,
    backend: BackendName,
    machine: &Machine<'_>,
) -> Result<(Plan, Policy), Error> {
    check_strings(request)?;
    let merged = policy::load(&request.policy, machine.limits, obey::wishes(request))?;
    let policy = &merged;
    check_image(request, backend)?;
    let layout = Layout::new(backend);
    let mut plan = match &request.program {
        Program::Command { argv } => {
            if argv.first().is_none_or(String::is_empty) {
                return Err(Error::EmptyCommand);
            }
            let limits = policy.limits();
            let run = box_plan(request, policy, machine, backend, &layout, argv.clone(), limits)?;
            Plan::new(backend, run)
        }
        Program::Code { .. } => code::resolve(request, policy, machine, backend, &layout)?,
    };
    plan.record = obey::record(policy, request)?;
    given::add(&mut plan, policy, request, machine, &layout)?;
    obey::cover(&mut plan.run, policy, request, backend, &layout.workspace)?;
    if let Some(engine) = machine.engine {
        let compile = plan.compile.as_mut().map(|compile| &mut compile.in_box);
        for in_box in compile.into_iter().chain([&mut plan.run]) {
            in_box.identity = engine.identity(&in_box.mounts);
        }
    }
    Ok((plan, merged))
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
    policy: &Policy,
    machine: &Machine<'_>,
    backend: BackendName,
    layout: &Layout,
    argv: Vec<String>,
    limits: Limits,
) -> Result<BoxPlan, Error> {
    let mut plan = bare_box(machine, backend, layout, argv, limits);
    plan.container = container(request, backend, None);
    obey::obey(&mut plan, policy, request, backend, &layout.workspace)?;
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
    let cwd = layout.workspace.clone();
    let command = Command { argv, env: environment(machine, backend, layout), cwd };
    let identity = Identity { uid: layout.uid, gid: layout.uid };
    BoxPlan { mounts, links, ..BoxPlan::new(command, identity, limits) }
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
