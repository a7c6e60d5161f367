//! What a policy makes of a box, and what a request asks of the policy.

use std::{env, path::Path};

use super::{guard, paths};
use crate::{
    Access, BackendName, BoxPlan, Error, Mount, MountSource, Network, PlannedRecord, Request,
    WorkspaceMode,
    ledger::Recording,
    policy::{Glob, NetMode, Overrides, Policy, PolicyMount, Sourced},
};

/// What a request asks for beside its program, as the topmost layer of its policy.
pub(super) fn wishes(request: &Request) -> Overrides {
    let mounts = request.mounts.iter().filter_map(|mount| match &mount.source {
        MountSource::Host(source) => Some(PolicyMount {
            source: source.clone(),
            target: mount.target.clone(),
            access: mount.access,
        }),
        MountSource::Scratch | MountSource::Overlay { .. } => None,
    });
    Overrides {
        spoken: request.spoken,
        further: request.overrides.clone(),
        limits: request.limits.clone(),
        workspace: request.workspace.as_ref().and_then(|workspace| workspace.mode),
        mounts: mounts.collect(),
        deps: request.deps.clone(),
        candidate: request.candidate.clone(),
        datasets: request
            .datasets
            .iter()
            .map(|dataset| (dataset.name.to_string(), dataset.path.clone()))
            .collect(),
        git: request.git,
        network: request.network,
        allow: request.allow.clone(),
        dns: request.dns,
        env: request.env.clone(),
        ..Overrides::default()
    }
}

/// What the ledger gets of a run.
pub(super) fn record(policy: &Policy, request: &Request) -> Result<PlannedRecord, Error> {
    let required = &policy.ledger.required;
    if request.unrecorded && required.value {
        return Err(Error::RecordRequired { origin: required.origin.to_string() });
    }
    Ok(PlannedRecord {
        wanted: !request.unrecorded,
        required: required.value,
        as_it_is: Recording {
            code: policy.ledger.record_code.value,
            env: policy.ledger.record_env.value,
            ..Recording::default()
        },
    })
}

/// Puts on a plan what the policy says: the workspace, mounts, variables, network, what must hold.
pub(super) fn obey(
    plan: &mut BoxPlan,
    policy: &Policy,
    request: &Request,
    backend: BackendName,
    workspace: &Path,
) -> Result<(), Error> {
    add_workspace(plan, policy, request, backend, workspace)?;
    add_mounts(plan, policy, request, backend)?;
    add_variables(plan, policy)?;
    add_network(plan, policy, backend)?;
    plan.required = policy.require.iter().map(|layer| layer.value).collect();
    Ok(())
}

/// Hides and protects what the policy says, in everything that is mounted by now.
pub(super) fn cover(
    plan: &mut BoxPlan,
    policy: &Policy,
    request: &Request,
    backend: BackendName,
    workspace: &Path,
) -> Result<(), Error> {
    if backend == BackendName::Local {
        return refuse_what_needs_a_box(plan, policy);
    }
    if !policy.fs.deny.is_empty() {
        guard::hide(plan, &Denied(&policy.fs.deny))?;
    }
    if request.workspace.is_some() {
        guard::protect(plan, workspace, &policy.fs.protect)?;
    }
    Ok(())
}

fn add_workspace(
    plan: &mut BoxPlan,
    policy: &Policy,
    request: &Request,
    backend: BackendName,
    workspace: &Path,
) -> Result<(), Error> {
    let Some(wanted) = &request.workspace else {
        plan.mounts.push(Mount::scratch(workspace));
        return Ok(());
    };
    let directory = paths::workspace(&wanted.directory)?;
    if backend != BackendName::Native && policy.fs.workspace.value == WorkspaceMode::Overlay {
        return Err(Error::Unavailable {
            backend,
            reason: "it cannot show a directory as a copy".into(),
            remedy: "use --workspace DIR:rw, or the native backend".into(),
        });
    }
    if backend == BackendName::Local {
        plan.command.cwd = directory;
        return Ok(());
    }
    plan.mounts.push(match policy.fs.workspace.value {
        WorkspaceMode::ReadOnly => Mount::read_only(directory, workspace),
        WorkspaceMode::Overlay => Mount::overlay(directory, workspace),
        WorkspaceMode::ReadWrite => Mount::read_write(directory, workspace),
    });
    Ok(())
}

