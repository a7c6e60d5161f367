//! Plans for source code: a compile step where the language has one, then the run.

use std::{collections::BTreeMap, path::Path};

use super::{Layout, Machine, bare_box, box_plan, container};
use crate::{
    BackendName, BoxPlan, Container, Digest, Error, Limits, Mount, Plan, PlannedCompile,
    PlannedFile, PlannedPrepare, Program, Request, backend,
    language::{
        CompileSpec, Language, Registry, SourceName, Values, WarmSpec, expand_command, expand_env,
        in_sequence,
    },
    policy::Policy,
    toolchain::Toolchain,
};

pub(super) fn resolve(
    request: &Request,
    policy: &Policy,
    machine: &Machine<'_>,
    backend: BackendName,
    layout: &Layout,
) -> Result<Plan, Error> {
    let Program::Code { language, source, file_name, args } = &request.program else {
        return Err(Error::EmptyCode);
    };
    let language = Registry::builtin().find(language)?;
    if source.iter().all(u8::is_ascii_whitespace) {
        return Err(Error::EmptyCode);
    }
    let container = container(request, machine, backend, Some(&language.name));
    let tools = match &container {
        Some(container) => Tools::of_image(language, container),
        None => Tools::of_host(machine.toolchains.get(&language.name)?),
    };
    let name = language.source.name_for(source, file_name.as_deref());
    let scene =
        Scene { machine, backend, layout, language, container: &container, tools, source, name };

    let (prepare, compile) = match &language.compile {
        Some(spec) => scene.compile(spec)?,
        None => (None, None),
    };
    let limits = policy.limits_for(&language.run.limits);
    let mut values = scene.values(&limits, &layout.tmp);
    values.program = Some(text(match (&compile, backend) {
        (Some(compile), BackendName::Local) => &compile.store,
        _ => &layout.program,
    }));
    let mut argv = expand_command(&language.run.command, &values)?;
    argv.extend(args.iter().cloned());
    let mut run = box_plan(request, policy, machine, backend, layout, argv, limits)?;
    run.container.clone_from(&container);
    let mut env = expand_env(&language.run.env, &values)?;
    env.extend(std::mem::take(&mut run.command.env));
    run.command.env = env;
    match &compile {
        Some(compile) if backend != BackendName::Local => {
            run.mounts.push(Mount::read_only(&compile.store, &layout.program));
        }
        Some(_) => {}
        None => scene.put_source(&mut run),
    }
    Ok(Plan { prepare, compile, ..Plan::new(backend, run) })
}

/// The programs of a language, and what tells one installation of them from another.
struct Tools {
    programs: BTreeMap<String, String>,
    fingerprint: String,
}

impl Tools {
    fn of_host(toolchain: &Toolchain) -> Tools {
        let programs = toolchain.programs.iter();
        Tools {
            programs: programs.map(|(name, path)| (name.clone(), text(path))).collect(),
            fingerprint: toolchain.fingerprint.as_str().to_owned(),
        }
    }

    /// An image has them in its `PATH`, under their usual names.
    fn of_image(language: &Language, container: &Container) -> Tools {
        Tools {
            programs: language.toolchain.usual_programs(),
            fingerprint: format!("{container:?}"),
        }
    }
}

/// Everything that the steps for one piece of code share.
struct Scene<'a> {
    machine: &'a Machine<'a>,
    backend: BackendName,
    layout: &'a Layout,
    language: &'a Language,
    container: &'a Option<Container>,
    tools: Tools,
    source: &'a [u8],
    name: SourceName,
}

