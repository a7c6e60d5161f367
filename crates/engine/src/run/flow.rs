//! The phases of a run, in order: what the toolchain needs once, the compilation, the program.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering},
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use fumehood_core::protocol::OVERLAY_STEP;

use super::{
    drive::{Seen, Task, drive},
    egress::{Lending, Means},
    handle::Io,
    record::Recorder,
    store::{Staging, Turn, is_there, storage},
    verdict::{Verdict, judge, system_reason},
};
use crate::{
    BoxPlan, Captured, Digest, Error, Event, Mount, MountSource, Outcome, OverlayError, Phase,
    PhaseOutcome, Plan, PlannedCompile, PlannedPrepare, Request, RunId, Selection, Stats, Status,
    StreamName, Violation, ViolationKind, escape_controls,
    overlay::{self, Kept, Storage},
    policy::Policy,
    resolve::Watch,
    sandbox::Inner,
    select::Attempt,
    volume::Held,
};

/// A name that no other run has.
pub(super) fn new_id() -> RunId {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let millis = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX));
    RunId::new(millis, std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A plan being carried out.
pub(super) struct Flow<'a> {
    inner: &'a Inner,
    plan: Plan,
    selection: Selection,
    /// Whether a box was opened, and everybody knows.
    selected: bool,
    io: &'a mut Io,
    id: &'a RunId,
    begun: Instant,
    done: Vec<PhaseOutcome>,
    digest: Option<Digest>,
    /// The policy of the plan, as long as its digest is not there.
    policy: Option<Policy>,
    recorder: Recorder<'a>,
}

/// What a phase left behind, besides its outcome.
struct Finished {
    seen: Seen,
    verdict: Verdict,
    kept: Kept,
}