fn add_mounts(
    plan: &mut BoxPlan,
    policy: &Policy,
    request: &Request,
    backend: BackendName,
) -> Result<(), Error> {
    let private = request.mounts.iter().filter(|mount| mount.source == MountSource::Scratch);
    let of_policy = policy.fs.mounts.iter().map(|mount| {
        let PolicyMount { source, target, access } = &mount.value;
        match access {
            Access::ReadOnly => Mount::read_only(source, target),
            Access::ReadWrite => Mount::read_write(source, target),
        }
    });
    for mount in private.cloned().chain(of_policy) {
        let mount = paths::mount(&mount)?;
        if backend == BackendName::Local {
            return Err(paths::cannot_mount(backend));
        }
        plan.mounts.push(mount);
    }
    Ok(())
}

/// Variables of the caller that the policy passes on, then those with fixed values. Whatever is
/// denied stays out, and a request that asks for it is refused.
fn add_variables(plan: &mut BoxPlan, policy: &Policy) -> Result<(), Error> {
    let denied = |name: &str| policy.env.deny.iter().find(|deny| deny.value.matches(name));
    let passed = |name: &str| policy.env.pass.iter().any(|pass| pass.value.matches(name));
    if !policy.env.pass.is_empty() {
        let ours = env::vars().filter(|(name, _)| passed(name) && denied(name).is_none());
        plan.command.env.extend(ours);
    }
    for (name, value) in &policy.env.set {
        if let Some(deny) = denied(name) {
            return Err(Error::DeniedVariable {
                name: name.clone(),
                rule: deny.value.to_string(),
                origin: deny.origin.to_string(),
            });
        }
        plan.command.env.insert(name.clone(), value.value.clone());
    }
    Ok(())
}

/// Loopback, and what a gate lends beyond it.
fn add_network(plan: &mut BoxPlan, policy: &Policy, backend: BackendName) -> Result<(), Error> {
    plan.network = match policy.net.mode.value {
        NetMode::None => Network::None,
        NetMode::Localhost => Network::Localhost,
        NetMode::Allow if backend != BackendName::Local => {
            plan.egress = Some(policy.egress());
            Network::Localhost
        }
        NetMode::Allow => {
            return Err(Error::Unavailable {
                backend,
                reason: format!(
                    "it cannot hold a program to the hosts of the policy ({})",
                    policy.net.mode.origin
                ),
                remedy: "use another backend, or set `net.mode` to none or localhost".into(),
            });
        }
    };
    Ok(())
}

/// What is denied, protected or required on a backend that can give none of it.
fn refuse_what_needs_a_box(plan: &BoxPlan, policy: &Policy) -> Result<(), Error> {
    if let Some(layer) = plan.required.first() {
        let detail = "the local backend isolates nothing".to_owned();
        return Err(Error::NotEnforced { layer: *layer, detail });
    }
    match policy.fs.deny.first() {
        Some(deny) => Err(Error::Unavailable {
            backend: BackendName::Local,
            reason: format!("it cannot hide `{}` ({})", deny.value.as_str(), deny.origin),
            remedy: "use the native backend".into(),
        }),
        None => Ok(()),
    }
}

/// The denials of a policy as a rule for the search.
struct Denied<'a>(&'a [Sourced<Glob>]);

impl guard::Rule for Denied<'_> {
    fn finds(&self, path: &str) -> bool {
        self.0.iter().any(|glob| glob.value.matches(path))
    }

    fn may_find_below(&self, directory: &str) -> bool {
        self.0.iter().any(|glob| glob.value.may_match_below(directory))
    }
}