impl Scene<'_> {
    fn compile(
        &self,
        spec: &CompileSpec,
    ) -> Result<(Option<PlannedPrepare>, Option<PlannedCompile>), Error> {
        let limits = Limits::default().with(&spec.limits);
        let mut plan = self.compile_box(spec, limits, &self.name.file, self.source)?;
        let mut prepare = None;
        if let Some(warm) = &spec.warm {
            let store = self.warm_store();
            if self.backend == BackendName::Native {
                prepare = Some(self.prepare(spec, warm, &store)?);
                plan.mounts.push(Mount::read_only(store, &self.layout.cache));
            }
        }
        let outputs = spec.outputs.iter().map(|name| self.layout.out.join(name)).collect();
        let key = self.key(&plan, spec);
        let store = self.machine.cache.join("compiled").join(key.as_str());
        Ok((prepare, Some(PlannedCompile { in_box: plan, outputs, key, store })))
    }

    fn compile_box(
        &self,
        spec: &CompileSpec,
        limits: Limits,
        file: &str,
        source: &[u8],
    ) -> Result<BoxPlan, Error> {
        let mut values = self.values(&limits, &self.layout.tmp);
        values.source = Some(text(&self.layout.code.join(file)));
        values.out = Some(text(&self.layout.out));
        values.cache = Some(text(match self.backend {
            BackendName::Native => &self.layout.cache,
            _ => &self.layout.tmp,
        }));
        let mut helper = None;
        if let Some(name) = &spec.helper
            && let Some(path) = backend::helper_program(name, self.machine.cache)?
        {
            let inside = match self.backend {
                BackendName::Local => path.clone(),
                _ => self.layout.helpers.join(name),
            };
            values.programs.insert(name.clone(), text(&inside));
            helper = Some((path, inside));
        }
        let commands: Result<Vec<_>, _> =
            spec.commands.iter().map(|command| expand_command(command, &values)).collect();
        let argv = in_sequence(commands?);
        let mut plan = bare_box(self.machine, self.backend, self.layout, argv, limits);
        plan.container.clone_from(self.container);
        plan.command.env.extend(expand_env(&spec.env, &values)?);
        plan.mounts.push(Mount::scratch(&self.layout.workspace));
        plan.mounts.push(Mount::scratch(&self.layout.out));
        if self.backend == BackendName::Local {
            plan.mounts.push(Mount::scratch(&self.layout.tmp));
        } else if let Some((path, inside)) = helper {
            plan.mounts.push(Mount::read_only(path, inside));
        }
        self.put(&mut plan, file, source);
        Ok(plan)
    }

    /// A box of its own for a source of ours, which fills what all compilations share.
    fn prepare(
        &self,
        spec: &CompileSpec,
        warm: &WarmSpec,
        store: &Path,
    ) -> Result<PlannedPrepare, Error> {
        let limits = Limits::default().with(&spec.limits).with(&warm.limits);
        let name = self.language.source.name_for(warm.source.as_bytes(), None);
        let in_box = self.compile_box(spec, limits, &name.file, warm.source.as_bytes())?;
        Ok(PlannedPrepare { in_box, target: self.layout.cache.clone(), store: store.to_owned() })
    }

    fn warm_store(&self) -> std::path::PathBuf {
        let name = format!("{}-{}", self.language.name, self.tools.fingerprint);
        self.machine.cache.join("prepared").join(name)
    }

    fn put_source(&self, plan: &mut BoxPlan) {
        self.put(plan, &self.name.file, self.source);
    }

    fn put(&self, plan: &mut BoxPlan, file: &str, source: &[u8]) {
        plan.mounts.push(Mount::scratch(&self.layout.code));
        plan.files.push(PlannedFile::new(self.layout.code.join(file), 0o644, source.to_vec()));
    }

    fn values(&self, limits: &Limits, tmp: &Path) -> Values {
        Values {
            source: Some(text(&self.layout.code.join(&self.name.file))),
            memory_mib: Some((limits.memory.get() >> 20).max(1)),
            cpus: Some(limits.cpus.ceil()),
            class: Some(self.name.class.clone()),
            tmp: Some(text(tmp)),
            programs: self.tools.programs.clone(),
            ..Values::default()
        }
    }

    /// Source, toolchain and flags: whatever can change the result.
    fn key(&self, plan: &BoxPlan, spec: &CompileSpec) -> Digest {
        let helper = spec.helper.as_deref().unwrap_or_default();
        let helper_digest = plan
            .mounts
            .iter()
            .filter(|mount| mount.target.starts_with(&self.layout.helpers))
            .map(|mount| format!("{:?}", mount.source))
            .collect::<String>();
        let command = match self.backend {
            // Its directories differ from run to run.
            BackendName::Local => format!("{:?}", spec.commands),
            _ => format!("{:?}", plan.command),
        };
        Digest::of_parts([
            self.language.name.as_bytes(),
            self.tools.fingerprint.as_bytes(),
            self.backend.name().as_bytes(),
            helper.as_bytes(),
            helper_digest.as_bytes(),
            command.as_bytes(),
            self.name.file.as_bytes(),
            self.source,
        ])
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}