impl<'a> Flow<'a> {
    pub(super) fn new(
        inner: &'a Inner,
        attempt: Attempt,
        io: &'a mut Io,
        id: &'a RunId,
        request: &'a Request,
    ) -> Result<Flow<'a>, Error> {
        let Attempt { selection, plan, policy } = attempt;
        let recorder = Recorder::begin(inner.records.get(), &plan, request)?;
        let (begun, done, digest) = (Instant::now(), Vec::new(), None);
        let (policy, selected) = (Some(policy), false);
        Ok(Flow { inner, plan, selection, selected, io, id, begun, done, digest, policy, recorder })
    }

    pub(super) async fn carry_out(mut self) -> Result<Outcome, Error> {
        let _held = match self.plan.volumes.as_slice() {
            [] => Held::default(),
            volumes => self.inner.volumes()?.hold(volumes)?,
        };
        let decided = self.phases().await?;
        let mut outcome = self.outcome(decided);
        self.recorder.end(&self.plan, &mut outcome);
        Ok(outcome)
    }

    /// Goes through the phases; gives the one that decides.
    async fn phases(&mut self) -> Result<Finished, Error> {
        let compile = self.plan.compile.clone();
        if let Some(mut compile) = compile {
            self.tell_apart(&mut compile).await?;
            let cached = is_there(&compile.store);
            if !cached
                && let Some(prepare) = self.plan.prepare.clone()
                && !is_there(&prepare.store)
                && let Some(failed) = self.prepare(&prepare).await?
            {
                return Ok(failed);
            }
            self.io.tell(Event::Phase { phase: Phase::Compile, cached }).await;
            if cached {
                self.done.push(cached_compile());
            } else if let Some(failed) = self.compile(&compile).await? {
                return Ok(failed);
            }
        }
        self.io.tell(Event::Phase { phase: Phase::Run, cached: false }).await;
        let run = self.plan.run.clone();
        self.phase(&run, Phase::Run, &[]).await
    }

    /// Keeps what was compiled with one content of an image from being taken for the result of
    /// another.
    async fn tell_apart(&mut self, compile: &mut PlannedCompile) -> Result<(), Error> {
        let backend = self.inner.backend(self.plan.backend);
        let Some(content) = backend.content(&compile.in_box).await? else { return Ok(()) };
        // The plan as it was made is what the outcome names.
        self.digest.get_or_insert_with(|| self.plan.digest());
        let key = Digest::of_parts([compile.key.as_str().as_bytes(), content.as_bytes()]);
        let store = compile.store.with_file_name(key.as_str());
        for mount in &mut self.plan.run.mounts {
            if mount.source == MountSource::Host(compile.store.clone()) {
                mount.source = MountSource::Host(store.clone());
            }
        }
        compile.store = store;
        Ok(())
    }

    /// Opens a box, runs its program, judges.
    async fn phase(
        &mut self,
        plan: &BoxPlan,
        phase: Phase,
        wanted: &[PathBuf],
    ) -> Result<Finished, Error> {
        let begun = if self.done.is_empty() { self.begun } else { Instant::now() };
        let watch = Watch::begin(plan);
        let storage = self.storage(plan)?;
        let place = storage.as_ref().map(Storage::path);
        let means = if plan.container.is_some() { Means::Messages } else { Means::Sockets };
        let lend = |egress| Lending::new(egress, &self.inner.outside, means);
        let lending = plan.egress.as_ref().map(lend).transpose()?;
        let open = self.inner.backend(self.plan.backend).open(plan, place).await?;
        if !std::mem::replace(&mut self.selected, true) {
            self.io.tell(Event::Selected { selection: self.selection.clone() }).await;
        }
        // What the outcome needs later.
        let (whole, policy, digest) = (&mut self.plan, &mut self.policy, &mut self.digest);
        let recorder = &self.recorder;
        let meanwhile = || {
            seal(whole, policy, digest);
            recorder.prepare();
        };
        let task = Task { plan, phase, wanted, begun, lending };
        let mut seen = drive(open, task, self.io, meanwhile).await;
        let mut verdict = judge(plan, phase, &mut seen).map_err(|error| self.explain(error))?;
        verdict.violations.extend(watch.end());
        let kept = match storage {
            Some(storage) => keep(storage, plan, &mut verdict).await,
            None => Kept::default(),
        };
        if let Some(errno) = seen.exec_error {
            self.explain_exec_error(plan, phase, errno, &mut seen).await;
        }
        self.done.push(verdict.outcome.clone());
        Ok(Finished { seen, verdict, kept })
    }

    /// Somewhere for what the program changes in an overlay, if the plan has one.
    fn storage(&self, plan: &BoxPlan) -> Result<Option<Storage>, Error> {
        let Some(lower) = plan.overlay_lower() else { return Ok(None) };
        let state = overlay::state_dir(self.inner.state_dir.as_deref())?;
        let workspace =
            |path: &PathBuf| Some(path.strip_prefix(plan.overlay_target()?).ok()?.to_owned());
        let protected = plan.protected.iter().filter_map(workspace);
        let guarded = overlay::guarded(protected);
        Ok(Some(Storage::create(&state, self.id, lower, &plan.command.argv, &guarded)?))
    }

    /// A box that failed because of its overlay needs another place for it, not another machine.
    fn explain(&self, error: Error) -> Error {
        match error {
            Error::Setup { step, reason } if step.starts_with(OVERLAY_STEP) => {
                let step = step.trim_start_matches(OVERLAY_STEP).trim_start();
                let reason = format!("{step}: {reason}");
                match overlay::state_dir(self.inner.state_dir.as_deref()) {
                    Ok(path) => OverlayError::Unsupported { path, reason }.into(),
                    Err(error) => error.into(),
                }
            }
            error => error,
        }
    }

    /// What a shell would have said on standard error.
    async fn explain_exec_error(&self, plan: &BoxPlan, phase: Phase, errno: i32, seen: &mut Seen) {
        // Our words, not the program's: they must be harmless on a terminal.
        let program = escape_controls(plan.command.argv.first().map_or("", String::as_str));
        let line = format!("fumehood: {program}: {} (inside the box)\n", system_reason(errno));
        seen.stderr.extend_from_slice(line.as_bytes());
        let data = Captured(line.into_bytes());
        self.io.tell(Event::Output { phase, stream: StreamName::Stderr, data }).await;
    }

    /// Lets a source of ours fill the directory that compilations share. Gives the phase if it
    /// failed.
    async fn prepare(&mut self, prepare: &PlannedPrepare) -> Result<Option<Finished>, Error> {
        self.io.tell(Event::Phase { phase: Phase::Prepare, cached: false }).await;
        let _turn = Turn::take(&prepare.store).await?;
        if is_there(&prepare.store) {
            return Ok(None);
        }
        let staging = Staging::new(&prepare.store)?;
        let mut plan = prepare.in_box.clone();
        plan.mounts.push(Mount::read_write(&staging.path, &prepare.target));
        let finished = self.phase(&plan, Phase::Prepare, &[]).await?;
        if !succeeded(&finished.verdict) {
            return Ok(Some(finished));
        }
        staging.publish(&prepare.store)?;
        Ok(None)
    }

    /// Compiles, and keeps the result. Gives the phase if it failed.
    async fn compile(&mut self, compile: &PlannedCompile) -> Result<Option<Finished>, Error> {
        let mut finished = self.phase(&compile.in_box, Phase::Compile, &compile.outputs).await?;
        if !succeeded(&finished.verdict) {
            return Ok(Some(finished));
        }
        if let Some((path, errno)) = finished.seen.file_error.take() {
            finished.verdict.outcome.status = Status::Failed;
            finished.verdict.error = Some(format!(
                "the compiler left no usable {}: {}",
                path.display(),
                system_reason(errno)
            ));
            return Ok(Some(finished));
        }
        let staging = Staging::new(&compile.store)?;
        for (path, content) in compile.outputs.iter().zip(&finished.seen.fetched) {
            let name = path.file_name().unwrap_or_default();
            let file = staging.path.join(name);
            fs::write(&file, content)
                .and_then(|()| fs::set_permissions(&file, fs::Permissions::from_mode(0o755)))
                .map_err(|error| storage("written", &file, &error))?;
        }
        staging.publish(&compile.store)?;
        Ok(None)
    }

    fn outcome(&mut self, decided: Finished) -> Outcome {
        let (policy_digest, plan_digest) = seal(&mut self.plan, &mut self.policy, &mut self.digest);
        let Finished { seen, verdict, kept } = decided;
        let Verdict { outcome, signal, violations, error } = verdict;
        let violations: Vec<Violation> = violations;
        Outcome {
            id: self.id.clone(),
            success: outcome.status == Status::Exited
                && outcome.exit_code == Some(0)
                && outcome.phase == Phase::Run,
            status: outcome.status,
            phase: outcome.phase,
            exit_code: outcome.exit_code,
            signal,
            stdout: Captured(seen.stdout),
            stderr: Captured(seen.stderr),
            truncated: seen.truncated,
            execution_time: outcome.execution_time,
            memory_used: outcome.stats.memory_peak,
            stats: outcome.stats,
            phases: std::mem::take(&mut self.done),
            backend: self.plan.backend,
            selection: self.selection.clone(),
            enforced: seen.enforced,
            violations,
            change_count: kept.changes.len() as u64,
            changes: kept.changes.into_iter().take(Outcome::MOST_CHANGES).collect(),
            overlay: kept.id,
            network: seen.network,
            network_left_out: seen.network_left_out,
            error,
            policy_digest,
            plan_digest,
        }
    }
}

/// Reads what the program changed. Other tasks go on meanwhile, since there may be a lot of it.
async fn keep(storage: Storage, plan: &BoxPlan, verdict: &mut Verdict) -> Kept {
    let result = tokio::task::spawn_blocking(|| storage.finish()).await;
    let error = match result {
        Ok(Ok(kept)) => {
            if kept.bytes > plan.limits.disk.get() {
                let message = format!(
                    "the changes take more than {}; raise it with --disk",
                    plan.limits.disk
                );
                verdict.violations.push(Violation { kind: ViolationKind::Disk, message });
            }
            return kept;
        }
        Ok(Err(error)) => error.to_string(),
        Err(error) => format!("the changes could not be read ({error}): run it again"),
    };
    verdict.outcome.status = Status::Failed;
    verdict.error.get_or_insert(error);
    Kept::default()
}

/// The digests of the policy and of the plan. They take a tenth of the time of a small run, so they
/// are made while nobody waits for them.
fn seal(
    plan: &mut Plan,
    policy: &mut Option<Policy>,
    digest: &mut Option<Digest>,
) -> (Digest, Digest) {
    if let Some(policy) = policy.take() {
        plan.policy = Some(policy.digest());
    }
    let whole = digest.get_or_insert_with(|| plan.digest()).clone();
    (plan.policy.clone().unwrap_or_else(|| Digest::of(b"")), whole)
}

fn succeeded(verdict: &Verdict) -> bool {
    verdict.outcome.status == Status::Exited && verdict.outcome.exit_code == Some(0)
}

fn cached_compile() -> PhaseOutcome {
    PhaseOutcome {
        phase: Phase::Compile,
        cached: true,
        status: Status::Exited,
        exit_code: Some(0),
        execution_time: 0.0,
        stats: Stats::default(),
    }
}
